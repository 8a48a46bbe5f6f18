;;;; SPDX-License-Identifier: MIT
;;;; granularity: by how many ticks the counter steps: what it can tell apart.
;;;;
;;;; src/clock/counter/granularity.c says why readings are spaced unevenly, and
;;;; src/clock/counter/even_step.c how steps are found that are no whole number of ticks.

(in-package #:timebase)

(defconstant +readings-of-round+ 1024)
(defconstant +most-rounds+ 64 "Coarse counters: most readings see no step.")
(defconstant +even-rounds+ 4)
(defconstant +group-steps+ 16)
(defconstant +groups+ 32)

(defconstant +least-ticks+ 12 "Of shorter steps, few readings tell how many they are apart.")
(defconstant +tolerated-ticks+ 2 "What is rounded off, and 1 that some processors add.")
(defconstant +first-ones+ 64 "So many differences tell how far apart readings usually are.")
(defconstant +most-steps+ 256 "Where readings are farther apart, a step is nothing beside that.")

(defvar *pause* 0 "Turns left. A pause is not left out by a compiler, because others could see this.")

(defun next-seed (seed)
  (ldb (byte 32 0) (+ (* seed 1664525) 1013904223)))

(defun turns (seed)
  "How many turns a pause takes: for another seed another number, below 32."
  (ash seed -27))

(defun uneven-readings (read seed)
  "A round of readings of the function READ, each after another pause; and the next round's seed."
  (declare (type function read) (type (unsigned-byte 32) seed))
  (let ((readings (make-array +readings-of-round+)))
    (dotimes (i +readings-of-round+ (values (coerce readings 'list) seed))
      (setf seed (next-seed seed))
      (loop for left of-type fixnum from (turns seed) above 0 do (setf *pause* left))
      (setf (svref readings i) (funcall read)))))

(defun differences (readings)
  (mapcar (lambda (later earlier) (signed-64 (- later earlier))) (rest readings) readings))

(defun median (numbers)
  (let ((sorted (sort (copy-list numbers) #'<)))
    (nth (floor (length sorted) 2) sorted)))

(defun common-step (steps)
  "What nearly all of STEPS are multiples of: the median of the divisors of groups. 1 if there are none."
  (let ((divisors (loop while (nthcdr (1- +group-steps+) steps)
                        collect (apply #'gcd (loop repeat +group-steps+ collect (pop steps))))))
    (if divisors
        (median divisors)
        (max 1 (apply #'gcd steps)))))

(defun explains-p (step ticks)
  "True if nine in ten of TICKS are near a multiple of STEP."
  (let ((explained (count-if (lambda (ticks)
                               (<= (abs (nth-value 1 (round ticks step))) +tolerated-ticks+))
                             ticks)))
    (>= (* 10 explained) (* 9 (length ticks)))))

(defun step-if (ticks difference-ticks difference-steps)
  "The step, if DIFFERENCE-TICKS are DIFFERENCE-STEPS of them; else NIL. Each of TICKS, since the first
reading, tells it closer if it explains that; MOST is the number of steps that told it."
  (let ((step (/ difference-ticks difference-steps)) (most difference-steps)
        (misses-left (floor (length ticks) 10))) ; rationals are slow: a wrong step is soon given up
    (dolist (since ticks)
      (multiple-value-bind (steps off-ticks) (round since step)
        (let ((error-ticks (/ steps most)))
          (cond ((> error-ticks (/ step 4)) ; no telling how many steps it is
                 (return-from step-if nil))
                ((> (abs off-ticks) (+ +tolerated-ticks+ error-ticks))
                 (when (minusp (decf misses-left)) (return-from step-if nil)))
                ((> steps most)
                 (setf step (/ since steps) most steps))))))
    (when (explains-p step ticks)
      (multiple-value-bind (whole off-ticks) (round step)
        (if (<= (* (abs off-ticks) most) +tolerated-ticks+) whole step)))))

(defun even-step (readings)
  "How far the counter steps: ticks, which need not be whole ones. NIL if it does not step evenly, or by
fewer than 12."
  (let* ((differences (differences readings))
         (usual (median (subseq differences 0 (min +first-ones+ (length differences)))))
         (ticks (mapcar (lambda (reading) (signed-64 (- reading (first readings)))) (rest readings))))
    (when usual
      (loop for steps from 1 to +most-steps+
            while (>= usual (* +least-ticks+ steps))
            thereis (step-if ticks usual steps)))))

(defun granularity-ticks (&optional (read #'ticks))
  "The step of the counter that READ reads, rounded up; at least 1."
  (let ((seed 1) (steps '()))
    (loop for round from 0 below +most-rounds+
          until (and (>= round +even-rounds+) (>= (length steps) (* +groups+ +group-steps+)))
          do (multiple-value-bind (readings next) (uneven-readings read seed)
               (let ((even (even-step readings)))
                 (when even (return-from granularity-ticks (values (ceiling even)))))
               (setf seed next
                     steps (nconc (remove-if-not #'plusp (differences readings)) steps))))
    (common-step steps)))
