;;;; SPDX-License-Identifier: MIT
;;;; library: finding and loading the C library.

(in-package #:timebase)

(defvar *library* nil
  "The name by which libtimebase was loaded, or NIL if it is not: then only the implementation's
own clock can be read.")

(defun environment-variable (name)
  (let ((value (uiop:getenv name)))
    (and value (string/= value "") value)))

(defun library-names ()
  "Where to look: what the environment says and nothing else, or the usual name."
  (let ((named (environment-variable "TIMEBASE_LIBRARY")))
    (if named (list named) '("libtimebase.so.1"))))

(defun prompt-for-path (what)
  "Ask the person at the keyboard: for interactive restarts."
  (format *query-io* "~&~a: " what)
  (finish-output *query-io*)
  (list (read-line *query-io*)))

(defun open-library (&optional (names (library-names)))
  "Load libtimebase by the first of NAMES that works, and return that name.
If none does, signals LIBRARY-MISSING with the restarts RETRY, USE-LIBRARY (with another name) and
USE-IMPLEMENTATION-CLOCK: then *CLOCK* is the Lisp implementation's own, and NIL is returned."
  (loop
    (let ((reason nil))
      (dolist (name names)
        (handler-case (load-library name)
          (error (condition) (setf reason (one-line condition)))
          (:no-error (&rest ignored)
            (declare (ignore ignored))
            (return-from open-library (setf *library* name)))))
      (restart-case (error 'library-missing :operation 'open-library :path (first names)
                                            :detail reason)
        (retry () :report "Look for the C library again.")
        (use-library (name)
          :report "Give another name of the C library."
          :interactive (lambda () (prompt-for-path "Name of the library"))
          (setf names (list name)))
        (use-implementation-clock ()
          :report "Go on with the clock of this Lisp implementation alone."
          ;; ECL's code is C's, and cannot be loaded without the functions that it calls.
          :test (lambda (condition) (declare (ignore condition)) #-ecl t)
          (return-from open-library (setf *library* nil)))))))

(defun one-line (condition)
  (substitute #\Space #\Newline (princ-to-string condition)))

(defun require-library (operation)
  "Signal LIBRARY-MISSING if OPERATION cannot be done without the C library."
  (unless *library*
    (error 'library-missing :operation operation)))

(open-library) ; before the code that calls it: CLISP and ECL look for its functions when that is loaded
