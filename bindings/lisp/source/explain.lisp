;;;; SPDX-License-Identifier: MIT
;;;; explain: in words, what keeps a file from being a page to follow. C says only of which kind it is.

(in-package #:timebase)

(defun page-constant (name)
  (number-of 'page-constant name))

(defun page-refusal (address size)
  "What is wrong with SIZE bytes at ADDRESS, where a page has room."
  (flet ((half (offset) (peek :uint32 address offset)))
    (let ((version (half (offset-of page version)))
          (features (half (offset-of page incompatible)))
          (counter (half (offset-of page counter-id))))
      (cond ((< size (offset-of page disruption-marker)) ; it does not even say what it is
             (format nil "it has ~d bytes, and a page has ~d" size (page-constant :size)))
            ((/= (half (offset-of page magic)) (page-constant :magic))
             "it is something else, or of a machine with the other byte order")
            ((/= version (page-constant :version))
             (format nil "it is of version ~d, and this library reads ~d" version
                     (page-constant :version)))
            ((< size (page-constant :size))
             (format nil "it was cut short: ~d of ~d bytes" size (page-constant :size)))
            ((/= features 0)
             (format nil "it needs features #x~x, which this library does not know" features))
            ((/= counter (number-of 'counter-id (current-counter)))
             (format nil "it is over the counter ~a (~d), and this process reads ~a"
                     (counter-name counter) counter (counter-name (current-counter))))
            (t "its lines cannot be: it is damaged or forged")))))

(defun staleness (address size)
  "Why nothing is of now in the page of SIZE bytes at ADDRESS, which could be followed; or NIL."
  (let* ((seq (peek :uint64 address (offset-of page seq)))
         (lines (+ (offset-of page copy) (if (oddp seq) (size-of lines) 0)))
         (begin (peek :uint64 address (+ lines (offset-of lines before) (offset-of line start-ticks)))))
    (cond ((< size (page-constant :size)) nil)
          ((zerop seq) "it has no lines yet: its writer has not begun, try again")
          ((< (ticks-ordered) begin) "its lines have not begun: they are of another boot or machine")
          (t (format nil "its time is not the system clock's: it is of another boot, machine or time ~
                          namespace, or the system clock was just stepped; try again in a second")))))

(defun refused-because (path result)
  "What is wrong with the file at PATH that C has refused with RESULT, or NIL. It only explains: the file
is read anew. C has seen that it is a regular one where nobody else writes, or RESULT would be another."
  (let ((kind (enumerated 'error-code result)))
    (when (member kind '(:format :unsupported :stale))
      (ignore-errors
        (let* ((octets (read-octets (if (stringp path) (uiop:parse-native-namestring path) path)))
               (page (make-page octets)))
          (unwind-protect (funcall (if (eq kind :stale) #'staleness #'page-refusal)
                                   (page-address page) (length octets))
            (free-page page)))))))
