;;;; SPDX-License-Identifier: MIT
;;;; order-ecl: the instructions of ECL's readings, in the file that was compiled and is loaded: the
;;;; counter among the loads, and no call of C on the way.

(in-package #:timebase-test)

(defun compiled-readings ()
  "The shared object that reading-ecl.lisp was compiled to."
  (let ((files (asdf:output-files 'asdf:compile-op
                                  (asdf:find-component "timebase" '("source" "reading-ecl")))))
    (namestring (or (find "fas" files :key #'pathname-type :test #'string=)
                    (fail "no .fas among ~a" files)))))

(defun functions-of (lines)
  "Of each function in LINES of objdump's: (SYMBOL INSTRUCTION ...)."
  (let ((functions '()))
    (dolist (line lines functions)
      (let ((begin (position #\< line)) (end (search ">:" line)) (instruction (instruction-of line)))
        (cond ((and end begin (not instruction)) (push (list (subseq line (1+ begin) end)) functions))
              ((and instruction functions)
               (setf (first functions) (nconc (first functions) (list instruction)))))))))

(defun is-named (name symbol)
  "ECL calls the function NAME L7NAME, or with another number."
  (let ((from (and (char= #\L (char symbol 0)) (position-if-not #'digit-char-p symbol :start 1))))
    (and from (string= name symbol :start2 from))))

(defvar *readings* nil "What FUNCTIONS-OF gives of the readings.")

(defun reading (name)
  "The instructions of a function."
  (unless *readings*
    (setf *readings* (functions-of (objdump "-d" (compiled-readings)))))
  (or (rest (find-if (lambda (function) (is-named name (first function))) *readings*))
      (fail "no function ~a in ~a" name (compiled-readings))))

(defun check-looks (name counter)
  "The first look at seq, the counter, the words of the line, the second look, and a jump by it."
  (let* ((instructions (reading name))
         (words (words-of-memory instructions))
         (counter-at (or (position-of counter instructions) (fail "~a: no ~a" name counter)))
         (first-look (find counter-at words :test #'> :from-end t))
         (seq (place-of (nth first-look instructions)))
         (last-look (find-if (lambda (i) (and (> i counter-at)
                                              (string= seq (place-of (nth i instructions)))))
                             words)))
    (check last-look "~a: one look at seq" name)
    (check (>= (count-if (lambda (i) (< counter-at i last-look)) words) 4)
           "~a: the line is read between the counter and the last look" name)
    (check (notany (lambda (instruction) (eql 0 (search "call" instruction)))
                   (subseq instructions first-look last-look))
           "~a: no call between the looks" name)
    (let ((compared (position-of "cmp" instructions last-look)))
      (check (and compared (<= compared (+ 3 last-look))) "~a: they are compared" name)
      (check (eql 0 (search "j" (nth (1+ compared) instructions))) "~a: and that decides" name))))

(deftest the-counter-is-read-between-the-looks-at-seq ()
  (dolist (name '("utc_ns" "mono_ns" "tai_ns" "utc_bounds" "realtime_bounds"))
    (check-looks name "rdtscp"))
  (dolist (name '("utc_ns_unordered" "mono_ns_unordered" "tai_ns_unordered"))
    (check-looks name "rdtsc")
    (check (null (position-of "rdtscp" (reading name))) "~a: rdtscp" name)))

(deftest a-stopwatch-s-readings-are-fenced-on-both-sides ()
  (let* ((begin (reading "ticks_begin")) (rdtsc (position-of "rdtsc" begin)))
    (check (equal (list "lfence" "rdtsc" "lfence") (subseq begin (1- rdtsc) (+ 2 rdtsc)))))
  (let* ((end (reading "ticks_end")) (rdtscp (position-of "rdtscp" end)))
    (check (string= "lfence" (nth (1+ rdtscp) end)))))

(deftest stamps-are-one-instruction ()
  (check (position-of "rdtscp" (reading "ticks_ordered")))
  (check (null (position-of "rdtscp" (reading "ticks")))))
