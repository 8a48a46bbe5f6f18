;;;; SPDX-License-Identifier: MIT
;;;; conversion: ticks that were read at another moment, and the way back. C's own functions.

(in-package #:timebase)

(define-foreign %utc-at-ns "timebase_utc_at_ns" :int64 (clock :address) (ticks :uint64))
(define-foreign %mono-at-ns "timebase_mono_at_ns" :int64 (clock :address) (ticks :uint64))
(define-foreign %tai-at-ns "timebase_tai_at_ns" :int64 (clock :address) (ticks :uint64))
(define-foreign %at "timebase_at" :void (clock :address) (ticks :uint64) (out :address))
(define-foreign %ticks-at-utc "timebase_ticks_at_utc" :uint64 (clock :address) (utc-ns :int64))
(define-foreign %ticks-at-mono "timebase_ticks_at_mono" :uint64 (clock :address) (mono-ns :int64))

(defmacro define-conversions (&rest conversions)
  "Each of CONVERSIONS is (NAME ARGUMENT TYPE FOREIGN DOCUMENTATION)."
  `(progn
     ,@(loop for (name argument type foreign documentation) in conversions
             collect `(defun ,name (,argument &optional (clock *clock*))
                        ,documentation
                        (check-number ,argument ,type ,name)
                        (,foreign (handle-of clock ',name) ,argument)))))

(defmacro check-number (place type operation)
  "Signal INVALID-ARGUMENT unless PLACE is of the foreign TYPE."
  `(unless (typep ,place ',(lisp-type type))
     (error 'invalid-argument :operation ',operation
                              :detail (format nil "~s is no ~(~a~)" ,place ,type))))

(define-conversions
  (utc-at-ns ticks :uint64 %utc-at-ns
   "UTC by CLOCK at TICKS, read earlier by TICKS or TICKS-ORDERED, or to come.")
  (mono-at-ns ticks :uint64 %mono-at-ns
   "Monotonic time by CLOCK at TICKS, read earlier, or to come.")
  (tai-at-ns ticks :uint64 %tai-at-ns
   "TAI by CLOCK at TICKS, read earlier, or to come.")
  (ticks-at-utc utc-ns :int64 %ticks-at-utc
   "The first tick at which CLOCK will show, or showed, UTC-NS or a later UTC.")
  (ticks-at-mono mono-ns :int64 %ticks-at-mono
   "The first tick at which CLOCK will show, or showed, MONO-NS or a later monotonic time."))

(defun at (ticks &optional (clock *clock*) (into (make-instant)))
  "Everything that TICKS says by CLOCK: an INSTANT. Fills INTO, if given, and makes no new one."
  (check-number ticks :uint64 at)
  (with-memory (out (size-of instant))
    (%at (handle-of clock 'at) ticks out)
    (read-instant out into)))
