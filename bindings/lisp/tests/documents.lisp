;;;; SPDX-License-Identifier: MIT
;;;; documents: the blocks of the guide and the programs of the examples run.

(in-package #:timebase-test)

(defun blocks (path)
  "The text of each block of Lisp in the file PATH."
  (let ((blocks '()) (lines nil))
    (dolist (line (uiop:read-file-lines path) (nreverse blocks))
      (cond ((string= line "```lisp") (setf lines (list "")))
            ((and lines (string= line "```"))
             (push (format nil "~{~a~%~}" (reverse lines)) blocks)
             (setf lines nil))
            (lines (push line lines))))))

(defun evaluate-text (text)
  "Read and evaluate each form of TEXT; what it printed."
  (let ((*package* (find-package "COMMON-LISP-USER")))
    (with-output-to-string (*standard-output*)
      (let ((*trace-output* *standard-output*))
        (with-input-from-string (in text)
          (loop for form = (read in nil in)
                until (eq form in) do (eval form)))))))

(defun without-chatter (function)
  (let ((*error-output* (make-broadcast-stream)))
    (funcall function)))

(deftest every-block-of-the-guide-runs ()
  (let ((blocks (blocks (environment "TIMEBASE_GUIDE"))) (*clock* *clock*))
    (check (>= (length blocks) 5))
    (dolist (block blocks)
      (handler-case (without-chatter (lambda () (evaluate-text block)))
        (error (condition) (fail "~a in~%~a" condition block))))
    (format nil "~d blocks" (length blocks))))

(defparameter *examples*
  '(("now" "ns since 1970-01-01") ("elapsed" "the second of the two" "bytes consed")
    ("interval" "definitely before") ("stamp-and-convert" "a second after the first")
    ("housekeeping" "publications") ("commit-wait" "50 ms") ("wait" "waits end by")
    ("realtime" "given back") ("calendar" "run," "skipped")
    ("high-res-timer" "t4-t3=" "sorted in" "foreign call of timebase_utc_ns"))
  "Each program, and what it says.")

(deftest every-example-runs ()
  (let ((files (directory (format nil "~a/*.lisp" (environment "TIMEBASE_EXAMPLES")))))
    (check (= (length files) (length *examples*))))
  (loop for (name . said) in *examples*
        for output = (without-chatter
                      (lambda ()
                        (evaluate-text (uiop:read-file-string
                                        (format nil "~a/~a.lisp" (environment "TIMEBASE_EXAMPLES")
                                                name)))))
        do (dolist (text said)
             (check (search text output) "~a says no ~s: ~a" name text output)))
  (format nil "~d programs" (length *examples*)))
