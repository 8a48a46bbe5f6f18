;;;; SPDX-License-Identifier: MIT
;;;; start: the C library, when this is loaded and when an image starts that was saved with it.

(in-package #:timebase)

(defun start ()
  "In an image that was saved: addresses are new, and C's memory is gone."
  (open-library)
  (connect-library)
  (setf *stopwatch* nil) ; of another boot, perhaps
  (attach-again))

#+sbcl (pushnew 'start sb-ext:*init-hooks*)
#-sbcl (uiop:register-image-restore-hook 'start nil)

(connect-library)
