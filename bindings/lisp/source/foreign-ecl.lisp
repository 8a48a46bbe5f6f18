;;;; SPDX-License-Identifier: MIT
;;;; foreign-ecl: C functions and C memory by c-inline: the compiled code has the call itself.

(in-package #:timebase)

(defmacro c-headers ()
  "In each file that has C of its own."
  '(ffi:clines "#include <stdlib.h>" "#include <sys/mman.h>" "#include <fcntl.h>"
               "#include <unistd.h>" "#include <timebase.h>"))

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun inline-type (type)
    "What c-inline calls one of our TYPEs."
    (ecase type
      ((:uint64 :address) :uint64-t)
      (:int64 :int64-t)
      (:uint32 :uint32-t)
      (:int32 :int32-t)
      (:uint8 :uint8-t)
      (:double :double)
      (:void :void)))

  (defun c-type (type)
    (ecase type
      (:uint64 "uint64_t") (:int64 "int64_t") (:uint32 "uint32_t") (:int32 "int32_t")
      (:uint8 "uint8_t") (:double "double")))

  (defun c-call (c-name result types)
    "The C text that calls C-NAME with arguments of TYPES."
    (let ((arguments
            (loop for type in types for i from 0
                  collect (format nil (if (eq type :address) "(void*)(uintptr_t)(#~36r)" "(#~36r)")
                                  i))))
      (format nil "~:[~;(uint64_t)(uintptr_t)~]~a(~{~a~^, ~})"
              (eq result :address) c-name arguments))))

(defmacro define-foreign (name c-name result &rest parameters)
  "NAME calls the C function C-NAME. Each of PARAMETERS is (NAME TYPE). Types are :uint64 :int64
:uint32 :int32 :double, :address (of memory, an integer) and, as a RESULT, :void."
  (let ((names (mapcar #'first parameters)) (types (mapcar #'second parameters)))
    `(progn
       (c-headers)
       (defun ,name ,names
         (ffi:c-inline ,names ,(mapcar #'inline-type types) ,(inline-type result)
                       ,(c-call c-name result types) :one-liner t)))))

(defun load-library (name)
  "Make the C functions of the shared library NAME callable. Signals some error if it cannot."
  ;; For all code that is loaded later: it names C's functions as C code does.
  (si:load-foreign-module name))

(defmacro peek (type address offset)
  "The word of TYPE that lies OFFSET bytes after ADDRESS."
  (if (eq type :address)
      `(peek :uint64 ,address ,offset)
      `(ffi:c-inline (,address ,offset) (:uint64-t :uint64-t) ,(inline-type type)
                     ,(format nil "*(~a *)(uintptr_t)(#0 + #1)" (c-type type)) :one-liner t)))

(defmacro poke (type address offset value)
  "Put VALUE where (peek TYPE ADDRESS OFFSET) finds it."
  (if (eq type :address)
      `(poke :uint64 ,address ,offset ,value)
      `(ffi:c-inline (,address ,offset ,value) (:uint64-t :uint64-t ,(inline-type type)) :void
                     ,(format nil "*(~a *)(uintptr_t)(#0 + #1) = #2;" (c-type type)))))

(defmacro with-memory ((address size) &body body)
  "BODY with ADDRESS of SIZE bytes of C memory, 8-byte aligned, until BODY ends. SIZE is a constant."
  (let ((block (gensym "BLOCK")))
    ;; Of the collector, which does not move it, and frees it: what SI:ALLOCATE-FOREIGN-DATA gives it
    ;; does not.
    `(let* ((,block (make-array ,(ceiling (eval size) 8) :element-type '(unsigned-byte 64)))
            (,address (ffi:c-inline (,block) (:object) :uint64-t
                                    "(uint64_t)(uintptr_t)(#0)->vector.self.b64" :one-liner t)))
       (declare (type (unsigned-byte 64) ,address))
       (multiple-value-prog1 (progn ,@body)
         ;; Referred to until here.
         (ffi:c-inline (,block) (:object) :void "(void)(#0)" :one-liner t)))))

(defmacro define-called (name (argument) &body body)
  "NAME is a C function with an ARGUMENT, a number in place of a pointer, that evaluates BODY."
  `(ffi:defcallback ,name :void ((,argument :uint64-t)) ,@body))

(defmacro address-of-called (name)
  `(si:foreign-data-address (ffi:callback ',name)))
