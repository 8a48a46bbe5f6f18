;;;; SPDX-License-Identifier: MIT
;;;; calendars: units are called at their releases, and whatever they do does not cross C. Their
;;;; deadlines lie far off: on a busy machine none is skipped.

(in-package #:timebase-test)

(defun unit-of (function &rest options)
  (apply #'timebase:make-unit :name "unit" :function function
         (append options '(:period-ns 5000000 :duration-ns 100000 :deadline-ns 20000000000 :releases 4))))

(defmacro with-run ((calendar waiter units &rest options) &body body)
  `(timebase:with-waiter (,waiter)
     (timebase:with-calendar (,calendar ,units ,@options)
       ,@body)))

(deftest units-are-run-in-the-order-of-their-times ()
  (let ((order '()))
    (with-run (calendar waiter
                        (list (unit-of (lambda () (push :second order)) :ready-ns 2000000)
                              (unit-of (lambda () (push :first order))))
                        :may-overlap t)
      (let* ((begun (timebase:mono-ns))
             (results (timebase:run-calendar calendar waiter)))
        (check (equal '(:first :second :first :second :first :second :first :second)
                      (reverse order)))
        (check (>= (- (timebase:mono-ns) begun) 17000000) "each at its time")
        (dolist (result results)
          (check (= 4 (timebase:unit-result-released result)))
          (check (= 4 (reduce #'+ (timebase:unit-result-errors result))))
          (check (<= (timebase:unit-result-error-min-ns result)
                     (timebase:unit-result-error-max-ns result))))))))

(deftest what-a-unit-signals-is-signalled-when-c-has-returned ()
  (let ((runs 0))
    (with-run (calendar waiter (list (unit-of (lambda ()
                                                (when (= 2 (incf runs))
                                                  (error 'arithmetic-error)))))
                        :may-overlap t)
      (signals arithmetic-error (timebase:run-calendar calendar waiter))
      (check (= 2 runs) "it went on")
      (check (= 4 (timebase:unit-result-released
                   (first (timebase:run-calendar calendar waiter))))
             "and runs again"))))

(deftest a-throw-does-not-cross-c ()
  (with-run (calendar waiter (list (unit-of (lambda () (throw 'out :thrown)))) :may-overlap t)
    (check (typep (catch 'out (signals timebase:unit-left (timebase:run-calendar calendar waiter)))
                  'timebase:unit-left))))

(deftest a-calendar-is-stopped-from-within ()
  (let ((runs 0) (calendar nil))
    (timebase:with-waiter (waiter)
      (setf calendar (timebase:make-calendar
                      (list (timebase:make-unit :name "for ever" :duration-ns 100000
                                                :period-ns 50000000
                                                :deadline-ns 20000000000
                                                :function (lambda ()
                                                            (when (= 3 (incf runs))
                                                              (timebase:stop-calendar calendar)))))
                      :may-overlap t))
      (check (= 3 (timebase:unit-result-released
                   (first (timebase:run-calendar calendar waiter)))))
      (timebase:free-calendar calendar)
      (signals timebase:detached (timebase:stop-calendar calendar))
      (signals timebase:detached (timebase:run-calendar calendar waiter)))))

(deftest what-cannot-be-done-is-not-begun ()
  (let ((units (list (unit-of (lambda () (fail "it was run")) :duration-ns 4000000)
                     (unit-of (lambda () (fail "it was run")) :duration-ns 4000000))))
    (with-run (calendar waiter units)
      (let ((kinds (mapcar #'timebase:problem-kind (timebase:admit-calendar calendar))))
        (check (member :overlap kinds) "~a" kinds))
      (let ((condition (signals timebase:not-admitted (timebase:run-calendar calendar waiter))))
        (check (timebase:not-admitted-problems condition))
        (check (search "unit" (princ-to-string condition)) "~a" condition))))
  (timebase:with-calendar (calendar (list (unit-of 'identity :deadline-ns 0)))
    (check (null (timebase:admit-calendar calendar))))
  (signals timebase:invalid-argument
    (timebase:make-calendar (list (unit-of 'identity :ready-ns (expt 2 63)))))
  (signals timebase:invalid-argument
    (timebase:make-calendar (list (unit-of 'identity :flags '(:badly)))))
  (check (string= "overlap" (timebase:problem-name :overlap)))
  (check (< (timebase:bucket-ns 8) (timebase:bucket-ns 9))))
