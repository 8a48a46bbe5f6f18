;;;; SPDX-License-Identifier: MIT
;;;; commit-wait: number an event by a time that nobody who hears of it can be behind.
;;;;
;;;; The event gets the latest time that it may be now, and is told of only when that time is
;;;; certainly past: whoever hears of it and then asks any clock, gets a later one.

(defun work ()
  (format t "the work of the transaction goes here, while the doubt grows old~%"))

(defun commit ()
  (let ((commit-ns (timebase:interval-latest-ns
                    (timebase:wait-bound 50000000 :timeout-ns 100000000))))
    (work)
    (timebase:wait-after commit-ns)
    (format t "committed at ~d: every clock that is right shows more by now~%" commit-ns)))

;; The daemon's clock: the process' own has no more than an estimate.
(let ((timebase:*clock* (timebase:attach-or-private)))
  (handler-case (commit)
    ;; Where nobody promises anything about UTC: take another order then.
    ((or timebase:only-an-estimate timebase:stale timebase:timed-out) (condition)
      (format t "no bound below 50 ms. ~a~%" condition)))
  (timebase:detach timebase:*clock*))
