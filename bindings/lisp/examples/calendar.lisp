;;;; SPDX-License-Identifier: MIT
;;;; calendar: two units of work every millisecond, each at its time, for a fifth of a second.

(defvar *samples* 0)
(defvar *sent* 0)

(defun sample () (incf *samples*))
(defun send () (incf *sent* *samples*))

(defparameter *units*
  (list (timebase:make-unit :name "sample" :function 'sample :period-ns 1000000
                            :duration-ns 50000 :deadline-ns 400000 :flags '(:sleep :prepare))
        (timebase:make-unit :name "send" :function 'send :ready-ns 500000 :period-ns 1000000
                            :duration-ns 50000 :deadline-ns 400000 :flags '(:sleep :prepare))))

(timebase:with-waiter (waiter)
  (timebase:with-calendar (calendar *units* :length-ns 200000000)
    (dolist (problem (timebase:admit-calendar calendar waiter))
      (format t "~a~%" (timebase:problem-text problem)))
    (loop for unit in *units*
          for result in (timebase:run-calendar calendar waiter)
          do (format t "~8a ~d run, ~d late, ~d skipped, begun up to ~,1f ns after its time~%"
                     (timebase:unit-name unit)
                     (timebase:unit-result-released result)
                     (timebase:unit-result-late result)
                     (timebase:unit-result-skipped result)
                     (timebase:unit-result-error-max-ns result))
             (assert (= 200 (+ (timebase:unit-result-released result)
                               (timebase:unit-result-skipped result)))))))
