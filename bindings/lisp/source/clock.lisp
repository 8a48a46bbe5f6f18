;;;; SPDX-License-Identifier: MIT
;;;; clock: the clocks that there always are, and the one that is read where none is given.

(in-package #:timebase)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar **private** (%make-clock :private 0))
  (defvar **implementation** (%make-clock :implementation 0))
  (defvar *clock* **private**
    "The clock that is read where none is given. Set it at the start of a program, or bind it."))

(declaim (type clock **private** **implementation** *clock*))
#+sbcl (declaim (sb-ext:always-bound *clock*))

(define-foreign %clock-default "timebase_clock_default" :address)

(defun private-clock ()
  "The process' own clock, which follows the kernel's. The same each time."
  (require-library 'private-clock)
  **private**)

(defun implementation-clock ()
  "The Lisp implementation's own clock, for want of a better one: no bound, no status."
  **implementation**)

(defun connect-library ()
  "Take the library's private clock for *CLOCK*'s value, or what there is without the library."
  (setf (clock-address **private**) (if *library* (%clock-default) 0))
  (unless *library*
    (setf *clock* **implementation**)))

(defun handle-of (clock operation)
  "The address of CLOCK's page, for C. Signals if it has none."
  (let ((address (clock-address clock)))
    (when (zerop address)
      (require-library operation)
      (if (eq (clock-kind clock) :detached)
          (error 'detached :operation operation :path (clock-path clock))
          (error 'unsupported :operation operation
                              :detail "the implementation's own clock cannot do it")))
    address))
