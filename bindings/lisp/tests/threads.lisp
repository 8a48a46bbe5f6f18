;;;; SPDX-License-Identifier: MIT
;;;; threads: stamps from any thread are in order.

(in-package #:timebase-test)

(defparameter *threads* 4)
(defparameter *stamps* 20000)

(defstruct baton
  "The latest stamp, handed on from thread to thread."
  #+sbcl (stamp 0 :type sb-ext:word)
  #-sbcl (stamp 0)
  (backwards 0))

(defmacro with-baton-lock ((lock) &body body)
  #+sbcl `(sb-thread:with-mutex (,lock) ,@body)
  #+ecl `(mp:with-lock (,lock) ,@body))

(defun take-turns (lock baton)
  "Stamp while holding the lock: whoever stamps next has seen this stamp, and must not be before it."
  (loop repeat *stamps*
        do (with-baton-lock (lock)
             (let ((stamp (timebase:mono-ns)))
               (when (< stamp (baton-stamp baton)) (incf (baton-backwards baton)))
               (setf (baton-stamp baton) stamp)))))

(defun in-threads (function)
  (mapc #+sbcl #'sb-thread:join-thread #+ecl #'mp:process-join
        (loop repeat *threads*
              collect #+sbcl (sb-thread:make-thread function)
                      #+ecl (mp:process-run-function "stamps" function))))

(deftest a-stamp-that-was-seen-is-never-later-than-the-next ()
  (let ((lock #+sbcl (sb-thread:make-mutex) #+ecl (mp:make-lock)) (baton (make-baton)))
    (in-threads (lambda () (take-turns lock baton)))
    (check (zerop (baton-backwards baton)))
    (check (plusp (baton-stamp baton)))
    (format nil "~d stamps of ~d threads" (* *threads* *stamps*) *threads*)))

#+sbcl
(deftest readings-go-on-while-other-threads-collect-garbage ()
  (let ((stop nil) (backwards 0))
    (let ((collector (sb-thread:make-thread
                      (lambda ()
                        (loop until stop do (sb-ext:gc))))))
      (loop repeat 200000
            for last = (timebase:mono-ns) then now
            for now = (timebase:mono-ns)
            do (when (< now last) (incf backwards)))
      (setf stop t)
      (sb-thread:join-thread collector))
    (check (zerop backwards))))

#+sbcl
(deftest no-attached-clock-is-forgotten-that-a-thread-attached ()
  ;; The list by itself: C's attaching takes so long that threads hardly ever meet there.
  (unwind-protect
       (progn
         (in-threads (lambda ()
                       (loop repeat 500000 ; longer than it takes to start the others
                             do (timebase::change-attached (lambda (clocks) (cons :one clocks))))))
         (check (= (* *threads* 500000) (count :one timebase::*attached*))))
    (timebase::change-attached (lambda (clocks) (remove :one clocks))))
  (check (every #'timebase:clock-p timebase::*attached*)))
