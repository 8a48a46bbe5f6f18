;;;; SPDX-License-Identifier: MIT
;;;; vectors: every vector of spec/vectors, hostile ones included. TIMEBASE_VECTORS is what
;;;; tests/sexp-vectors has printed.

(in-package #:timebase-test)

(defun vectors (predicate)
  (with-open-file (file (environment "TIMEBASE_VECTORS"))
    (let ((*read-eval* nil) (*package* (find-package "KEYWORD")))
      (loop for vector = (read file nil)
            while vector when (funcall predicate vector) collect vector))))

(defun page-vectors ()
  (vectors (lambda (vector) (getf vector :page-hex))))

(defun octets (hex)
  (let ((octets (make-array (floor (length hex) 2) :element-type '(unsigned-byte 8))))
    (dotimes (i (length octets) octets)
      (setf (aref octets i) (parse-integer hex :start (* 2 i) :end (* 2 (1+ i)) :radix 16)))))

(defmacro with-vector-page ((page vector) &body body)
  `(let ((,page (timebase:make-page (octets (getf ,vector :page-hex)))))
     (unwind-protect (progn ,@body)
       (timebase:free-page ,page))))

(defun verdict (page)
  "What validating PAGE says, as the vectors have it."
  (handler-case (progn (timebase:page-validate page) 0)
    (timebase:timebase-error (condition)
      (format nil "TIMEBASE_E_~a" (substitute #\_ #\- (symbol-name
                                                       (timebase:error-code condition)))))))

(deftest every-page-is-judged-as-specified ()
  (let ((vectors (page-vectors)))
    (dolist (vector vectors)
      (with-vector-page (page vector)
        (check (equal (verdict page) (getf vector :valid)) "~a: ~a, not ~a" (getf vector :name)
               (verdict page) (getf vector :valid))))
    (check (> (count 0 vectors :key (lambda (vector) (getf vector :valid))) 50))
    (check (> (count 0 vectors :key (lambda (vector) (getf vector :valid)) :test-not #'equal) 20))
    (format nil "~d pages" (length vectors))))

(defun expect-instant (instant read name)
  (check instant "~a, tick ~a: nothing" name (getf read :ticks))
  (loop for (key reader) on (list :ticks #'timebase:instant-ticks
                                  :mono-ns #'timebase:instant-mono-ns
                                  :utc-ns #'timebase:instant-utc-ns
                                  :tai-ns #'timebase:instant-tai-ns
                                  :maxerror-ns #'timebase:instant-maxerror-ns
                                  :utc-maxerror-ns #'timebase:instant-utc-maxerror-ns
                                  :esterror-ns #'timebase:instant-esterror-ns
                                  :flags #'timebase:instant-flags)
          by #'cddr
        do (check (= (getf read key) (funcall reader instant)) "~a, tick ~a: ~(~a~) is ~a, not ~a"
                  name (getf read :ticks) key (funcall reader instant) (getf read key))))

(defun each-read (function)
  "Call FUNCTION with the page, each read and the name of each valid vector; how many reads."
  (let ((count 0))
    (dolist (vector (page-vectors) count)
      (when (eql 0 (getf vector :valid))
        (with-vector-page (page vector)
          (dolist (read (getf vector :reads))
            (incf count)
            (funcall function page read (getf vector :name))))))))

(deftest every-tick-is-converted-as-specified ()
  (let ((count (each-read (lambda (page read name)
                            (expect-instant (timebase:page-at page (getf read :ticks))
                                            read name)))))
    (check (> count 200))
    (format nil "~d ticks" count)))

#+(and sbcl x86-64 (not timebase-cffi))
(deftest lisp-s-own-reader-says-the-same-of-every-current-tick ()
  (let ((current 0))
    (each-read
     (lambda (page read name)
       (let ((instant (timebase::read-page-at-current (timebase::held-address page)
                                                      (getf read :ticks)
                                                      (timebase:make-instant))))
         (cond ((getf read :is-current)
                (incf current)
                (expect-instant instant read name))
               (t (check (null instant) "~a, tick ~a" name (getf read :ticks)))))))
    (check (> current 100))
    (format nil "~d current ticks" current)))

(deftest every-time-has-its-first-tick ()
  (let ((count 0))
    (dolist (vector (page-vectors))
      (with-vector-page (page vector)
        (dolist (inverse (getf vector :inverse))
          (incf count)
          (let ((mono-ns (getf inverse :mono-ns)))
            (check (= (getf inverse :ticks)
                      (if mono-ns
                          (timebase:page-ticks-at-mono page mono-ns)
                          (timebase:page-ticks-at-utc page (getf inverse :utc-ns))))
                   "~a" (getf vector :name))))))
    (check (plusp count))
    (format nil "~d times" count)))

(deftest a-page-without-lines-says-nothing ()
  (let ((octets (octets (getf (first (page-vectors)) :page-hex))))
    (fill octets 0 :end 8)
    (let ((page (timebase:make-page octets)))
      (check (null (timebase:page-now page)))
      (check (null (timebase:page-at page 1)))
      (check (null (timebase:page-ticks-at-mono page 1)))
      (check (null (timebase:page-ticks-at-utc page 1)))
      (timebase:free-page page)
      (signals timebase:detached (timebase:page-now page)))))

;;; Timelines

(defun write-octets (path octets)
  (ensure-directories-exist path)
  (with-open-file (file path :direction :output :if-exists :supersede
                             :element-type '(unsigned-byte 8))
    (write-sequence octets file)))

(defun timeline-folder (vector number)
  (let ((folder (format nil "~a/timeline-~a/" (environment "TIMEBASE_SCRATCH") number)))
    (ensure-directories-exist folder)
    (dolist (segment (getf vector :segments) folder)
      (write-octets (concatenate 'string folder (getf segment :name))
                    (octets (getf segment :hex))))))

(defun check-past (timeline read name)
  (let ((boot (and (getf read :boot) (octets (getf read :boot)))))
    (flet ((ask () (timebase:timeline-at timeline (getf read :ticks) :boot boot)))
      (if (getf read :error)
          (let ((condition (signals timebase:timebase-error (ask))))
            (check (string= (getf read :error)
                            (format nil "TIMEBASE_E_~a"
                                    (substitute #\_ #\- (symbol-name
                                                         (timebase:error-code condition)))))
                   "~a" name))
          (let ((instant (ask)))
            (check (= (getf read :mono-ns) (timebase:instant-mono-ns instant)) "~a" name)
            (check (= (getf read :utc-ns) (timebase:instant-utc-ns instant)) "~a" name)
            (check (= (getf read :maxerror-ns) (timebase:instant-maxerror-ns instant)) "~a" name)
            (check (= (getf read :flags) (timebase:instant-flags instant)) "~a" name))))))

(deftest every-timeline-tells-the-past-as-specified ()
  (let ((count 0) (number 0))
    (dolist (vector (vectors (lambda (vector) (getf vector :segments))))
      (timebase:with-timeline (timeline (timeline-folder vector (incf number)))
        (check (listp (timebase:timeline-boots timeline)))
        (check (listp (timebase:timeline-gaps timeline)))
        (check (listp (timebase:timeline-damages timeline)))
        (dolist (read (getf vector :reads))
          (incf count)
          (check-past timeline read (getf vector :name)))))
    (check (plusp count))
    (signals timebase:not-found (timebase:open-timeline "/none/at/all"))
    (format nil "~d timelines, ~d ticks" number count)))
