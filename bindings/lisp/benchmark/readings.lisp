;;;; SPDX-License-Identifier: MIT
;;;; readings: what each reading costs in this Lisp, in turns with C and with the Lisp's own clocks.

(defpackage #:timebase-benchmark
  (:use #:common-lisp)
  (:export #:run))

(in-package #:timebase-benchmark)

(defvar *sink* 0)

(defmacro batch-of (form)
  "A function that evaluates FORM, a small integer, so many times."
  `(lambda (calls)
     (declare (type (unsigned-byte 32) calls)
              (optimize (speed 3) #+sbcl (sb-ext:inhibit-warnings 3)))
     (let ((all 0))
       (declare (type fixnum all))
       (dotimes (i calls)
         (setf all (logxor all (the fixnum ,form))))
       (setf *sink* all))))

(timebase::define-foreign utc-ns-in-c "timebase_utc_ns" :int64 (clock :address))

(defmacro bounds ()
  "Both ends and the status, so that nothing is left out."
  `(multiple-value-bind (earliest latest status) (timebase:utc-bounds)
     (declare (type fixnum earliest latest))
     (if (eq status :unknown) 0 (logxor earliest latest))))

(defparameter *readings*
  (let ((address (timebase::clock-address (timebase:private-clock))))
    (declare (ignorable address))
    (list (list "utc_ns" "timebase" (batch-of (timebase:utc-ns)) 1000)
          (list "utc_ns" "timebase, foreign call" (batch-of (utc-ns-in-c address)) 1000)
          (list "utc_bounded" "timebase" (batch-of (bounds)) 1000)
          (list "mono_ns" "timebase" (batch-of (timebase:mono-ns)) 1000)
          (list "ticks" "timebase" (batch-of (timebase:ticks)) 1000)
          (list "own_clock" "get-internal-real-time" (batch-of (cl:get-internal-real-time)) 1000)
          (list "own_clock" "get-universal-time" (batch-of (get-universal-time)) 1000)
          #+sbcl (list "own_clock" "get-time-of-day"
                       (batch-of (nth-value 1 (sb-ext:get-time-of-day))) 1000)
          #+(and sbcl x86-64)
          (list "own_clock" "read-cycle-counter"
                (batch-of (nth-value 1 (sb-impl::read-cycle-counter))) 100)))
  "Of each: what is read, by whom, a function of calls, how many calls make a trial.")

(defun lisp-batch (lap function calls)
  "The mean of CALLS calls in nanoseconds."
  (funcall function (1+ (floor calls 10)))
  (timebase:start-lap lap)
  (funcall function calls)
  (/ (timebase:elapsed-ns lap) calls))

(defun c-batch (process reading calls)
  (let ((input (uiop:process-info-input process)))
    (format input "~a ~d~%" reading calls)
    (finish-output input)
    (let ((*read-default-float-format* 'double-float) (*read-eval* nil))
      (read-from-string (read-line (uiop:process-info-output process))))))

(defun participants (process)
  "Of each: what, who, a function that makes a trial."
  (let ((lap (timebase:make-lap (timebase:make-stopwatch))))
    (append
     (loop for (reading who function calls) in *readings*
           collect (let ((function function) (calls calls))
                     (list reading who (lambda () (lisp-batch lap function calls)))))
     (loop for reading in '("utc_ns" "utc_bounded" "mono_ns" "ticks")
           collect (let ((reading reading))
                     (list reading "C inline" (lambda () (c-batch process reading 1000))))))))

(defun print-line (language reading who values)
  (let ((sorted (sort (coerce values 'vector) #'<)))
    (flet ((quantile (share) (aref sorted (floor (* share (length sorted))))))
      (format t "{\"language\": \"~a\", \"reading\": \"~a\", \"who\": \"~a\", ~
                 \"median_ns\": ~,2f, \"p99_ns\": ~,2f, \"trials\": ~d}~%"
              language reading who (quantile 1/2) (quantile 99/100) (length sorted)))))

(defun run (language program trials)
  "All take turns, trial by trial, so that what disturbs one disturbs the others, too. PROGRAM ends with
this process: its input ends then."
  (let* ((process (uiop:launch-program (list program) :input :stream :output :stream))
         (participants (participants process))
         (values (make-array (length participants) :initial-element '())))
    (dotimes (trial trials)
      (loop for (nil nil function) in participants for i from 0
            do (push (funcall function) (aref values i))))
    (loop for (reading who) in participants for i from 0
          do (print-line language reading who (aref values i)))
    (finish-output)))
