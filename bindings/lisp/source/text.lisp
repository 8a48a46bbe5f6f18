;;;; SPDX-License-Identifier: MIT
;;;; text: paths for C.

(in-package #:timebase)

(defun code-points (text)
  "The codes of TEXT's characters. Where characters have 16 bits, as in ABCL, two of them may be one."
  (let ((points '()))
    (loop for code across (map 'vector #'char-code text)
          do (if (and points (<= #xd800 (first points) #xdbff) (<= #xdc00 code #xdfff))
                 (push (+ #x10000 (ash (- (pop points) #xd800) 10) (- code #xdc00)) points)
                 (push code points)))
    (nreverse points)))

(defun utf-8 (text)
  "The octets of TEXT in UTF-8."
  (let ((octets (make-array (length text) :element-type '(unsigned-byte 8) :adjustable t
                                          :fill-pointer 0)))
    (flet ((put (octet) (vector-push-extend octet octets)))
      (loop for code in (code-points text)
            for more = (cond ((< code #x80) 0) ((< code #x800) 1) ((< code #x10000) 2) (t 3))
            do (put (logior (aref #(0 #xc0 #xe0 #xf0) more) (ash code (* -6 more))))
               (loop for i from (1- more) downto 0
                     do (put (logior #x80 (ldb (byte 6 (* 6 i)) code)))))
      octets)))

(defun path-octets (path operation)
  "PATH, a string or pathname, as C wants it; signals INVALID-ARGUMENT if C would see less of it."
  (let* ((name (if (pathnamep path) (uiop:native-namestring path) path))
         (octets (utf-8 name)))
    (when (or (zerop (length octets)) (find 0 octets) (> (length octets) 4095))
      (error 'invalid-argument :operation operation :path name
                               :detail "no path: empty, too long, or with a null character"))
    octets))

(defmacro with-path ((address path operation) &body body)
  "BODY with the ADDRESS of PATH as C has it, or 0 if PATH is NIL."
  (let ((octets (gensym "OCTETS")))
    `(let ((,octets (and ,path (path-octets ,path ,operation))))
       (with-memory (,address 4096)
         (loop for octet across (or ,octets #()) for i from 0
               do (poke :uint8 ,address i octet))
         (poke :uint8 ,address (length ,octets) 0)
         (let ((,address (if ,octets ,address 0)))
           ,@body)))))
