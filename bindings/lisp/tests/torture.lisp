;;;; SPDX-License-Identifier: MIT
;;;; torture: readings while bindings/conformance/writer publishes millions of pages a second. Its law
;;;; is in bindings/conformance/law.h: each number says something else in every word.

(in-package #:timebase-test)

(timebase::define-foreign %open "open" :int32 (path :address) (flags :int32))
(timebase::define-foreign %mmap "mmap" :address
  (address :address) (length :uint64) (protection :int32) (flags :int32) (file :int32)
  (offset :int64))

(defun map-page (path)
  "The address of the file PATH, mapped for reading."
  (timebase::with-path (name path 'map-page)
    (let ((file (%open name 0)))
      (check (>= file 0))
      (%mmap 0 4096 1 1 file 0))))

(deftype count-of () '(unsigned-byte 60))

(declaim (inline whole-p product))

(defun product (d rate)
  "The law's growth: D and RATE are so small that it is less than 2^52."
  (declare (type (unsigned-byte 42) d) (type (unsigned-byte 10) rate))
  (ash (* d rate) -24))

(defun whole-p (instant t0)
  "Do all words of INSTANT come from one publication? Its number is utc_ns - mono_ns."
  (let* ((n (ldb (byte 34 0) (- (timebase:instant-utc-ns instant)
                                (timebase:instant-mono-ns instant))))
         (d (ldb (byte 42 0) (- (timebase:instant-ticks instant) t0)))
         (bend (* d (1+ (mod n 128))))
         (drift (mod n 1024)))
    (declare (type (unsigned-byte 60) n d) (type (unsigned-byte 60) bend))
    (and (= (timebase:instant-mono-ns instant)
            (+ (ash n 28)
               (if (oddp n) (+ d (ash bend -24)) (- d (ash (+ bend #xffffff) -24)))))
         (= (timebase:instant-maxerror-ns instant)
            (+ (ash 1 20) (* 3 n) (product d drift) (product d (mod (+ n 512) 1024))))
         (= (timebase:instant-utc-maxerror-ns instant)
            (+ (ash 1 32) (* 7 n) (product d drift)))
         (= (timebase:instant-esterror-ns instant)
            (+ (ash 1 20) (* 5 n) (product d (mod (+ n 256) 1024))))
         (= (timebase:instant-flags instant)
            (logior (ash (mod n 65536) 16) #x12)))))

(defun torture (page count t0)
  "COUNT readings of now: how many were made, had no line, were torn, went backwards."
  (declare (type (unsigned-byte 64) page t0) (type count-of count) (optimize speed))
  (let ((into (timebase:make-instant)) (latest 0) (read 0) (none 0) (torn 0) (backwards 0))
    (declare (type count-of read none torn backwards) (type (unsigned-byte 62) latest))
    (loop while (< read count)
          do (cond ((null (timebase::read-page-now page into)) (incf none))
                   (t (incf read)
                      (cond ((not (whole-p into t0)) (incf torn))
                            ((< (timebase:instant-mono-ns into) latest) (incf backwards))
                            (t (setf latest (ldb (byte 62 0) (timebase:instant-mono-ns into))))))))
    (values read none torn backwards)))

(defun launch-writer (path options)
  "A stream of what the writer prints, its process id first: one that is to be killed."
  (let ((command (format nil "echo $$; exec ~a~{ ~a~} ~a 290" (environment "TIMEBASE_WRITER")
                         options path)))
    #+clisp (ext:run-program "/bin/sh" :arguments (list "-c" command) :output :stream :wait nil)
    #-clisp (uiop:process-info-output
             (uiop:launch-program (list "/bin/sh" "-c" command) :output :stream))))

(defun kill-process (id)
  "Not waited for: it has nothing to say any more."
  (uiop:run-program (format nil "kill -9 ~d; true" id)))

(defun process-alive-p (id)
  "A writer that nobody has waited for is a zombie when it has ended: signals reach it, it does nothing."
  (let ((look "grep -qs '^State:.[^XZ]' /proc/~d/status && echo alive; true"))
    (search "alive" (uiop:run-program (format nil look id) :output :string))))

(defmacro with-writer ((page t0 &rest options) &body body)
  "BODY with the page that a live writer writes, and its first tick; (AT-WORK-P) says whether the writer
still is: it lives for 290 seconds."
  (let ((output (gensym "OUTPUT")) (path (gensym "PATH")) (id (gensym "ID")))
    `(let* ((,path (format nil "~a/torture-~a" (environment "TIMEBASE_SCRATCH")
                           (timebase:ticks-os)))
            (,output (launch-writer ,path ',options))
            (,id (parse-integer (read-line ,output))))
       (unwind-protect
            (progn
              (check (string= "publishing" (read-line ,output)))
              (let* ((,page (map-page ,path))
                     (,t0 (timebase::peek :uint64 ,page 32)))
                (flet ((at-work-p () (process-alive-p ,id)))
                  (declare (ignorable #'at-work-p))
                  ,@body)))
         (kill-process ,id)
         (ignore-errors (close ,output))
         (ignore-errors (delete-file ,path))))))

(defparameter *least-reads*
  #+(and (or sbcl ecl) (not timebase-cffi)) 2000000
  #-(and (or sbcl ecl) (not timebase-cffi)) 20000)

(defconstant +reads-of-a-writer+ 10000000)
(defconstant +reads-of-a-look+ 100000)
(defconstant +lives+ 1000 "Of writers, on a machine that is too slow for all readings in one: days.")

(defun found-of-a-life (count)
  "What COUNT readings find, or as many as a writer lives for. Only those are counted to whose end it was
at work; what is wrong is, always."
  (let ((found (list 0 0 0 0)))
    (with-writer (page t0)
      (loop for left = (- count (first found))
            while (plusp left)
            do (destructuring-bind (read . wrong)
                   (multiple-value-list (torture page (min left +reads-of-a-look+) t0))
                 (let ((is-at-work (at-work-p)))
                   (setf found (mapcar #'+ found (cons (if is-at-work read 0) wrong)))
                   (unless is-at-work (return))))))
    found))

(deftest no-reading-is-torn-and-none-goes-back ()
  (let ((count (reads *least-reads*)) (found (list 0 0 0 0)))
    (loop repeat +lives+
          for left = (- count (first found))
          while (plusp left)
          do (setf found (mapcar #'+ found (found-of-a-life (min left +reads-of-a-writer+)))))
    (destructuring-bind (read none torn backwards) found
      (check (= read count))
      (check (zerop torn) "~d of ~d torn" torn read)
      (check (zerop backwards) "~d of ~d backwards" backwards read)
      (format nil "~d readings, ~d without a line, 0 torn, 0 backwards" read none))))

(deftest a-writer-without-the-protocol-is-noticed ()
  (with-writer (page t0 "--broken")
    ;; A bound of work: torn readings are frequent here.
    (loop repeat 1000
          for torn = (nth-value 2 (torture page 10000 t0))
          until (plusp torn)
          finally (check (plusp torn) "a broken writer is not noticed")
                  (return (format nil "~d of 10000 torn" torn)))))
