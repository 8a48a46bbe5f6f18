;;;; SPDX-License-Identifier: MIT
;;;; harness: tests are sentences that may turn out false. The last line is "N passed, N failed".

(defpackage #:timebase-test
  (:use #:common-lisp)
  (:import-from #:timebase #:*clock*)
  (:export #:run #:deftest #:check #:signals))

(in-package #:timebase-test)

(defvar *tests* '() "Names, the latest first.")

(defmacro deftest (name (&optional documentation) &body body)
  "A test that passes if BODY signals nothing."
  `(progn
     (defun ,name () ,@(and documentation (list documentation)) ,@body)
     (pushnew ',name *tests*)))

(defun fail (text &rest arguments)
  (error "~?" text arguments))

(defmacro check (form &optional (text nil) &rest arguments)
  "Fail unless FORM is true, and say what it was."
  `(unless ,form
     (fail "~s is false~@[: ~a~]" ',form ,(and text `(format nil ,text ,@arguments)))))

(defmacro signals (condition &body body)
  "Fail unless BODY signals CONDITION; returns the condition."
  `(block signals
     (handler-case (progn ,@body)
       (,condition (condition) (return-from signals condition)))
     (fail "no ~a was signalled by ~s" ',condition ',body)))

(defun passes (name)
  (handler-case
      (let ((said (funcall name)))
        (format t "ok   ~(~a~)~@[: ~a~]~%" name (and (stringp said) said))
        t)
    (error (condition)
      (format t "FAIL ~(~a~): ~a~%" name condition)
      nil)))

(defun environment (name &optional default)
  (let ((value (uiop:getenv name)))
    (if (and value (string/= value "")) value default)))

(defun reads (least)
  "How many readings a test of many takes: TIMEBASE_TEST_READS, or LEAST."
  (parse-integer (environment "TIMEBASE_TEST_READS" (princ-to-string least))))

(defun wanted-p (name)
  "Is NAME among the words of TIMEBASE_TESTS, or is that not set?"
  (let ((names (environment "TIMEBASE_TESTS")))
    (or (null names)
        (member name (uiop:split-string names) :test #'string-equal))))

(defun run ()
  "Run all tests, or those of TIMEBASE_TESTS; the number of those that failed."
  (format t "~a ~a~%" (lisp-implementation-type) (lisp-implementation-version))
  (let* ((results (mapcar #'passes (remove-if-not #'wanted-p (reverse *tests*))))
         (failed (count nil results)))
    (format t "~d passed, ~d failed~%" (- (length results) failed) failed)
    (finish-output)
    failed))
