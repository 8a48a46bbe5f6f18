;;;; SPDX-License-Identifier: MIT
;;;; counter-x86-64: the Time Stamp Counter as instructions of SBCL's compiler.
;;;;
;;;; The same instructions as include/timebase/arch/x86.h, which says why. SBCL's own
;;;; read-cycle-counter executes CPUID for order, which a virtual machine traps: microseconds.

(in-package #:timebase)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defmacro define-counter-reading (name documentation &rest instructions)
    "A function without arguments that compiles to INSTRUCTIONS, which leave a counter in RDX:RAX."
    (flet ((temporary (register name)
             `(:temporary (:sc sb-vm::unsigned-reg :offset ,register :from :eval :to :result) ,name)))
      `(progn
         (eval-when (:compile-toplevel :load-toplevel :execute)
           (sb-c:defknown ,name () (unsigned-byte 64) () :overwrite-fndb-silently t)
           (sb-c:define-vop (,name)
             (:translate ,name)
             (:policy :fast-safe)
             (:results (ticks :scs (sb-vm::unsigned-reg)))
             (:result-types sb-vm::unsigned-num)
             ,(temporary 'sb-vm::rax-offset 'low)
             ,(temporary 'sb-vm::rdx-offset 'high)
             ,@(when (member :rdtscp instructions) ; which writes the CPU's number there
                 `((:ignore other) ,(temporary 'sb-vm::rcx-offset 'other)))
             (:generator 20
               ,@(loop for instruction in instructions
                       append (ecase instruction
                                (:lfence '((sb-assem:inst sb-x86-64-asm::lfence)))
                                (:rdtsc '((sb-assem:inst sb-x86-64-asm::rdtsc)))
                                ;; SBCL's assembler does not know its name.
                                (:rdtscp '((sb-assem:inst byte #x0f) (sb-assem:inst byte #x01)
                                           (sb-assem:inst byte #xf9)))))
               (sb-assem:inst sb-x86-64-asm::shl high 32)
               (sb-assem:inst sb-x86-64-asm::or low high)
               (sb-vm::move ticks low))))
         (defun ,name ()
           ,documentation
           (,name))))))

(define-counter-reading %ticks
  "The counter, without order."
  :rdtsc)

(define-counter-reading %ticks-ordered
  "The counter, read after all earlier loads have got their values."
  :rdtscp)

(define-counter-reading %ticks-begin
  "The counter: everything before has completed, nothing after has begun."
  :lfence :rdtsc :lfence)

(define-counter-reading %ticks-end
  "The counter: everything before has completed, and nothing after has begun."
  :rdtscp :lfence)
