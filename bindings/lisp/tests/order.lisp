;;;; SPDX-License-Identifier: MIT
;;;; order: the instructions of SBCL's readings: fences, the counter among the loads, no call, no
;;;; allocation.

(in-package #:timebase-test)

(defun code-octets (function)
  "The machine code of FUNCTION, compiled alone, from its entry on: before it lie data, which would
lead a disassembler astray."
  (let* ((entry (+ (- (sb-kernel:get-lisp-obj-address (sb-kernel:%fun-fun function))
                      sb-vm:fun-pointer-lowtag)
                   (* sb-vm:simple-fun-insts-offset sb-vm:n-word-bytes)))
         (code (sb-kernel:fun-code-header (sb-kernel:%fun-fun function)))
         (end (+ (sb-sys:sap-int (sb-kernel:code-instructions code))
                 (sb-kernel:%code-text-size code))))
    (coerce (loop for address from entry below end
                  collect (sb-sys:sap-ref-8 (sb-sys:int-sap address) 0))
            '(vector (unsigned-byte 8)))))

(defun instructions (function)
  "What objdump makes of FUNCTION: a list of lines such as \"mov (%rax),%rcx\"."
  (let ((path (format nil "~a/code.bin" (environment "TIMEBASE_SCRATCH"))))
    (sb-sys:with-pinned-objects (function)
      (write-octets path (code-octets function)))
    (remove nil (mapcar #'instruction-of (objdump "-D" "-b" "binary" "-m" "i386:x86-64" path)))))

(defmacro compiled (form)
  "A function that evaluates FORM inline."
  `(handler-bind ((sb-ext:compiler-note #'muffle-warning))
     (compile nil '(lambda (clock)
                    (declare (type timebase:clock clock) (ignorable clock)
                             (optimize speed (safety 0) (debug 0)))
                    ,form))))

(defun check-order (name function counter)
  "The first look at seq, the counter, the words of the line, the second look: in this order."
  (let* ((instructions (instructions function))
         (counter-at (position-of counter instructions))
         (words (words-of-memory instructions)))
    (check counter-at "~a: no ~a in ~{~a~%~}" name counter instructions)
    (let* ((first-look (find counter-at words :test #'> :from-end t))
           (seq (place-of (nth first-look instructions)))
           (last-look (position seq instructions :from-end t
                                                 :test (lambda (seq instruction)
                                                         (and (search "QWORD PTR [" instruction)
                                                              (string= seq
                                                                       (place-of instruction))))))
           (return (position-of "ret" instructions last-look)))
      (check (< first-look counter-at last-look return) "~a: seq is looked at twice" name)
      (check (search "cmp" (nth (1+ last-look) instructions)) "~a: and compared" name)
      (check (search "j" (nth (+ 2 last-look) instructions)) "~a: and decides" name)
      ;; start_ticks, refresh_ticks, period_frac, the time.
      (check (>= (count-if (lambda (i) (< counter-at i last-look)) words) 4)
             "~a: the line is read between the counter and the last look" name)
      (check (notany (lambda (i) (< last-look i return)) words)
             "~a: nothing of the page is read after the last look" name))))

(deftest the-counter-is-read-between-the-looks-at-seq ()
  (check-order 'utc-ns (compiled (timebase:utc-ns clock)) "rdtscp")
  (check-order 'mono-ns (compiled (timebase:mono-ns clock)) "rdtscp")
  (check-order 'tai-ns (compiled (timebase:tai-ns clock)) "rdtscp")
  (check-order 'utc-ns-unordered (compiled (timebase:utc-ns-unordered clock)) "rdtsc")
  (check-order 'utc-bounds (compiled (timebase:utc-bounds clock)) "rdtscp"))

(deftest a-stopwatch-s-readings-are-fenced-on-both-sides ()
  (flet ((after (text instructions from)
           (check (position-of text instructions from) "no ~a" text)))
    (let* ((begin (instructions (compiled (timebase::%ticks-begin))))
           (rdtsc (position-of "rdtsc" begin)))
      (check (< (position-of "lfence" begin) rdtsc))
      (after "lfence" begin rdtsc))
    (let ((end (instructions (compiled (timebase::%ticks-end)))))
      (after "lfence" end (position-of "rdtscp" end)))))

(deftest disassemble-shows-the-fences ()
  (let ((text (with-output-to-string (stream)
                (disassemble (compiled (timebase::%ticks-begin)) :stream stream))))
    (check (< (search "LFENCE" text) (search "RDTSC" text) (search "LFENCE" text :from-end t)))))

(deftest neither-cpuid-nor-a-call-is-on-the-way ()
  (let* ((function (compiled (timebase:utc-ns clock)))
         (instructions (instructions function))
         (calls (count-if (lambda (i) (eql 0 (search "call" i))) instructions)))
    (check (null (position-of "cpuid" instructions)))
    ;; One: the slow path.
    (check (<= calls 1) "~d calls" calls)
    (check (position-of "cpuid" (instructions (compiled (sb-impl::read-cycle-counter))))
           "what SBCL itself does")))

;;; Allocation

(declaim (inline next-allocation))
(defun next-allocation ()
  "Where this thread allocates next. SBCL's count of bytes is of all threads, its own among them."
  (flet ((next (slot)
           (the (unsigned-byte 60) (sb-sys:sap-int (sb-vm::current-thread-offset-sap slot)))))
    (declare (inline next))
    (+ (next sb-vm::thread-cons-tlab-slot) (next sb-vm::thread-mixed-tlab-slot)
       (next sb-vm::thread-boxed-tlab-slot))))

(defmacro allocates-p (count &body body)
  `(progn
     (sb-vm::close-thread-alloc-region)
     (let ((before (next-allocation)))
       (loop repeat ,count do ,@body)
       (/= before (next-allocation)))))

(defvar *sink* 0)

(defmacro allocating-readings (&rest readings)
  `(list ,@(loop for reading in readings
                 collect `(list ',reading
                                (funcall (compile nil '(lambda (into)
                                                        (declare (ignorable into))
                                                        (allocates-p 1000000
                                                          (setf *sink* ,reading))))
                                         (timebase:make-instant))))))

(deftest no-reading-allocates-a-byte ()
  (loop for (reading allocates)
          in (allocating-readings
              (timebase:utc-ns) (timebase:utc-ns-unordered) (timebase:mono-ns)
              (timebase:mono-ns-unordered) (timebase:tai-ns) (timebase:ticks)
              (timebase:ticks-ordered) (timebase:utc-ms) (timebase:get-internal-real-time)
              (nth-value 1 (timebase:utc-bounds)) (nth-value 0 (timebase:realtime-bounds))
              (timebase:now timebase:*clock* into)
              (locally (declare (notinline timebase:utc-ns)) (timebase:utc-ns)))
        do (check (not allocates) "~a" reading))
  (check (allocates-p 1 (setf *sink* (list 1))) "a list is not seen")
  (check (allocates-p 1 (setf *sink* (make-array 1))) "an array is not seen"))
