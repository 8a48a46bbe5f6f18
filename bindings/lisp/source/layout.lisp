;;;; SPDX-License-Identifier: MIT
;;;; layout: C's enumerations and structures, declared once, and read as keywords and structures.
;;;;
;;;; Offsets are worked out as C does. tests/layouts.lisp lets a C compiler compare every value,
;;;; offset and size that is declared by these macros with the headers.

(in-package #:timebase)

(defmacro document (&rest texts)
  "TEXTS are names of functions, each with its documentation."
  `(progn ,@(loop for (name text) on texts by #'cddr
                  ;; ECL takes no notice of the standard's way.
                  collect #+ecl `(si::set-documentation ',name 'function ,text)
                          #-ecl `(setf (documentation ',name 'function) ,text))))

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *enumerations* '() "Of each: (NAME C-PREFIX (KEYWORD . VALUE) ...).")
  (defvar *layouts* '() "Of each C structure: (C-NAME SIZE (C-FIELD OFFSET) ...).")

  (defun enumeration (name)
    (or (cddr (assoc name *enumerations*)) (error "No enumeration ~a." name)))

  (defvar *c-fields* '((late-p . "late") (prepared-p . "prepared") (power-hint-p . "power_hint")
                       (disturbances . "disturbance") (class . "counter_class")
                       (reason-bits . "reasons") (warning-p . "warning"))
    "Fields that have other names in C than in Lisp.")

  (defun c-field (name)
    "What C calls the field NAME."
    (or (cdr (assoc name *c-fields*)) (substitute #\_ #\- (string-downcase name))))

  (defun field-size (type)
    (etypecase type
      (cons (ecase (first type)
              ((:enum :flags :flag) 4)
              (:chars (second type))
              (:bytes (second type))
              (:int32s (* 4 (second type)))
              (:uint64s (* 8 (second type)))))
      (keyword (ecase type
                 ((:uint64 :int64 :double :address) 8)
                 ((:uint32 :int32) 4)))))

  (defun field-alignment (type)
    (cond ((or (member type '(:uint64 :int64 :double :address))
               (and (consp type) (eq (first type) :uint64s)))
           8)
          ((and (consp type) (member (first type) '(:chars :bytes))) 1)
          (t 4)))

  (defun align (offset alignment)
    (* alignment (ceiling offset alignment)))

  (defun layout-offsets (fields)
    "The offsets of FIELDS, (NAME TYPE ...) each, and as second value the size of the whole."
    (let ((offset 0) (offsets '()))
      (loop for (nil type) in fields
            do (setf offset (align offset (field-alignment type)))
               (push offset offsets)
               (incf offset (field-size type)))
      (values (nreverse offsets)
              (align offset (reduce #'max fields :key (lambda (field)
                                                        (field-alignment (second field))))))))

  (defun lisp-type (type)
    (case type
      ((:uint64 :address) '(unsigned-byte 64))
      (:int64 '(signed-byte 64))
      (:uint32 '(unsigned-byte 32))
      (:int32 '(signed-byte 32))
      (:double 'double-float)
      (t 't)))

  (defun initial-value (type)
    (case type
      (:double 0d0)
      ((:uint64 :int64 :uint32 :int32 :address) 0)
      (t nil)))

  (defun field-form (type address offset)
    "The form that reads a field of TYPE."
    (if (consp type)
        (destructuring-bind (kind &optional what) type
          (ecase kind
            (:flag `(/= 0 (peek :int32 ,address ,offset)))
            (:enum `(enumerated ',what (peek :int32 ,address ,offset)))
            (:flags `(flagged ',what (peek :uint32 ,address ,offset)))
            (:chars `(peek-text ,address ,offset ,what))
            (:bytes `(peek-octets ,address ,offset ,what))
            (:int32s `(loop for i below ,what collect (peek :int32 ,address (+ ,offset (* 4 i)))))
            (:uint64s `(loop for i below ,what
                             collect (peek :uint64 ,address (+ ,offset (* 8 i)))))))
        `(peek ,type ,address ,offset))))

(defmacro define-enumeration (name c-prefix &body values)
  "Each of VALUES is (KEYWORD NUMBER); C calls it C-PREFIX and the keyword with underscores."
  `(eval-when (:compile-toplevel :load-toplevel :execute)
     (setf *enumerations*
           (cons '(,name ,c-prefix ,@(loop for (key value) in values collect (cons key value)))
                 (remove ',name *enumerations* :key #'first)))))

(defun enumerated (name value)
  "The keyword of VALUE in the enumeration NAME, or VALUE itself if it has none."
  (or (car (rassoc value (enumeration name))) value))

(defun flagged (name value)
  "The keywords of the bits that are set in VALUE."
  (loop for (key . bit) in (enumeration name)
        when (logtest bit value) collect key))

(defun number-of (name designator)
  "The number of a keyword of the enumeration NAME, or the sum of a list of keywords."
  (flet ((one (key)
           (or (cdr (assoc key (enumeration name)))
               (error 'invalid-argument :operation name
                      :detail (format nil "~s is none of ~{~s~^ ~}" key
                                      (mapcar #'car (enumeration name)))))))
    (if (listp designator)
        (reduce #'logior designator :key #'one :initial-value 0)
        (one designator))))

(defun peek-octets (address offset count)
  (let ((octets (make-array count :element-type '(unsigned-byte 8))))
    (dotimes (i count octets)
      (setf (aref octets i) (peek :uint8 address (+ offset i))))))

(defun peek-text (address offset &optional (room most-positive-fixnum))
  "The ASCII text at ADDRESS + OFFSET, up to its end or ROOM characters."
  (with-output-to-string (text)
    (loop for i below room
          for code = (peek :uint8 address (+ offset i))
          until (zerop code) do (write-char (code-char code) text))))

(defmacro define-structure (name c-name documentation &body fields)
  "A Lisp structure NAME of the fields of a C structure, and (read-NAME ADDRESS [INTO]).
Each of FIELDS is (NAME TYPE DOCUMENTATION); one without documentation is in C alone."
  (multiple-value-bind (offsets size) (layout-offsets fields)
    (let ((shown (remove-if-not #'third fields))
          (reader (intern (format nil "READ-~a" name)))
          (maker (intern (format nil "MAKE-~a" name))))
      (flet ((accessor (field) (intern (format nil "~a-~a" name (first field)))))
        `(progn
           (eval-when (:compile-toplevel :load-toplevel :execute)
             (setf *layouts*
                   (cons '(,c-name ,size ,@(loop for (field) in fields for offset in offsets
                                                 collect (list (c-field field) offset)))
                         (remove ,c-name *layouts* :key #'first :test #'string=))
                   (get ',name 'layout) '(,size)))
           (defstruct (,name (:copier nil) (:predicate nil))
             ,documentation
             ,@(loop for (field type) in shown
                     collect `(,field ,(initial-value type) :type ,(lisp-type type))))
           (document ,maker ,(format nil "A new ~a; what is not given is 0." name)
                     ,@(loop for field in shown append (list (accessor field) (third field))))
           (defun ,reader (address &optional (into (,maker)))
             ,@(loop for field in fields for offset in offsets
                     when (third field)
                       collect `(setf (,(accessor field) into)
                                      ,(field-form (second field) 'address offset)))
             into))))))

(defmacro define-layout (name c-name &body fields)
  "A C structure that is read word by word where it lies: (offset-of NAME FIELD), (size-of NAME)."
  (multiple-value-bind (offsets size) (layout-offsets fields)
    `(eval-when (:compile-toplevel :load-toplevel :execute)
       (setf (get ',name 'layout)
             '(,size ,@(loop for (field type) in fields for offset in offsets
                             collect (list field type offset)))
             *layouts*
             (cons '(,c-name ,size ,@(loop for (field) in fields for offset in offsets
                                           collect (list (c-field field) offset)))
                   (remove ,c-name *layouts* :key #'first :test #'string=))))))

(defmacro size-of (name) (first (get name 'layout)))

(defmacro offset-of (name field)
  (third (or (assoc field (rest (get name 'layout)))
             (error "No field ~a in ~a." field name))))
