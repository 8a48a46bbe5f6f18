;;;; SPDX-License-Identifier: MIT
;;;; granularity: the step of counters that are made up, as tests/unit/counter_granularity.c has it for
;;;; C.

(in-package #:timebase-test)

(defparameter *steps* '((1 . 1) (2 . 2) (10 . 10) (26 . 26) (49/2 . 25) (3072/125 . 25) (333/10 . 34))
  "Ticks, and what they are told as.")

(defun counter-of-step (step &key adds-one (apart 30) (seed 7) held-up)
  "A function that reads a counter, each time some 30 ticks later and a little more. ADDS-ONE to a reading
that would equal the one before, as some processors do. HELD-UP before so many readings."
  (let ((instant 1000000) (told 0) (readings 0))
    (lambda ()
      (setf seed (timebase::next-seed seed))
      (incf instant (+ apart (timebase::turns seed)))
      (when (eql (incf readings) held-up)
        (incf instant 100000))
      (let ((shown (floor (* (floor instant step) step))))
        (setf told (if (and adds-one (<= shown told)) (1+ told) shown))))))

(deftest the-step-is-found-whatever-its-length ()
  (loop for (step . expected) in *steps*
        do (dolist (seed '(1 7 1997))
             (let ((found (timebase::granularity-ticks (counter-of-step step :seed seed))))
               (check (= found expected) "~a ticks are told as ~a" step found)))))

(deftest a-one-that-a-processor-adds-does-not-hide-the-step ()
  (dolist (seed '(1 7 1997))
    (check (= 26 (timebase::granularity-ticks
                  (counter-of-step 26 :adds-one t :apart 6 :seed seed))))))

(deftest a-round-that-was-held-up-does-not-hide-the-step ()
  (loop for (step . expected) in *steps*
        do (dolist (held-up '(1 2 3 100 1023))
             (check (= expected (timebase::granularity-ticks
                                 (counter-of-step step :held-up held-up)))))))

(deftest a-fine-counter-is-not-taken-for-a-coarse-one ()
  (let ((now 0) (seed 1))
    (check (= 1 (timebase::granularity-ticks
                 (lambda ()
                   (setf seed (timebase::next-seed seed))
                   (incf now (+ 40 (timebase::turns seed)))))))
    ;; What readings at a constant distance would make of it.
    (check (= 40 (timebase::granularity-ticks (lambda () (incf now 40)))))))

(deftest a-counter-that-wraps-steps-as-others ()
  (let ((counter (counter-of-step 26)))
    (check (= 26 (timebase::granularity-ticks
                  (lambda () (ldb (byte 64 0) (- (funcall counter) 1026000))))))))

(deftest a-counter-that-goes-back-steps-by-one ()
  (let ((now (expt 2 40)))
    (check (= 1 (timebase::granularity-ticks (lambda () (decf now 24)))))))

(deftest the-common-step-is-that-of-few-steps-and-of-nearly-all ()
  (check (= 1 (timebase::common-step '())))
  (check (= 40 (timebase::common-step '(40 80 120))))
  (dotimes (odd 12)
    (check (= 26 (timebase::common-step
                  (loop for i below 512
                        for is-odd = (and (< (floor i 40) odd) (= (mod i 40) 7))
                        collect (+ (* 26 (1+ (mod i 5))) (if is-odd 1 0)))))
           "~d odd ones" odd)))

(deftest short-steps-are-not-taken-for-even ()
  (loop for step from 1 below 12
        for counter = (counter-of-step step)
        do (check (null (timebase::even-step (loop repeat 1024 collect (funcall counter))))
                  "steps of ~d" step)))

(deftest too-few-readings-have-no-even-step ()
  (check (null (timebase::even-step '())))
  (check (null (timebase::even-step '(1000)))))

(deftest a-counter-that-stands-still-steps-by-one ()
  (check (= 1 (timebase::granularity-ticks (constantly 5)))))

(deftest a-stopwatch-knows-the-step-of-this-machine ()
  (let ((ticks (timebase:stopwatch-granularity-ticks (timebase:make-stopwatch))))
    (check (plusp ticks))
    (format nil "~d ticks" ticks)))
