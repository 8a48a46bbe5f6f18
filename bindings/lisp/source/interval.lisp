;;;; SPDX-License-Identifier: MIT
;;;; interval: what can be said of two events when neither time is exact.

(in-package #:timebase)

(defun bounds-interval (earliest-ns latest-ns status)
  (values (make-interval :earliest-ns earliest-ns :latest-ns latest-ns) status))

(defun utc-interval (&optional (clock *clock*))
  "Where true UTC is, as far as is known: an INTERVAL, and as second value the status. A promise only
with :SYNCHRONIZED, and if NOW does not flag an estimate. UTC-BOUNDS says the same without consing."
  (multiple-value-call #'bounds-interval (utc-bounds clock)))

(defun realtime-interval (&optional (clock *clock*))
  "Where the kernel's CLOCK_REALTIME is: an INTERVAL, and as second value the status."
  (multiple-value-call #'bounds-interval (realtime-bounds clock)))

(defun interval-around (ns error-ns)
  "All moments within ERROR-NS of NS, cut off where 64 bits end."
  (check-number ns :int64 interval-around)
  (check-number error-ns :uint64 interval-around)
  (make-interval :earliest-ns (max (- ns error-ns) (- (expt 2 63)))
                 :latest-ns (min (+ ns error-ns) (1- (expt 2 63)))))

(defun interval-empty-p (interval)
  "True if INTERVAL ends before it begins. It is then before, after and within nothing."
  (< (interval-latest-ns interval) (interval-earliest-ns interval)))

(defun interval-before-p (a b)
  "True if every moment of A is before every moment of B: event A came first, if both hold."
  (not (or (interval-empty-p a) (interval-empty-p b)
           (>= (interval-latest-ns a) (interval-earliest-ns b)))))

(defun interval-overlaps-p (a b)
  "True if A and B have a moment in common: nobody can say which event came first."
  (not (or (interval-empty-p a) (interval-empty-p b)
           (interval-before-p a b) (interval-before-p b a))))

(defun interval-contains-p (interval ns)
  "True if the moment NS lies in INTERVAL."
  (<= (interval-earliest-ns interval) ns (interval-latest-ns interval)))

(defun interval-width-ns (interval)
  "The length of INTERVAL: twice the bound. 0 if it is empty."
  (max 0 (- (interval-latest-ns interval) (interval-earliest-ns interval))))

(defun interval-intersect (a b)
  "What A and B, intervals of the same moment, have in common; NIL if nothing: one of them is wrong."
  (let ((both (make-interval
               :earliest-ns (max (interval-earliest-ns a) (interval-earliest-ns b))
               :latest-ns (min (interval-latest-ns a) (interval-latest-ns b)))))
    (if (interval-empty-p both) nil both)))

(define-foreign %wait-bound "timebase_clock_wait_bound" :int32
  (clock :address) (maxerror-ns :uint64) (deadline-mono-ns :int64) (out :address))
(define-foreign %wait-after "timebase_clock_wait_after" :int32
  (clock :address) (utc-ns :int64) (deadline-mono-ns :int64))

(defun deadline-ns (timeout-ns clock)
  "The monotonic time that is TIMEOUT-NS from now; without one, never."
  (if timeout-ns
      (min (+ (mono-ns clock) timeout-ns) (1- (expt 2 63)))
      (1- (expt 2 63))))

(defun wait-bound (maxerror-ns &key timeout-ns (clock *clock*))
  "Wait until CLOCK's bound of true UTC is at most MAXERROR-NS, and a promise. Returns the INTERVAL.
Signals TIMED-OUT with a wider bound, STALE if nobody promised anything, and at once
ONLY-AN-ESTIMATE, as always with the process' own clock. Without TIMEOUT-NS it waits as long as it
takes."
  (check-number maxerror-ns :uint64 wait-bound)
  (with-memory (out (size-of interval))
    (checking 'wait-bound
              (%wait-bound (handle-of clock 'wait-bound) maxerror-ns
                           (deadline-ns timeout-ns clock) out))
    (read-interval out)))

(defun wait-after (utc-ns &key timeout-ns (clock *clock*))
  "Wait until true UTC is certainly later than UTC-NS. Returns UTC-NS; signals as WAIT-BOUND does."
  (check-number utc-ns :int64 wait-after)
  (checking 'wait-after
            (%wait-after (handle-of clock 'wait-after) utc-ns (deadline-ns timeout-ns clock)))
  utc-ns)
