;;;; SPDX-License-Identifier: MIT
;;;; slow: where readings go when the page has no line for now. C renews the lines, some ten times a
;;;; second, and gives the time; clocks without a page are read here, too.

(in-package #:timebase)

(declaim (ftype (function (clock) (values (signed-byte 64) &optional))
                utc-ns-slow mono-ns-slow tai-ns-slow)
         (ftype (function (clock) (values (signed-byte 64) (signed-byte 64) symbol &optional))
                utc-bounds-slow realtime-bounds-slow)
         (ftype (function (clock instant) (values instant &optional)) now-slow))

(define-foreign %utc-ns-slow "timebase_utc_ns_slow" :int64 (clock :address))
(define-foreign %mono-ns-slow "timebase_mono_ns_slow" :int64 (clock :address))
(define-foreign %tai-ns-slow "timebase_tai_ns_slow" :int64 (clock :address))
(define-foreign %now-slow "timebase_now_slow" :void (clock :address) (out :address))
(define-foreign %utc-interval-slow "timebase_utc_interval_slow" :int32
  (clock :address) (out :address))
(define-foreign %realtime-interval-slow "timebase_realtime_interval_slow" :int32
  (clock :address) (out :address))

(declaim (inline status-keyword implementation-clock-p))

(defun status-keyword (flags)
  "The status in the lower bits of FLAGS."
  (svref (load-time-value
          (coerce (loop for value below 16
                        collect (let ((key (enumerated 'status value)))
                                  (if (keywordp key) key :unknown)))
                  'simple-vector)
          t)
         (logand flags 15)))

(defun implementation-clock-p (clock)
  (check-type clock clock)
  (eq (clock-kind clock) :implementation))

(defun utc-ns-slow (clock)
  (if (implementation-clock-p clock)
      (implementation-utc-ns)
      (%utc-ns-slow (handle-of clock 'utc-ns))))

(defun mono-ns-slow (clock)
  (if (implementation-clock-p clock)
      (implementation-mono-ns)
      (%mono-ns-slow (handle-of clock 'mono-ns))))

(defun tai-ns-slow (clock)
  "The implementation's clock does not know the offset, and gives UTC, as C does then."
  (if (implementation-clock-p clock)
      (implementation-utc-ns)
      (%tai-ns-slow (handle-of clock 'tai-ns))))

(defmacro define-bounds-slow (name foreign operation)
  `(defun ,name (clock)
     (if (implementation-clock-p clock)
         (values (- (expt 2 63)) (1- (expt 2 63)) :unknown)
         (with-memory (out (size-of interval))
           (let ((status (,foreign (handle-of clock ',operation) out)))
             (values (peek :int64 out 0) (peek :int64 out 8) (status-keyword status)))))))

(define-bounds-slow utc-bounds-slow %utc-interval-slow utc-bounds)
(define-bounds-slow realtime-bounds-slow %realtime-interval-slow realtime-bounds)

(defun now-slow (clock into)
  (if (implementation-clock-p clock)
      (setf (instant-ticks into) 0
            (instant-mono-ns into) (implementation-mono-ns)
            (instant-utc-ns into) (implementation-utc-ns)
            (instant-maxerror-ns into) (1- (expt 2 64))
            (instant-utc-maxerror-ns into) (1- (expt 2 64))
            (instant-esterror-ns into) (1- (expt 2 64))
            (instant-flags into) (number-of 'status :unknown))
      (with-memory (out (size-of instant))
        (%now-slow (handle-of clock 'now) out)
        (read-instant out into)))
  into)
