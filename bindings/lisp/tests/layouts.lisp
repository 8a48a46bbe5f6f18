;;;; SPDX-License-Identifier: MIT
;;;; layouts: a C compiler compares what is declared in Lisp with the C headers.

(in-package #:timebase-test)

(defun c-constant (prefix key)
  (concatenate 'string prefix (substitute #\_ #\- (symbol-name key))))

(defun write-assertions (stream)
  "How many assertions there are."
  (let ((count 0))
    (flet ((assertion (text &rest arguments)
             (incf count)
             (format stream "_Static_assert(~?, \"~?\");~%" text arguments text arguments)))
      (format stream "#include <stddef.h>~%#include <timebase.h>~%")
      (loop for (nil prefix . values) in timebase::*enumerations*
            do (loop for (key . value) in values
                     do (assertion "(long long)~a == ~a" (c-constant prefix key) value)))
      (loop for (c-name size . fields) in timebase::*layouts*
            do (assertion "sizeof(~a) == ~a" c-name size)
               (loop for (field offset) in fields
                     do (assertion "offsetof(~a, ~a) == ~a" c-name field offset))))
    count))

(defun compiles-p (path)
  (let ((said (uiop:run-program (format nil "cc -std=gnu11 -fsyntax-only -I'~a' '~a' 2>&1; echo status $?"
                                        (environment "TIMEBASE_INCLUDE") path)
                                :output :string)))
    (search "status 0" said)))

(deftest constants-and-structures-are-those-of-the-headers ()
  (let ((path (format nil "~a/layouts.c" (environment "TIMEBASE_SCRATCH"))) (count 0))
    (with-open-file (file path :direction :output :if-exists :supersede)
      (setf count (write-assertions file)))
    (check (compiles-p path))
    (with-open-file (file path :direction :output :if-exists :append)
      (format file "_Static_assert(offsetof(struct timebase_page, copy) == 127, \"wrong\");~%"))
    (check (not (compiles-p path)) "a wrong offset is not noticed")
    (format nil "~d assertions" count)))

(deftest the-version-is-the-library-s ()
  (let ((header (format nil "~a/timebase/version.h" (environment "TIMEBASE_INCLUDE"))))
    (check (search (format nil "\"~a\"" (asdf:component-version (asdf:find-system "timebase")))
                   (uiop:read-file-string header)))))
