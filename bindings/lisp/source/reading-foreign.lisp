;;;; SPDX-License-Identifier: MIT
;;;; reading-foreign: each reading is a call of C's own inline code, which the library has as symbols.

(in-package #:timebase)

(defmacro define-readings (&rest names)
  "Each of NAMES is (NAME FOREIGN C-NAME SLOW)."
  `(progn
     ,@(loop for (name foreign c-name slow) in names
             collect `(define-foreign ,foreign ,c-name :int64 (clock :address))
             collect `(defun ,name (&optional (clock *clock*))
                        (let ((address (clock-address clock)))
                          (if (eql address 0)
                              (,slow clock)
                              (,foreign address)))))))

(define-readings
  (utc-ns %utc-ns "timebase_utc_ns" utc-ns-slow)
  (utc-ns-unordered %utc-ns-unordered "timebase_utc_ns_unordered" utc-ns-slow)
  (mono-ns %mono-ns "timebase_mono_ns" mono-ns-slow)
  (mono-ns-unordered %mono-ns-unordered "timebase_mono_ns_unordered" mono-ns-slow)
  (tai-ns %tai-ns "timebase_tai_ns" tai-ns-slow)
  (tai-ns-unordered %tai-ns-unordered "timebase_tai_ns_unordered" tai-ns-slow))

(defmacro define-bounds (name foreign c-name slow)
  `(progn
     (define-foreign ,foreign ,c-name :int32 (clock :address) (out :address))
     (defun ,name (&optional (clock *clock*))
       (if (eql (clock-address clock) 0)
           (,slow clock)
           (with-memory (out (size-of interval))
             (let ((status (,foreign (clock-address clock) out)))
               (values (peek :int64 out 0) (peek :int64 out 8) (status-keyword status))))))))

(define-bounds utc-bounds %utc-interval "timebase_utc_interval" utc-bounds-slow)
(define-bounds realtime-bounds %realtime-interval "timebase_realtime_interval"
  realtime-bounds-slow)

(define-foreign %now "timebase_now" :void (clock :address) (out :address))

(defun now (&optional (clock *clock*) (into (make-instant)))
  (if (eql (clock-address clock) 0)
      (now-slow clock into)
      (with-memory (out (size-of instant))
        (%now (clock-address clock) out)
        (read-instant out into))))

(define-foreign %ticks "timebase_ticks" :uint64)
(define-foreign %ticks-ordered "timebase_ticks_ordered" :uint64)

(defun ticks () (%ticks))
(defun ticks-ordered () (%ticks-ordered))
(defun ticks-begin () "The counter where what is measured begins." (%ticks-ordered))
(defun ticks-end () "The counter where what is measured has ended." (%ticks-ordered))

(defun read-page-now (address into)
  "INTO, filled with what the page at ADDRESS says now; NIL if it has no lines."
  (read-page-at address (%ticks-ordered) into))
