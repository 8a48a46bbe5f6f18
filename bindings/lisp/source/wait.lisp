;;;; SPDX-License-Identifier: MIT
;;;; wait: begin at a tick. The wait is C's; Lisp goes on some nanoseconds after it.

(in-package #:timebase)

(define-foreign %waiter-init "timebase_waiter_init" :int32 (waiter :address) (clock :address))
(define-foreign %waiter-calibrate "timebase_waiter_calibrate" :int32 (waiter :address))
(define-foreign %waiter-set-margin "timebase_waiter_set_margin" :int32
  (waiter :address) (quantile :double) (cpu-share :double))
(define-foreign %waiter-describe "timebase_waiter_describe" :int32
  (waiter :address) (out :address))
(define-foreign %delay "timebase_delay_ns" :int32
  (waiter :address) (delay-ns :uint64) (flags :uint32) (out :address))
(define-foreign %read-fine "timebase_wait_read_fine" :int32
  (waiter :address) (base-ticks :uint64) (out :address))

(defstruct (waiter (:include held) (:copier nil) (:constructor %make-waiter (address clock)))
  "Waits until an instant. Belongs to one thread and to the CPU on which it was made."
  (clock *clock* :type clock))

(document
  waiter-p "True of a WAITER.")

(defun make-waiter (&optional (clock *clock*))
  "A WAITER that learns its machine, up to 10 ms. Pin the thread first. Give it back with FREE-WAITER,
or use WITH-WAITER."
  (let ((waiter (%make-waiter (allocate 8192) clock)))
    (handler-bind ((timebase-error (lambda (condition)
                                     (declare (ignore condition))
                                     (free-waiter waiter))))
      (checking 'make-waiter (%waiter-init (held-address waiter)
                                           (handle-of clock 'make-waiter))))
    waiter))

(defun free-waiter (waiter)
  "Give the memory of WAITER back."
  (give-back waiter #'%free))

(defmacro with-waiter ((waiter &optional (clock '*clock*)) &body body)
  "BODY with a WAITER by CLOCK, given back afterwards."
  `(let ((,waiter (make-waiter ,clock)))
     (unwind-protect (progn ,@body)
       (free-waiter ,waiter))))

(defun calibrate-waiter (waiter)
  "Let WAITER learn its machine again, after the thread was pinned elsewhere, for example."
  (checking 'calibrate-waiter (%waiter-calibrate (held-by waiter 'calibrate-waiter)))
  waiter)

(defun set-waiter-margin (waiter quantile cpu-share)
  "How WAITER's sleeping waits choose their margin: the QUANTILE of wake-up latencies to cover, and the
share of a period that may be spent polling."
  (checking 'set-waiter-margin
            (%waiter-set-margin (held-by waiter 'set-waiter-margin) (float quantile 1d0)
                                (float cpu-share 1d0)))
  waiter)

(defun describe-waiter (waiter)
  "What WAITER has learnt of its machine: a WAITER-DESCRIPTION."
  (with-memory (out (size-of waiter-description))
    (checking 'describe-waiter (%waiter-describe (held-by waiter 'describe-waiter) out))
    (read-waiter-description out)))

(defmacro define-waits (&rest waits)
  "Each of WAITS is (NAME C-NAME TYPE DOCUMENTATION)."
  `(progn
     ,@(loop for (name c-name type documentation) in waits
             for foreign = (intern (format nil "%~a" name))
             collect `(define-foreign ,foreign ,c-name :int32
                        (waiter :address) (target ,type) (flags :uint32) (out :address))
             collect `(defun ,name (waiter target &rest flags)
                        ,documentation
                        (check-number target ,type ,name)
                        (with-memory (out (size-of wait-result))
                          (checking ',name (,foreign (held-by waiter ',name) target
                                                     (number-of 'wait-flag flags) out))
                          (read-wait-result out))))))

(define-waits
  (wait-until-ticks "timebase_wait_until_ticks" :uint64
   "Wait until the counter shows TARGET. FLAGS are of :PLAIN :NEVER-EARLY :SLEEP :PREPARE :REHEARSE
:SAVE-POWER. Returns a WAIT-RESULT, at once if the target has passed.")
  (wait-until-mono "timebase_wait_until_mono" :int64
   "Wait until the clock's monotonic time is TARGET nanoseconds. FLAGS as of WAIT-UNTIL-TICKS.")
  (wait-until-utc "timebase_wait_until_utc" :int64
   "Wait until UTC is TARGET nanoseconds, steps of the clock followed. FLAGS as of WAIT-UNTIL-TICKS."))

(defun delay-ns (waiter ns &rest flags)
  "Wait for NS nanoseconds. FLAGS as of WAIT-UNTIL-TICKS. Returns a WAIT-RESULT."
  (check-number ns :uint64 delay-ns)
  (with-memory (out (size-of wait-result))
    (checking 'delay-ns (%delay (held-by waiter 'delay-ns) ns (number-of 'wait-flag flags) out))
    (read-wait-result out)))

(defun read-fine (waiter base-ticks)
  "The counter more finely than its step, relative to BASE-TICKS: a FINE-READING."
  (check-number base-ticks :uint64 read-fine)
  (with-memory (out (size-of fine-reading))
    (checking 'read-fine (%read-fine (held-by waiter 'read-fine) base-ticks out))
    (read-fine-reading out)))
