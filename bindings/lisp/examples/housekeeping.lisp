;;;; SPDX-License-Identifier: MIT
;;;; housekeeping: a thread of its own keeps the clock right, so that no reader ever has to.
;;;; In a Lisp without threads, the program keeps it between two pieces of work.

(defparameter *interval-ns* 100000000) ; at least once a second; as often as this for accuracy
(defvar *is-over* nil)

(defun keep-house ()
  "MAINTAIN gives NIL where the lines are fresh already: no fault."
  (loop until *is-over*
        do (timebase:maintain)
           (sleep (/ *interval-ns* 1000000000))))

(defun start-housekeeper ()
  #+sbcl (sb-thread:make-thread #'keep-house :name "housekeeper")
  #+ecl (mp:process-run-function "housekeeper" #'keep-house)
  #-(or sbcl ecl) (timebase:maintain))

(defun read-for (ns)
  "Read the clock until NS have passed; how many readings that took."
  (loop with first = (timebase:mono-ns)
        for readings from 1 below 10000000
        until (>= (- (timebase:mono-ns) first) ns)
        finally (return readings)))

(timebase:set-maintenance :manual)
(let ((housekeeper (start-housekeeper)))
  (declare (ignorable housekeeper))
  (let ((readings (read-for (* 5 *interval-ns*))))
    (setf *is-over* t)
    #+sbcl (sb-thread:join-thread housekeeper)
    #+ecl (mp:process-join housekeeper)
    (let ((statistics (timebase:statistics)))
      (format t "~d readings: ~d publications, ~d of them by readers~%" readings
              (timebase:statistics-publications statistics)
              (timebase:statistics-rescues statistics)))))
(timebase:set-maintenance :automatic)
