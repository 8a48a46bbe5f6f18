;;;; SPDX-License-Identifier: MIT
;;;; reading-ecl: ECL compiles to C, so the inline code of the C headers is compiled into this.

(in-package #:timebase)

(c-headers)

(ffi:clines "
/* The address of a clock's page, its first slot; NIL if there is no page, or no clock. */
static inline cl_object page_of(cl_object clock, cl_object class_of_clocks)
{
    if (!ECL_INSTANCEP(clock) || ECL_CLASS_OF(clock) != class_of_clocks)
        return ECL_NIL;
    cl_object address = clock->instance.slots[0];
    return address == ecl_make_fixnum(0) ? ECL_NIL : address;
}

static inline const timebase_clock *clock_at(cl_object address)
{
    return (const timebase_clock *)(uintptr_t)ecl_fixnum(address);
}

/* Until 2043 nanoseconds since 1970 are a fixnum. */
static inline cl_object lisp_ns(int64_t ns)
{
    if (TIMEBASE_LIKELY(ns >= MOST_NEGATIVE_FIXNUM && ns <= MOST_POSITIVE_FIXNUM))
        return ecl_make_fixnum(ns);
    return ecl_make_int64_t(ns);
}")

(defmacro clock-page (clock)
  `(ffi:c-inline (,clock (load-time-value (find-class 'clock))) (:object :object) :object
                 "page_of(#0, #1)" :one-liner t))

(defmacro define-readings (&rest names)
  "Each of NAMES is (NAME C-NAME SLOW). What is no clock goes to SLOW, which checks."
  `(progn
     ,@(loop for (name c-name slow) in names
             collect `(defun ,name (&optional (clock *clock*))
                        (declare (optimize (speed 3) (safety 0) (debug 0)))
                        (let ((page (clock-page clock)))
                          (if page
                              (ffi:c-inline (page) (:object) :object
                                            ,(format nil "lisp_ns(~a(clock_at(#0)))" c-name)
                                            :one-liner t)
                              (,slow clock)))))))

(define-readings
  (utc-ns "timebase_utc_ns" utc-ns-slow)
  (utc-ns-unordered "timebase_utc_ns_unordered" utc-ns-slow)
  (mono-ns "timebase_mono_ns" mono-ns-slow)
  (mono-ns-unordered "timebase_mono_ns_unordered" mono-ns-slow)
  (tai-ns "timebase_tai_ns" tai-ns-slow)
  (tai-ns-unordered "timebase_tai_ns_unordered" tai-ns-slow))

(defmacro define-bounds (name c-name slow)
  `(defun ,name (&optional (clock *clock*))
     (declare (optimize (speed 3) (safety 0) (debug 0)))
     (let ((page (clock-page clock)))
       (if page
           (multiple-value-bind (earliest latest status)
               (ffi:c-inline (page) (:object) (values :object :object :fixnum)
                             ,(format nil "{ struct timebase_interval bounds;
                                 @(return 2) = ~a(clock_at(#0), &bounds);
                                 @(return 0) = lisp_ns(bounds.earliest_ns);
                                 @(return 1) = lisp_ns(bounds.latest_ns); }" c-name)
                             :one-liner nil)
             (values earliest latest (status-keyword status)))
           (,slow clock)))))

(define-bounds utc-bounds "timebase_utc_interval" utc-bounds-slow)
(define-bounds realtime-bounds "timebase_realtime_interval" realtime-bounds-slow)

(defun now (&optional (clock *clock*) (into (make-instant)))
  (if (eql (clock-address clock) 0)
      (now-slow clock into)
      (with-memory (out (size-of instant))
        (ffi:c-inline ((clock-address clock) out) (:uint64-t :uint64-t) :void
                      "timebase_now((const timebase_clock *)(uintptr_t)#0,
                                    (struct timebase_instant *)(uintptr_t)#1)" :one-liner t)
        (read-instant out into))))

(defun read-page-now (address into)
  "INTO, filled with what the page at ADDRESS says now; NIL if it must be asked again."
  (with-memory (out (size-of instant))
    (and (/= address 0)
         (ffi:c-inline (address out) (:uint64-t :uint64-t) :bool
                       "timebase_page_read((const struct timebase_page *)(uintptr_t)#0, 1,
                           TIMEBASE_WANT_ALL, (struct timebase_instant *)(uintptr_t)#1)"
                       :one-liner t)
         (read-instant out into))))

(defun ticks ()
  (ffi:c-inline () () :uint64-t "timebase_ticks()" :one-liner t))

(defun ticks-ordered ()
  (ffi:c-inline () () :uint64-t "timebase_ticks_ordered()" :one-liner t))

(defun ticks-begin ()
  "The counter where what is measured begins."
  (ffi:c-inline () () :uint64-t "timebase_stopwatch_begin()" :one-liner t))

(defun ticks-end ()
  "The counter where what is measured has ended."
  (ffi:c-inline () () :uint64-t "timebase_stopwatch_end()" :one-liner t))
