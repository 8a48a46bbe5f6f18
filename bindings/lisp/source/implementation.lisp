;;;; SPDX-License-Identifier: MIT
;;;; implementation: what each Lisp has of its own: its clock, its collector's counts.

(in-package #:timebase)

#+ecl (ffi:clines "#include <gc/gc.h>")

(defconstant +unix-epoch+ 2208988800 "1970-01-01 as a universal time.")

(defun implementation-utc-ns ()
  "UTC by this Lisp's own clock, as finely as it tells it."
  #+sbcl (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
           (+ (* seconds 1000000000) (* microseconds 1000)))
  #-sbcl (* (- (get-universal-time) +unix-epoch+) 1000000000))

(defun implementation-mono-ns ()
  "Monotonic time by this Lisp's own clock."
  (* (cl:get-internal-real-time) (floor 1000000000 internal-time-units-per-second)))

(defun bytes-consed ()
  "Bytes allocated by this Lisp so far, or NIL if it does not say."
  ;; SBCL counts a thread's region when it is closed.
  #+sbcl (progn (sb-vm::close-thread-alloc-region) (sb-ext:get-bytes-consed))
  #+ecl (ffi:c-inline () () :int64-t "(int64_t)GC_get_total_bytes()" :one-liner t)
  #+clisp (let ((time (multiple-value-list (sys::%%time)))) (+ (ash (nth 6 time) 24) (nth 7 time)))
  #-(or sbcl ecl clisp) nil)

(defun collections ()
  "Something that is EQL until the next garbage collection, or NIL if this Lisp does not say."
  #+sbcl sb-kernel::*gc-epoch*
  #+ecl (ffi:c-inline () () :fixnum "(cl_fixnum)GC_get_gc_no()" :one-liner t)
  #+clisp (nth-value 8 (sys::%%time))
  #-(or sbcl ecl clisp) nil)
