;;;; SPDX-License-Identifier: MIT
;;;; costs: what a reading costs here, and what it would cost to call C for each.

(in-package #:timebase)

(define-foreign %utc-ns-in-c "timebase_utc_ns" :int64 (clock :address))
(define-foreign %ticks-in-c "timebase_ticks" :uint64)

(defmacro cold-and-warm (form)
  "The steps between four times FORM, a clock in nanoseconds: those of the first round, and the medians
of a hundred."
  `(flet ((steps ()
            (let* ((t1 ,form) (t2 ,form) (t3 ,form) (t4 ,form))
              (list (- t2 t1) (- t3 t2) (- t4 t3)))))
     (let ((rounds (loop repeat 101 collect (steps))))
       (append (first rounds)
               (loop for step in (list #'first #'second #'third)
                     collect (quantile (sort (map 'vector step rounds) #'<) 1/2))))))

(defmacro costs-of (&rest readings)
  "Of each of READINGS, (NAME FORM): (NAME MEASUREMENT)."
  `(list ,@(loop for (name form) in readings
                 collect `(list ,name (measure (lambda () ,form) :trials 301)))))

(defun reading-costs ()
  "What readings cost in this Lisp: a list of (NAME MEASUREMENT). Foreign calls are those that a
reading in C would take; the others are compiled into the caller."
  (let ((address (clock-address *clock*)))
    (costs-of ("ticks" (ticks))
              ("ticks-ordered" (ticks-ordered))
              ("utc-ns" (utc-ns))
              ("utc-ns-unordered" (utc-ns-unordered))
              ("utc-bounds" (utc-bounds))
              ("now" (now))
              ("foreign call of timebase_ticks" (%ticks-in-c))
              ("foreign call of timebase_utc_ns" (%utc-ns-in-c address))
              ("get-internal-real-time" (cl:get-internal-real-time))
              ("get-universal-time" (get-universal-time))
              ;; With CPUID for order: in a virtual machine that is microseconds.
              #+(and sbcl x86-64) ("read-cycle-counter" (sb-impl::read-cycle-counter)))))

(defun print-reading-costs (&optional (stream *standard-output*))
  "Print a table of what readings cost in this Lisp, and of what the first one of four costs."
  (require-library 'print-reading-costs)
  (let ((address (clock-address *clock*)))
    (format stream "~&~32a ~10@a ~10@a ~10@a~%" "" "median ns" "p99 ns" "bytes")
    (loop for (name measured) in (reading-costs)
          do (format stream "~32a ~10,2f ~10,2f ~10@a~%" name (measurement-median-ns measured)
                     (measurement-p99-ns measured)
                     (let ((bytes (measurement-bytes-consed measured)))
                       (if bytes (format nil "~,1f" bytes) "?"))))
    (format stream "~&~32a~{~9@a~}~%" "Four in a row: first, median"
            '("t2-t1" "t3-t2" "t4-t3" "t2-t1" "t3-t2" "t4-t3"))
    (format stream "~32a ~{~9d~}~%" "utc-ns" (cold-and-warm (utc-ns)))
    (format stream "~32a ~{~9d~}~%" "foreign call of timebase_utc_ns"
            (cold-and-warm (%utc-ns-in-c address)))
    (values)))
