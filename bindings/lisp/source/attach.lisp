;;;; SPDX-License-Identifier: MIT
;;;; attach: following the page that another process publishes, the daemon timebased as a rule.

(in-package #:timebase)

(define-foreign %attach "timebase_clock_attach" :int32 (out :address) (path :address))
(define-foreign %detach "timebase_clock_detach" :void (clock :address))
(define-foreign %attachment "timebase_clock_attachment" :int32 (clock :address) (out :address))

(defvar *page-path* "/run/timebase/page" "TIMEBASE_PAGE_PATH of C: for messages.")

(defvar *attached* '() "The attached clocks: a saved image attaches them again.")

(defun change-attached (change)
  "Make the list of attached clocks what the function CHANGE makes of it. Threads attach at the same time,
and a clock that is left out would have the address of before in a saved image."
  #+sbcl (sb-ext:atomic-update (symbol-value '*attached*) change)
  #-sbcl (setf *attached* (funcall change *attached*)))

(defun attach-once (path)
  "The address of a clock that follows the page at PATH."
  (require-library 'attach)
  (with-path (name path 'attach)
    (with-memory (out 8)
      (let ((result (%attach out name)) (path (or path *page-path*)))
        (checking 'attach result :path path :detail (refused-because path result)))
      (peek :address out 0))))

(defun attach (&optional path)
  "A clock that follows the page at PATH, by default the daemon's. Its readings mean the same to all
processes that are attached. Give it back with DETACH, or use WITH-ATTACHED-CLOCK.

Signals NOT-FOUND, PERMISSION-DENIED, UNTRUSTED, BAD-FORMAT, UNSUPPORTED, STALE, TORN or
INVALID-ARGUMENT, with the restarts RETRY, USE-PAGE (another path), USE-PRIVATE-CLOCK and
USE-IMPLEMENTATION-CLOCK."
  (loop
    (restart-case
        (let ((clock (%make-clock :attached (attach-once path) path)))
          (change-attached (lambda (clocks) (cons clock clocks)))
          (return clock))
      (retry () :report "Try the same page again.")
      (use-page (other)
        :report "Give the path of another page."
        :interactive (lambda () (prompt-for-path "Path of the page"))
        (setf path other))
      (use-private-clock ()
        :report "Use the process' own clock, which follows the kernel's."
        :test (lambda (condition) (declare (ignore condition)) *library*)
        (return (private-clock)))
      (use-implementation-clock ()
        :report "Use the clock of this Lisp implementation."
        (return (implementation-clock))))))

(defun invoke (restart &rest arguments)
  (let ((found (find-restart restart)))
    (when found (apply #'invoke-restart found arguments))))

(defun retry (&optional condition)
  "Invoke the restart RETRY, if there is one: try the same again."
  (declare (ignore condition))
  (invoke 'retry))

(defun use-private-clock (&optional condition)
  "Invoke the restart USE-PRIVATE-CLOCK, if there is one: a handler for ATTACH."
  (declare (ignore condition))
  (invoke 'use-private-clock))

(defun use-implementation-clock (&optional condition)
  "Invoke the restart USE-IMPLEMENTATION-CLOCK, if there is one."
  (declare (ignore condition))
  (invoke 'use-implementation-clock))

(defun use-page (path)
  "Invoke the restart USE-PAGE, if there is one: attach to the page at PATH instead."
  (invoke 'use-page path))

(defun use-library (name)
  "Invoke the restart USE-LIBRARY, if there is one: load the C library by NAME."
  (invoke 'use-library name))

(defun attach-or-private (&optional path)
  "As ATTACH; but if that fails, the private clock, and as second value the condition that says why."
  (block nil
    (let ((clock (handler-case (attach path)
                   (timebase-error (condition)
                     (return (values (if *library* **private** **implementation**) condition))))))
      (values clock nil))))

(defun detach (clock)
  "Give an attached CLOCK back; no thread may be reading it. Ignores all other clocks."
  (when (eq (clock-kind clock) :attached)
    (let ((address (clock-address clock)))
      (setf (clock-kind clock) :detached
            (clock-address clock) 0)
      (change-attached (lambda (clocks) (remove clock clocks)))
      (%detach address)))
  nil)

(defmacro with-attached-clock ((clock &optional path) &body body)
  "BODY with CLOCK attached to the page at PATH, and *CLOCK* bound to it; detached afterwards."
  `(let* ((,clock (attach ,path))
          (*clock* ,clock))
     (unwind-protect (progn ,@body)
       (detach ,clock))))

(defun attachment (&optional (clock *clock*))
  "Look at the page of CLOCK, and say how things stand: an ATTACHMENT."
  (with-memory (out (size-of attachment))
    (checking 'attachment (%attachment (handle-of clock 'attachment) out)
              :path (clock-path clock))
    (read-attachment out)))

(defun attach-again ()
  "In a saved image: the addresses of before are of no use. What cannot be attached is detached."
  (dolist (clock *attached*)
    (handler-case (setf (clock-address clock) (attach-once (clock-path clock)))
      (timebase-error ()
        (setf (clock-address clock) 0
              (clock-kind clock) :detached))))
  (setf *attached* (remove :detached *attached* :key #'clock-kind)))
