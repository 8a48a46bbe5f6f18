;;;; SPDX-License-Identifier: MIT
;;;; interval: which of two events came first, if that can be known at all.

(defparameter *most-readings* 10000000)

(defun print-interval (name interval)
  (format t "~a: ~d ... ~d (~d ns)~%" name (timebase:interval-earliest-ns interval)
          (timebase:interval-latest-ns interval) (timebase:interval-width-ns interval)))

(defun order (a b)
  (cond ((timebase:interval-before-p a b) "definitely before")
        ((timebase:interval-before-p b a) "definitely after")
        (t "overlapping, nobody knows")))

;; The first conversion learns the length of a tick: up to 1 ms, once in a process.
(timebase:utc-at-ns (timebase:ticks))

;; Bounds against the system clock; for true UTC: timebase:utc-interval.
(let* ((a (timebase:realtime-interval))
       (b (timebase:realtime-interval))
       (readings 0)
       ;; Wait out the doubt: from then on everybody's clock agrees that a is over.
       (c (loop for c = (timebase:realtime-interval)
                until (or (timebase:interval-before-p a c)
                          (> (incf readings) *most-readings*))
                finally (return c))))
  (print-interval "a" a)
  (print-interval "b" b)
  (print-interval "c" c)
  (format t "a and b, one right after the other: ~a~%" (order a b))
  (format t "a and c, ~d readings later: ~a~%" readings (order a c))
  (assert (timebase:interval-before-p a c)))
