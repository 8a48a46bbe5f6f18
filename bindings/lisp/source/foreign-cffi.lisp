;;;; SPDX-License-Identifier: MIT
;;;; foreign-cffi: C functions and C memory by CFFI, for all other Lisps: CCL, CLISP, ABCL, ...

(in-package #:timebase)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun cffi-type (type)
    "What CFFI calls one of our TYPEs: an address is passed as the integer that it is."
    (if (eq type :address) :uint64 type)))

(defmacro define-foreign (name c-name result &rest parameters)
  "NAME calls the C function C-NAME. Each of PARAMETERS is (NAME TYPE). Types are :uint64 :int64
:uint32 :int32 :double, :address (of memory, an integer) and, as a RESULT, :void."
  `(cffi:defcfun (,c-name ,name) ,(cffi-type result)
     ,@(loop for (parameter type) in parameters collect (list parameter (cffi-type type)))))

(defun load-library (name)
  "Make the C functions of the shared library NAME callable. Signals some error if it cannot."
  (cffi:load-foreign-library name))

(defmacro peek (type address offset)
  "The word of TYPE that lies OFFSET bytes after ADDRESS."
  `(cffi:mem-ref (cffi:make-pointer ,address) ,(cffi-type type) ,offset))

(defmacro poke (type address offset value)
  "Put VALUE where (peek TYPE ADDRESS OFFSET) finds it."
  `(setf (cffi:mem-ref (cffi:make-pointer ,address) ,(cffi-type type) ,offset) ,value))

(defmacro with-memory ((address size) &body body)
  "BODY with ADDRESS of SIZE bytes of C memory, 8-byte aligned, until BODY ends. SIZE is a constant."
  (let ((block (gensym "BLOCK")))
    `(cffi:with-foreign-object (,block :uint64 (ceiling ,size 8))
       (let ((,address (cffi:pointer-address ,block)))
         ,@body))))

(defmacro define-called (name (argument) &body body)
  "NAME is a C function with an ARGUMENT, a number in place of a pointer, that evaluates BODY."
  `(cffi:defcallback ,name :void ((,argument :uint64)) ,@body))

(defmacro address-of-called (name)
  `(cffi:pointer-address (cffi:callback ,name)))
