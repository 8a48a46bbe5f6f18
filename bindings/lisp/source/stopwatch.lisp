;;;; SPDX-License-Identifier: MIT
;;;; stopwatch: how long a few instructions take, without what the stopwatch itself takes.
;;;;
;;;; The thread "high res timer for CCL" of 2008 reads its timer four times: the first reading is
;;;; cold and thrown away, and (t4 - t3) - (t3 - t2) is the code between t3 and t4 without the timer.
;;;; FOUR-READINGS does just that. A STOPWATCH learns its cost beforehand, from many empty laps, and
;;;; knows the spread.

(in-package #:timebase)

(defconstant +warm-up-laps+ 16)
(defconstant +calibration-laps+ 1001 "Odd, so that the median is one of them.")

(deftype count-of-ticks () "So many that fit into a fixnum: years." '(unsigned-byte 60))

(defstruct (stopwatch (:constructor %make-stopwatch ()) (:copier nil) (:predicate nil))
  "A stopwatch that knows its own cost. It belongs to one thread. Laps of one stopwatch may nest."
  (overhead-ticks 0 :type count-of-ticks)
  (spread-ticks 0 :type count-of-ticks)
  (pair-ticks 0 :type (unsigned-byte 30))
  (granularity-ticks 1 :type count-of-ticks)
  (period-ns 0d0 :type double-float)
  (laps 0 :type count-of-ticks))

(defstruct (lap (:constructor make-lap (&optional (watch (default-stopwatch)))) (:copier nil) (:predicate nil))
  "One lap of a stopwatch: what WITH-STOPWATCH gives its variable."
  (watch nil :type stopwatch)
  (start-ticks 0 :type (unsigned-byte 64))
  (outer-laps 0 :type count-of-ticks))

(document
  stopwatch-overhead-ticks "Median of an empty lap: what is subtracted from each lap."
  stopwatch-spread-ticks "99th percentile of an empty lap less its minimum."
  stopwatch-pair-ticks "What a whole inner lap adds to an outer one, median."
  stopwatch-granularity-ticks "The counter's step, rounded up, at least 1."
  stopwatch-period-ns "The length of a tick in nanoseconds."
  stopwatch-laps "Laps that were stopped so far.")

(document
  make-lap "A lap of a stopwatch, to be started by START-LAP, again and again: no lap conses.")

(declaim (inline start-lap lap-elapsed stop-lap))

(defun start-lap (lap)
  "Start LAP, again if need be: the last thing before what is measured."
  (setf (lap-outer-laps lap) (stopwatch-laps (lap-watch lap))
        (lap-start-ticks lap) (ticks-begin))
  lap)

(defun lap-elapsed (lap stop-ticks)
  "Ticks from the start of LAP to STOP-TICKS, less the cost of the watch and of the laps within."
  (declare (type (unsigned-byte 64) stop-ticks))
  (let* ((watch (lap-watch lap))
         (inner (ldb (byte 30 0) (- (stopwatch-laps watch) (lap-outer-laps lap)))))
    (- (ldb (byte 60 0) (- stop-ticks (lap-start-ticks lap)))
       (stopwatch-overhead-ticks watch)
       (* inner (stopwatch-pair-ticks watch)))))

(defun stop-lap (lap)
  "Ticks since LAP was started, less the cost of the stopwatch and of the laps within. May be slightly
negative if nothing was measured. The lap is counted."
  (let ((ticks (lap-elapsed lap (ticks-end))))
    (incf (stopwatch-laps (lap-watch lap)))
    ticks))

(defun elapsed-ticks (lap)
  "Ticks since LAP was started, less the cost of the stopwatch. The first thing after what is measured."
  (declare (inline lap-elapsed ticks-end))
  (lap-elapsed lap (ticks-end)))

(defun elapsed-ns (lap)
  "Nanoseconds since LAP was started, less the cost of the stopwatch, and as second value the
uncertainty: the spread of empty laps and one step of the counter. Disturbances come on top."
  (let* ((ticks (lap-elapsed lap (ticks-end)))
         (watch (lap-watch lap))
         (inner (- (stopwatch-laps watch) (lap-outer-laps lap))))
    (values (* ticks (stopwatch-period-ns watch))
            (* (+ (* (1+ inner) (stopwatch-spread-ticks watch)) (stopwatch-granularity-ticks watch))
               (stopwatch-period-ns watch)))))

(defun quantile (sorted share)
  "The value of the vector SORTED below which so large a SHARE of it lies."
  (aref sorted (min (1- (length sorted)) (floor (* share (length sorted))))))

(defun period-ns (clock)
  "The length of a tick by CLOCK: a second's worth of ticks, ahead of now."
  (let* ((now (mono-ns clock))
         (ticks (ldb (byte 64 0) (- (ticks-at-mono (+ now 1000000000) clock)
                                    (ticks-at-mono now clock)))))
    (if (zerop ticks) 0d0 (/ 1d9 ticks))))

(defun sorted-laps (function)
  "The results of FUNCTION, called many times after some calls to warm up, in order."
  (loop repeat +warm-up-laps+ do (funcall function))
  (let ((ticks (make-array +calibration-laps+)))
    (dotimes (i +calibration-laps+)
      (setf (aref ticks i) (funcall function)))
    (sort ticks #'<)))

(defun calibrate (watch &optional (clock *clock*))
  "Learn anew what a lap of WATCH costs by itself, and the length of a tick by CLOCK."
  (setf (stopwatch-overhead-ticks watch) 0
        (stopwatch-pair-ticks watch) 0
        (stopwatch-period-ns watch) (period-ns clock))
  (let ((outer (make-lap watch)) (inner (make-lap watch)))
    (let ((empty (sorted-laps (lambda ()
                                (start-lap outer)
                                (stop-lap outer)))))
      (setf (stopwatch-overhead-ticks watch) (max 0 (quantile empty 1/2))
            (stopwatch-spread-ticks watch) (- (quantile empty 99/100) (aref empty 0))
            (stopwatch-granularity-ticks watch) (granularity-ticks)))
    (let ((pairs (sorted-laps (lambda ()
                                (start-lap outer)
                                (start-lap inner)
                                (stop-lap inner)
                                (stop-lap outer)))))
      (setf (stopwatch-pair-ticks watch) (max 0 (quantile pairs 1/2)))))
  (setf (stopwatch-laps watch) 0)
  watch)

(defun make-stopwatch (&optional (clock *clock*))
  "A calibrated STOPWATCH. Takes some milliseconds, by CFFI up to a second; make one for each thread that
measures."
  (calibrate (%make-stopwatch) clock))

(defvar *stopwatch* nil
  "The stopwatch of WITH-STOPWATCH, FOUR-READINGS and BENCH where none is given; NIL until the first
use makes one. Threads that measure at the same time each bind their own.")

(defun default-stopwatch ()
  (or *stopwatch* (setf *stopwatch* (make-stopwatch))))

(defmacro with-stopwatch ((lap &optional (watch '(default-stopwatch))) &body body)
  "BODY with LAP started: (elapsed-ns LAP) says how long it has been, less the cost of the stopwatch.

  (with-stopwatch (s)
    (work)
    (elapsed-ns s))

Laps nest: the cost of an inner one is taken off the outer one. Returns the values of BODY."
  `(let ((,lap (make-lap ,watch)))
     (multiple-value-prog1 (progn (start-lap ,lap) ,@body)
       (incf (stopwatch-laps (lap-watch ,lap))))))

(defmacro four-readings (&body body)
  "Time BODY once, as the thread of 2008 did: four readings of the counter, BODY between the third
and the fourth, (t4 - t3) - (t3 - t2). The value is the time of BODY in nanoseconds; the second value
is a list of t2 - t1 (cold), t3 - t2 (the reading itself) and t4 - t3, in nanoseconds."
  `(call-with-four-readings
    (lambda ()
      (let* ((t1 (ticks-begin)) (t2 (ticks-begin)) (t3 (ticks-begin)))
        ,@body
        (values t1 t2 t3 (ticks-begin))))))

(defun call-with-four-readings (function)
  (multiple-value-bind (t1 t2 t3 t4) (funcall function)
    (flet ((ns (from to)
             (* (ldb (byte 64 0) (- to from)) (stopwatch-period-ns (default-stopwatch)))))
      (values (- (ns t3 t4) (ns t2 t3))
              (list (ns t1 t2) (ns t2 t3) (ns t3 t4))))))
