;;;; SPDX-License-Identifier: MIT
;;;; instructions: what x86-64's compiled readings are made of, as objdump tells it: it knows rdtscp,
;;;; which SBCL's own disassembler does not.

(in-package #:timebase-test)

(defun objdump (&rest options)
  "Lines of objdump's, in Intel's syntax."
  (uiop:run-program (list* "objdump" "-M" "intel" options) :output :lines))

(defun instruction-of (line)
  "The instruction in a LINE of objdump's: \"mov rcx,QWORD PTR [rax]\"; or NIL."
  (let ((fields (uiop:split-string line :separator '(#\Tab))))
    (when (= 3 (length fields)) ; place, bytes, instruction
      (string-trim " " (remove-extra-spaces (third fields))))))

(defun remove-extra-spaces (text)
  (with-output-to-string (out)
    (loop for last = #\a then character
          for character across text
          unless (and (char= character last #\Space)) do (write-char character out))))

(defun position-of (text instructions &optional (start 0))
  (position-if (lambda (instruction) (search text instruction)) instructions :start start))

(defun words-of-memory (instructions)
  "Positions of those that load or compare 64 bits of memory but for the stack."
  (loop for instruction in instructions for i from 0
        when (and (search "QWORD PTR [" instruction)
                  ;; The frame's; C may use rbp for another address, but then not below it.
                  (not (search #+sbcl "[rbp" #-sbcl "[rbp-" instruction))
                  (not (search "[rsp" instruction))
                  (not (search "lea " instruction)) (not (search "[rip" instruction)))
          collect i))

(defun place-of (instruction)
  "The operand in memory of INSTRUCTION: \"[r8]\"."
  (subseq instruction (position #\[ instruction) (1+ (position #\] instruction))))
