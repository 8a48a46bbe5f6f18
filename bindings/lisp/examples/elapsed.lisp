;;;; SPDX-License-Identifier: MIT
;;;; elapsed: how long a few forms take, without what the stopwatch itself takes.

(defvar *sink* 0)

(defun work ()
  (loop for i below 1000
        do (setf *sink* (ldb (byte 32 0) (+ i (* *sink* 31))))))

(defun print-elapsed (what ns uncertainty)
  (format t "~28a ~10,1f ns +/- ~,1f~%" what ns uncertainty))

(let ((watch (timebase:make-stopwatch)))
  (format t "an empty lap takes ~d ticks; they are subtracted~%"
          (timebase:stopwatch-overhead-ticks watch))

  (timebase:with-stopwatch (lap watch)
    (multiple-value-call #'print-elapsed "nothing" (timebase:elapsed-ns lap)))
  (timebase:with-stopwatch (lap watch)
    (work)
    (multiple-value-call #'print-elapsed "work, first time" (timebase:elapsed-ns lap)))

  ;; Nested: the inner lap's own cost is taken off the outer one.
  (timebase:with-stopwatch (both watch)
    (work)
    (let ((second (timebase:with-stopwatch (lap watch)
                    (work)
                    (multiple-value-list (timebase:elapsed-ns lap)))))
      (multiple-value-call #'print-elapsed "work twice" (timebase:elapsed-ns both))
      (apply #'print-elapsed "the second of the two" second))))

;; As the thread of 2008 did it: four readings, the work between the last two.
(format t "by four readings: ~,1f ns~%" (timebase:four-readings (work)))

;; And often, told as TIME would.
(let ((*trace-output* *standard-output*))
  (timebase:bench (work) :trials 101))
