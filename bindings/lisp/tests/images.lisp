;;;; SPDX-License-Identifier: MIT
;;;; images: a saved image reads the clock as if it had just been loaded, and attaches again.

(in-package #:timebase-test)

(defun in-sbcl (core &rest forms)
  "What another SBCL prints that evaluates FORMS, texts, and ends."
  (uiop:run-program
   (append (list "sbcl") (and core (list "--core" core))
           (list "--noinform" "--no-sysinit" "--no-userinit" "--disable-debugger")
           (loop for form in forms append (list "--eval" form))
           (list "--quit"))
   :output :string :error-output :output :ignore-error-status t))

(defun load-forms ()
  (list (format nil "(load ~s)" (namestring (asdf:system-relative-pathname
                                             "timebase" "tests/prepare.lisp")))))

(deftest a-saved-image-finds-its-clocks-again ()
  (let ((core (format nil "~a/saved.core" (environment "TIMEBASE_SCRATCH"))))
    (apply #'in-sbcl nil
           (append (load-forms)
                   (list "(asdf:load-system \"timebase\")"
                         (format nil "(defvar *good* (timebase:attach ~s))" (page-path "good"))
                         (format nil "(sb-ext:save-lisp-and-die ~s)" core))))
    (let ((said (in-sbcl core
                         "(format t \"~a ~a ~a\" (plusp (timebase:utc-ns)) (timebase:clock-kind *good*) (plusp (timebase:utc-ns *good*)))")))
      (check (search "T ATTACHED T" said) "~a" said))
    (delete-file core)))

(deftest without-the-library-there-is-the-implementation-s-clock ()
  (let ((said (let ((old (uiop:getenv "TIMEBASE_LIBRARY")))
                (unwind-protect
                     (progn
                       (setf (uiop:getenv "TIMEBASE_LIBRARY") "/none/libtimebase.so")
                       (apply #'in-sbcl nil
                              (append (load-forms)
                                      (list "(handler-bind ((error (lambda (c) (let ((r (find-if (lambda (r) (string= \"USE-IMPLEMENTATION-CLOCK\" (symbol-name (restart-name r)))) (compute-restarts c)))) (format t \"~a \" c) (when r (invoke-restart r)))))) (asdf:load-system \"timebase\"))"
                                            "(format t \"~a ~a \" timebase:*clock* (plusp (timebase:utc-ns)))"
                                            "(handler-case (timebase:private-clock) (timebase:library-missing () (format t \"missing \")))"
                                            "(handler-case (timebase:attach) (timebase:library-missing () (format t \"missing \")))"
                                            "(handler-case (timebase:ticks) (error () (format t \"undefined\")))"))))
                  (setf (uiop:getenv "TIMEBASE_LIBRARY") old)))))
    (check (search "Install libtimebase" said) "~a" said)
    (check (search "#<CLOCK implementation> T missing missing undefined" said) "~a" said)))
