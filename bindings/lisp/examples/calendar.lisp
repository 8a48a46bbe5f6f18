;;;; SPDX-License-Identifier: MIT
;;;; calendar: two units of work every millisecond, each at its time, for a fifth of a second.
;;;; The calendar of C calls C functions. In Lisp a unit is a function, and the table a list.

(defvar *samples* 0)
(defvar *sent* 0)
(defvar *late* (make-hash-table))

(defun sample () (incf *samples*))
(defun send () (incf *sent* *samples*))

(defparameter *period-ns* 1000000)
(defparameter *units* '((0 sample) (500000 send)) "When in each period, and what.")

(defun dispatch (waiter start-ns periods)
  "Each time is worked out of the number of its period, so no rounding adds up."
  (dotimes (period periods)
    (loop for (ready-ns unit) in *units*
          do (let ((result (timebase:wait-until-mono
                            waiter (+ start-ns ready-ns (* period *period-ns*))
                            :sleep :prepare)))
               (funcall unit)
               (when (timebase:wait-result-late-p result)
                 (incf (gethash unit *late* 0)))))))

(timebase:with-waiter (waiter)
  (dispatch waiter (+ (timebase:mono-ns) 10000000) 200))
(loop for (nil unit) in *units*
      do (format t "~(~8a~) 200 run, ~d late~%" unit (gethash unit *late* 0)))
(assert (= *samples* 200))
