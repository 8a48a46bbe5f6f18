;;;; SPDX-License-Identifier: MIT
;;;; foreign-sbcl: C functions and C memory by sb-alien, which SBCL has on every processor.

(in-package #:timebase)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun alien-type (type)
    "What sb-alien calls one of our TYPEs."
    (ecase type
      ((:uint64 :address) '(sb-alien:unsigned 64))
      (:int64 '(sb-alien:signed 64))
      (:uint32 '(sb-alien:unsigned 32))
      (:int32 '(sb-alien:signed 32))
      (:double 'sb-alien:double)
      (:void 'sb-alien:void))))

(defmacro define-foreign (name c-name result &rest parameters)
  "NAME calls the C function C-NAME. Each of PARAMETERS is (NAME TYPE). Types are :uint64 :int64
:uint32 :int32 :double, :address (of memory, an integer) and, as a RESULT, :void."
  `(progn
     (declaim (inline ,name))
     (defun ,name ,(mapcar #'first parameters)
       (sb-alien:alien-funcall
        (sb-alien:extern-alien ,c-name
                               (function ,(alien-type result)
                                         ,@(mapcar (lambda (parameter)
                                                     (alien-type (second parameter)))
                                                   parameters)))
        ,@(mapcar #'first parameters)))))

(defun load-library (name)
  "Make the C functions of the shared library NAME callable. Signals some error if it cannot."
  (sb-alien:load-shared-object name))

(defmacro peek (type address offset)
  "The word of TYPE that lies OFFSET bytes after ADDRESS."
  (let ((place `(sb-sys:int-sap (+ ,address ,offset))))
    (ecase type
      ((:uint64 :address) `(sb-sys:sap-ref-64 ,place 0))
      (:int64 `(sb-sys:signed-sap-ref-64 ,place 0))
      (:uint32 `(sb-sys:sap-ref-32 ,place 0))
      (:int32 `(sb-sys:signed-sap-ref-32 ,place 0))
      (:uint8 `(sb-sys:sap-ref-8 ,place 0))
      (:double `(sb-sys:sap-ref-double ,place 0)))))

(defmacro poke (type address offset value)
  "Put VALUE where (peek TYPE ADDRESS OFFSET) finds it."
  `(setf (peek ,type ,address ,offset) ,value))

(defmacro with-memory ((address size) &body body)
  "BODY with ADDRESS of SIZE bytes of C memory, 8-byte aligned, until BODY ends. SIZE is a constant."
  (let ((block (gensym "BLOCK")))
    `(sb-alien:with-alien ((,block (array (sb-alien:unsigned 64) ,(ceiling (eval size) 8))))
       (let ((,address (sb-sys:sap-int (sb-alien:alien-sap ,block))))
         (declare (type (unsigned-byte 64) ,address))
         ,@body))))

(defmacro define-called (name (argument) &body body)
  "NAME is a C function with an ARGUMENT, a number in place of a pointer, that evaluates BODY."
  `(defun ,name ()
     ;; Compiled when it is first called for: an image that is saved before has none of another run.
     (sb-alien::alien-lambda sb-alien:void ((,argument (sb-alien:unsigned 64))) ,@body)))

(defmacro address-of-called (name)
  `(sb-sys:sap-int (sb-alien:alien-sap (,name))))
