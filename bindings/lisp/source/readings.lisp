;;;; SPDX-License-Identifier: MIT
;;;; readings: what all Lisps have in common on top of their own way to read a page.

(in-package #:timebase)

(declaim (inline utc-ms mono-ms tai-ms))

(defun utc-ms (&optional (clock *clock*))
  "UTC in milliseconds, rounded down."
  (values (floor (utc-ns clock) 1000000)))

(defun mono-ms (&optional (clock *clock*))
  "Monotonic time in milliseconds, rounded down."
  (values (floor (mono-ns clock) 1000000)))

(defun tai-ms (&optional (clock *clock*))
  "TAI in milliseconds, rounded down."
  (values (floor (tai-ns clock) 1000000)))

(define-foreign ticks-os "timebase_ticks_os" :uint64)

(document
  utc-ns
  "Nanoseconds since 1970-01-01 UTC by CLOCK, leap seconds not counted. Read after all earlier
loads: if one thread's reading happens before another's, it is not later."
  utc-ns-unordered
  "UTC-NS without order: the cheapest stamp within one thread."
  mono-ns
  "Nanoseconds since boot by CLOCK, suspend not counted. Never stepped. Ordered as UTC-NS is."
  mono-ns-unordered
  "MONO-NS without order: the cheapest stamp within one thread."
  tai-ns
  "International Atomic Time by CLOCK, nanoseconds since 1970-01-01 TAI. Equal to UTC while nobody
has told the kernel the difference: see INSTANT-TAI-VALID-P."
  tai-ns-unordered
  "TAI-NS without order."
  utc-bounds
  "Where true UTC is, as far as is known. Three values: the earliest and the latest nanosecond that
it can be, and the status. A promise only with :SYNCHRONIZED, and if NOW does not flag an estimate."
  realtime-bounds
  "Where the kernel's CLOCK_REALTIME is: earliest and latest nanosecond, and the status."
  now
  "One tick, and everything it says: an INSTANT. Fills INTO, if given, and then makes no new one."
  ticks
  "The processor's counter, as cheaply as it can be read. Convert it later: UTC-AT-NS, AT."
  ticks-ordered
  "The processor's counter, read after all earlier loads have got their values."
  ticks-os
  "CLOCK_MONOTONIC_RAW in nanoseconds: the counter of last resort.")

(defun instant-status (instant)
  "The clock's status at INSTANT: :SYNCHRONIZED, :FREERUNNING, :INITIALIZING, :UNRELIABLE, :UNKNOWN."
  (status-keyword (instant-flags instant)))

(macrolet ((define-marks (&rest marks)
             `(progn
                ,@(loop for (name key documentation) in marks
                        collect `(defun ,name (instant)
                                   ,documentation
                                   (logtest ,(cdr (assoc key (enumeration 'line-flag)))
                                            (instant-flags instant)))))))
  (define-marks
    (instant-estimate-p :estimate
     "True if the bound of true UTC at INSTANT is an estimate: no promise, whatever the status.")
    (instant-tai-valid-p :tai-valid
     "True if somebody has told the offset between TAI and UTC.")
    (instant-leap-insert-p :leap-insert
     "True if a second will be inserted at the end of the UTC day.")
    (instant-leap-delete-p :leap-delete
     "True if a second will be left out at the end of the UTC day.")
    (instant-never-moved-p :never-moved
     "True if the administrator vouches that this machine is never moved to another host.")
    (instant-counter-distrusted-p :counter-distrusted
     "True if the kernel does not trust this counter.")))

(defun signed-64 (number)
  "NUMBER modulo 2^64, as a signed number."
  (let ((word (ldb (byte 64 0) number)))
    (if (logbitp 63 word) (- word (expt 2 64)) word)))

(defun instant-tai-ns (instant)
  "TAI at INSTANT, nanoseconds since 1970-01-01 TAI. Equal to UTC unless INSTANT-TAI-VALID-P."
  (let ((seconds (ash (instant-flags instant) -16)))
    (signed-64 (+ (instant-utc-ns instant)
                  (* 1000000000 (if (logbitp 15 seconds) (- seconds 65536) seconds))))))

(defun universal-time-of-utc-ns (utc-ns)
  "The universal time of UTC-NS, and as second value the nanoseconds since its second began."
  (multiple-value-bind (seconds ns) (floor utc-ns 1000000000)
    (values (+ seconds +unix-epoch+) ns)))
