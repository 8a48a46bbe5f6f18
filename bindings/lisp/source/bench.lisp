;;;; SPDX-License-Identifier: MIT
;;;; bench: how long a form takes, told as TIME tells it: median, tail, uncertainty, what it conses.

(in-package #:timebase)

(defstruct (measurement (:copier nil) (:predicate nil))
  "What MEASURE found. Times in nanoseconds, of one run, less the cost of the stopwatch."
  (trials 0 :type unsigned-byte)
  (collected 0 :type unsigned-byte)
  (runs 1 :type unsigned-byte)
  (least-ns 0d0 :type double-float)
  (median-ns 0d0 :type double-float)
  (p99-ns 0d0 :type double-float)
  (most-ns 0d0 :type double-float)
  (uncertainty-ns 0d0 :type double-float)
  (bytes-consed nil :type (or null real)))

(document
  measurement-trials "Trials that count: those without a garbage collection."
  measurement-collected "Trials that were left out, because a garbage collection fell into them."
  measurement-runs "Runs of the form in each trial, so that a trial is long enough to be measured."
  measurement-least-ns "The shortest trial."
  measurement-median-ns "The median of the trials."
  measurement-p99-ns "So long that 99 of 100 trials took no longer."
  measurement-most-ns "The longest trial."
  measurement-uncertainty-ns "+/- of a trial's time: the spread of empty laps, one counter step."
  measurement-bytes-consed "Bytes that one run allocates, median; NIL if this Lisp does not say.")

(defconstant +least-trial-ns+ 200 "A trial shorter than this would be measured to percents only.")
(defconstant +most-runs+ 10000)

(defun lap-of (lap function runs)
  "Ticks that RUNS calls of FUNCTION take."
  (declare (type function function) (type fixnum runs) (optimize speed))
  (start-lap lap)
  (loop repeat runs do (funcall function))
  (stop-lap lap))

(defun median-of-laps (lap function runs)
  (quantile (sort (coerce (loop repeat 21 collect (lap-of lap function runs)) 'vector) #'<) 1/2))

(defun runs-needed (lap function)
  "How many runs make a trial long enough. Warms FUNCTION up as well."
  (let ((period-ns (stopwatch-period-ns (lap-watch lap))))
    (loop for runs = 1 then (* runs 10)
          for ns = (* period-ns (lap-of lap function runs))
          until (or (>= runs +most-runs+)
                    (and (>= ns +least-trial-ns+)
                         (>= (* period-ns (median-of-laps lap function runs)) +least-trial-ns+)))
          finally (return runs))))

(defun consed-by (function runs)
  "Bytes that RUNS calls of FUNCTION allocate, or NIL if a collection or the Lisp hides it."
  (let* ((epoch (collections)) (before (bytes-consed)))
    (loop repeat runs do (funcall function))
    (let ((after (bytes-consed)))
      (and before (eql epoch (collections)) (- after before)))))

(defun median-consed (function runs)
  "Bytes that a run allocates, the median of some trials of RUNS calls; NIL if nothing can be said."
  (let ((counts (loop repeat 5
                      for bytes = (consed-by function runs)
                      when bytes collect bytes)))
    (when counts
      (/ (quantile (sort (coerce counts 'vector) #'<) 1/2) runs))))

(defun trial-laps (lap function runs empty trials)
  "The ticks of TRIALS trials less those of EMPTY ones, in order; and how many fell to a collection.
Empty trials alternate with the others, so that the cost of the loop and the call is not counted."
  (let ((laps '()) (empties '()) (collected 0))
    (loop with most = (* 4 trials)
          for tried from 0 below most
          while (< (length laps) trials)
          do (push (lap-of lap empty runs) empties)
             (let* ((epoch (collections)) (ticks (lap-of lap function runs)))
               (if (eql epoch (collections)) (push ticks laps) (incf collected))))
    (let ((cost (quantile (sort (coerce empties 'vector) #'<) 1/2)))
      (values (sort (map 'vector (lambda (ticks) (- ticks cost)) laps) #'<) collected))))

(defun measure (function &key (trials 1001) runs (watch (default-stopwatch)))
  "Call FUNCTION often and say how long it takes: a MEASUREMENT. TRIALS trials of RUNS calls each; as
many as make a trial long enough, if RUNS is NIL. Trials into which a garbage collection falls are
left out and counted. The cost of calling an empty function is subtracted."
  (check-type trials (integer 1 1000000))
  (let* ((lap (make-lap watch))
         (function (coerce function 'function))
         (runs (or runs (runs-needed lap function))))
    (multiple-value-bind (laps collected)
        (trial-laps lap function runs (constantly nil) trials)
      (flet ((ns (ticks) (float (/ (* ticks (stopwatch-period-ns watch)) runs) 1d0)))
        (if (zerop (length laps)) ; so long that a collection falls into each
            (make-measurement :collected collected :runs runs)
            (make-measurement
             :trials (length laps) :collected collected :runs runs
             :least-ns (ns (aref laps 0))
             :median-ns (ns (quantile laps 1/2))
             :p99-ns (ns (quantile laps 99/100))
             :most-ns (ns (aref laps (1- (length laps))))
             :uncertainty-ns (ns (+ (stopwatch-spread-ticks watch)
                                    (stopwatch-granularity-ticks watch)))
             :bytes-consed (median-consed function runs)))))))

(defun print-measurement (measurement &optional (stream *trace-output*))
  "Tell MEASUREMENT as TIME would."
  (let ((m measurement))
    (format stream "~&Timing by ~a:~%" *clock*)
    (if (zerop (measurement-trials m))
        (format stream "  no trial without a garbage collection~%")
        (format stream "  ~,2f ns median, ~,2f ns p99, +/- ~,2f ns~%  ~
                        ~,2f ns least, ~,2f ns most~%"
                (measurement-median-ns m) (measurement-p99-ns m) (measurement-uncertainty-ns m)
                (measurement-least-ns m) (measurement-most-ns m)))
    (format stream "  ~:[not known how many~;~:*~,2f~] bytes consed a run~%"
            (measurement-bytes-consed m))
    (format stream "  ~d trial~:p of ~d run~:p; ~d left out for garbage collections~%"
            (measurement-trials m) (measurement-runs m) (measurement-collected m))
    measurement))

(defmacro bench (form &rest options)
  "Evaluate FORM as often as MEASURE needs, tell on *TRACE-OUTPUT* how long it takes, and return the
values of its last run, as TIME does. OPTIONS are those of MEASURE: (bench (work) :trials 100)."
  (let ((values (gensym "VALUES")) (measured (gensym "MEASURED")))
    `(let ((,values '()))
       (flet ((,measured () ,form))
         (print-measurement (measure #',measured ,@options))
         (setf ,values (multiple-value-list (,measured))))
       (values-list ,values))))
