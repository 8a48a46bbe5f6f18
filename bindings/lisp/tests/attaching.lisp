;;;; SPDX-License-Identifier: MIT
;;;; attaching: pages of bindings/conformance/pages, good and bad. TIMEBASE_PAGES is their folder.

(in-package #:timebase-test)

(defun page-path (name)
  (format nil "~a/~a" (environment "TIMEBASE_PAGES") name))

(defun expected-pages ()
  "(NAME ERROR STATUS) of each file."
  (with-open-file (file (page-path "expected"))
    (loop for line = (read-line file nil)
          while line collect (uiop:split-string line))))

(defun c-name (condition)
  (format nil "TIMEBASE_E_~a" (substitute #\_ #\- (symbol-name (timebase:error-code condition)))))

(deftest every-page-is-accepted-or-refused-by-its-name ()
  (let ((pages (expected-pages)))
    (loop for (name error status) in pages
          do (if (string= error "OK")
                 (timebase:with-attached-clock (clock (page-path name))
                   (check (string= status (timebase:status-name
                                           (timebase:instant-status (timebase:now))))
                          "~a" name)
                   (check (eq clock *clock*))
                   (check (plusp (timebase:utc-ns))))
                 (let ((condition (signals timebase:timebase-error
                                    (timebase:attach (page-path name)))))
                   (check (string= error (c-name condition)) "~a: ~a" name condition)
                   (check (search name (princ-to-string condition))))))
    (check (> (length pages) 10))
    (format nil "~d pages" (length pages))))

(deftest a-refusal-says-what-is-wrong-with-the-page ()
  (loop for (name words) in '(("empty" "it has 0 bytes, and a page has 640")
                              ("truncated" "cut short: 100 of 640 bytes")
                              ("text" "it is something else")
                              ("version-1" "it is of version 1, and this library reads 2")
                              ("hostile" "its lines cannot be")
                              ("endless" "its lines cannot be")
                              ("feature" "needs features #x80000000")
                              ("other-counter" "it is over the counter ")
                              ("no-lines" "it has no lines yet")
                              ("not-begun" "its lines have not begun")
                              ("other-time" "its time is not the system clock's"))
        for said = (princ-to-string (signals timebase:timebase-error
                                      (timebase:attach (page-path name))))
        do (check (search words said) "~a: ~a" name said))
  (check (null (timebase:error-detail (signals timebase:not-found
                                        (timebase:attach (page-path "missing")))))))

(deftest an-attached-clock-says-how-it-stands ()
  (timebase:with-attached-clock (clock (page-path "good"))
    (check (eq :current (timebase:attachment-state (timebase:attachment))))
    (check (eql 0 (timebase:attachment-error (timebase:attachment))))
    (check (eq :attached (timebase:clock-kind clock)))
    (check (string= (page-path "good") (timebase:clock-path clock)))
    (let ((interval (timebase:wait-bound (* 2 (timebase:instant-utc-maxerror-ns (timebase:now)))
                                         :timeout-ns 1000000000)))
      (check (timebase:interval-contains-p interval (timebase:interval-earliest-ns interval)))
      (signals timebase:timed-out (timebase:wait-bound 1 :timeout-ns 0))
      (check (= 5 (timebase:wait-after 5)))))
  (timebase:with-attached-clock (clock (page-path "silent"))
    (check (eq :silent (timebase:attachment-state (timebase:attachment clock)))))
  (timebase:with-attached-clock (clock (page-path "expired"))
    (check (eq :expired (timebase:attachment-state (timebase:attachment clock))))))

(defmacro with-restart-taken ((condition restart &rest arguments) &body body)
  "BODY, where CONDITION is handled by taking RESTART, once."
  (let ((taken (gensym "TAKEN")))
    `(let ((,taken nil))
       (handler-bind ((,condition (lambda (condition)
                                    (declare (ignorable condition))
                                    (unless (shiftf ,taken t)
                                      (,restart ,@arguments)))))
         ,@body))))

(deftest each-restart-does-what-it-says ()
  (flet ((missing () (timebase:attach (page-path "missing"))))
    (check (eq (timebase:private-clock)
               (with-restart-taken (timebase:not-found timebase:use-private-clock) (missing))))
    (check (eq (timebase:implementation-clock)
               (with-restart-taken (timebase:not-found timebase:use-implementation-clock)
                 (missing))))
    (let ((clock (with-restart-taken (timebase:not-found timebase:use-page (page-path "good"))
                   (missing))))
      (check (eq :attached (timebase:clock-kind clock)))
      (timebase:detach clock)))
  (check (null (timebase:retry)) "outside of ATTACH nothing happens")
  (check (null (timebase:use-private-clock)))
  (check (null (timebase:use-page "/tmp/page")))
  (check (null (timebase:use-library "lib"))))

(deftest retry-looks-again ()
  (let ((path (page-path "late")) (tries 0))
    (when (probe-file path) (delete-file path))
    (let ((clock (with-restart-taken (timebase:not-found
                                      progn
                                      (incf tries)
                                      (write-octets path (timebase::read-octets (page-path "good")))
                                      (uiop:run-program (list "chmod" "644" path))
                                      (timebase:retry))
                   (timebase:attach path))))
      (check (= 1 tries))
      (check (eq :attached (timebase:clock-kind clock)))
      (timebase:detach clock))
    (delete-file path)))

(deftest without-a-page-there-is-the-private-clock-and-a-reason ()
  (multiple-value-bind (clock reason) (timebase:attach-or-private (page-path "missing"))
    (check (eq clock (timebase:private-clock)))
    (check (typep reason 'timebase:not-found)))
  (multiple-value-bind (clock reason) (timebase:attach-or-private (page-path "good"))
    (check (eq :attached (timebase:clock-kind clock)))
    (check (null reason))
    (timebase:detach clock)))

(deftest a-detached-clock-is-an-error-and-no-crash ()
  (let ((clock (timebase:attach (page-path "good"))))
    (timebase:detach clock)
    (timebase:detach clock)
    (check (eq :detached (timebase:clock-kind clock)))
    (dolist (reading (list #'timebase:utc-ns #'timebase:mono-ns #'timebase:tai-ns
                           #'timebase:utc-ns-unordered #'timebase:utc-bounds
                           #'timebase:realtime-bounds #'timebase:now #'timebase:utc-interval
                           #'timebase:attachment #'timebase:statistics #'timebase:maintain))
      (signals timebase:detached (funcall reading clock)))
    (signals timebase:detached (timebase:at 1 clock))))

(deftest the-private-clock-is-not-detached ()
  (timebase:detach (timebase:private-clock))
  (check (eq :private (timebase:clock-kind (timebase:private-clock))))
  (check (plusp (timebase:utc-ns))))

(deftest a-file-can-be-looked-into-as-a-page ()
  (timebase:with-page (page (page-path "good"))
    (check (timebase:page-at page (timebase:ticks)))
    (check (timebase:page-p page)))
  (dolist (name '("empty" "truncated" "text" "version-1" "hostile"))
    (signals timebase:bad-format
      (timebase:with-page (page (page-path name)) (timebase:page-now page))))
  (signals timebase:not-found
    (timebase:with-page (page (page-path "missing")) (timebase:page-now page))))
