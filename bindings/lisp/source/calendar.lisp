;;;; SPDX-License-Identifier: MIT
;;;; calendar: units of work, Lisp functions, each begun at its tick by C's dispatcher.

(in-package #:timebase)

(define-foreign %calendar-admit "timebase_calendar_admit" :int32
  (calendar :address) (waiter :address) (problems :address) (capacity :int32))
(define-foreign %calendar-run "timebase_calendar_run" :int32
  (calendar :address) (waiter :address) (results :address))
(define-foreign %bucket-ns "timebase_calendar_bucket_ns" :double (bucket :int32))

(define-layout c-unit "struct timebase_unit"
  (name :address) (action :address) (argument :address) (ready-ns :int64) (period-ns :int64)
  (duration-ns :int64) (deadline-ns :int64) (timeout-ns :int64) (releases :uint64)
  (flags :uint32) (unused :uint32))

(define-layout c-calendar "struct timebase_calendar"
  (units :address) (unit-count :uint32) (may-overlap :uint32) (avoid-tick :uint32)
  (unused :uint32) (comb :address) (start-ns :int64) (length-ns :int64) (utilisation :double)
  (log :address) (stop :address))

;;; Units

(defstruct (unit (:copier nil) (:predicate nil))
  "An elemental unit of work of a CALENDAR. Times are nanoseconds."
  (name "unit" :type string)
  (function 'identity :type (or function symbol))
  (ready-ns 0) (period-ns 0) (duration-ns 0) (deadline-ns 0) (releases 0)
  (flags '() :type list))

(document
  make-unit "A UNIT. Necessary are :NAME, :FUNCTION and :DURATION-NS; times not given are 0."
  unit-name "What the UNIT is called, in problems for example."
  unit-function "The function without arguments that is called at each release of the UNIT."
  unit-ready-ns "The first release of the UNIT, after the calendar's start."
  unit-period-ns "Between two releases of the UNIT; 0: it is released once."
  unit-duration-ns "The longest that one run of the UNIT takes; more than 0."
  unit-deadline-ns "The UNIT is done within this of its release; 0: its period, or none if once."
  unit-releases "How many releases of the UNIT there are; 0: as long as the calendar runs."
  unit-flags "How the UNIT waits: keywords as of WAIT-UNTIL-TICKS.")

(defun poke-unit (address name index unit action)
  (flet ((whole (value)
           (check-number value :int64 make-calendar)
           value))
    (poke :address address (offset-of c-unit name) name)
    (poke :address address (offset-of c-unit action) action)
    (poke :uint64 address (offset-of c-unit argument) index)
    (poke :int64 address (offset-of c-unit ready-ns) (whole (unit-ready-ns unit)))
    (poke :int64 address (offset-of c-unit period-ns) (whole (unit-period-ns unit)))
    (poke :int64 address (offset-of c-unit duration-ns) (whole (unit-duration-ns unit)))
    (poke :int64 address (offset-of c-unit deadline-ns) (whole (unit-deadline-ns unit)))
    (poke :uint64 address (offset-of c-unit releases) (max 0 (whole (unit-releases unit))))
    (poke :uint32 address (offset-of c-unit flags) (number-of 'wait-flag (unit-flags unit)))))

;;; Calendars. In one piece of memory: the word that stops it, the calendar, its units, their names.

(defstruct (calendar (:include held) (:copier nil)
                     (:constructor %make-calendar (address units functions)))
  "UNITs that are begun each at its time, by RUN-CALENDAR."
  (units '() :type list)
  (functions #() :type simple-vector)
  (failure nil)) ; of the last run: the condition of a unit that did not return, or T

(document
  calendar-p "True of a CALENDAR."
  calendar-units "The list of the UNITs of a CALENDAR.")

(defconstant +calendar-at+ 64)
(defconstant +units-at+ 192)

(defun poke-names (address names)
  "Put NAMES at ADDRESS, one after the other; their addresses."
  (loop for name in names
        collect address
        do (loop for octet across name for i from 0 do (poke :uint8 address i octet))
           (incf address (1+ (length name)))))

(defun poke-calendar (address count start-ns length-ns may-overlap utilisation)
  (let ((calendar (+ address +calendar-at+)))
    (poke :address calendar (offset-of c-calendar units) (+ address +units-at+))
    (poke :uint32 calendar (offset-of c-calendar unit-count) count)
    (poke :uint32 calendar (offset-of c-calendar may-overlap) (if may-overlap 1 0))
    (poke :int64 calendar (offset-of c-calendar start-ns) start-ns)
    (poke :int64 calendar (offset-of c-calendar length-ns) length-ns)
    (poke :double calendar (offset-of c-calendar utilisation) (float utilisation 1d0))
    (poke :address calendar (offset-of c-calendar stop) address)))

(defun make-calendar (units &key (start-ns 0) (length-ns 0) may-overlap (utilisation 1))
  "A CALENDAR of UNITS, a list, for RUN-CALENDAR. START-NS is monotonic time, some ms ahead, or 0: as
soon as possible. No release is ready LENGTH-NS after the start or later; 0: there is no such end.
With MAY-OVERLAP units may wait for each other as long as all deadlines are met. UTILISATION is the
highest admissible share of the time. Give it back with FREE-CALENDAR, or use WITH-CALENDAR."
  (require-library 'make-calendar)
  (check-number start-ns :int64 make-calendar)
  (check-number length-ns :int64 make-calendar)
  (let* ((names (mapcar (lambda (unit) (path-octets (unit-name unit) 'make-calendar)) units))
         (count (length units))
         (names-at (+ +units-at+ (* count (size-of c-unit))))
         (size (+ names-at (reduce #'+ names :key #'length) count))
         (address (allocate (* 64 (ceiling size 64)))))
    (handler-bind ((error (lambda (condition)
                            (declare (ignore condition))
                            (%free address))))
      (poke-calendar address count start-ns length-ns may-overlap utilisation)
      (loop for unit in units
            for name in (poke-names (+ address names-at) names)
            for i from 0
            do (poke-unit (+ address +units-at+ (* i (size-of c-unit))) name i unit (unit-action))))
    (%make-calendar address units (map 'simple-vector #'unit-function units))))

(defun free-calendar (calendar)
  "Give the memory of CALENDAR back. It must not be running."
  (give-back calendar #'%free))

(defmacro with-calendar ((calendar units &rest options) &body body)
  "BODY with a CALENDAR of UNITS, see MAKE-CALENDAR; given back afterwards."
  `(let ((,calendar (make-calendar ,units ,@options)))
     (unwind-protect (progn ,@body)
       (free-calendar ,calendar))))

(defun stop-calendar (calendar)
  "End the run of CALENDAR, from any thread or from one of its units: no release begins that is more
than 30 ms away."
  (poke :int32 (held-by calendar 'stop-calendar) 0 1)
  calendar)

;;; What is wrong with one

(define-structure problem "struct timebase_calendar_problem"
    "Why a CALENDAR is not admitted, or is doubtful."
  (kind (:enum calendar-problem) "What is wrong: :OVERLAP, :UTILISATION, :DEADLINE, ...")
  (warning-p (:flag) "True if it may run all the same.")
  (unit :uint32 "The place of the unit at fault in the list, from 0.")
  (other :uint32 "The place of the other unit of an overlap or short gap, else the same.")
  (at-ns :int64 "Where, nanoseconds after the calendar's start; 0 if everywhere.")
  (text (:chars 160) "What is wrong and what to do, in words."))

(defmethod print-object ((problem problem) stream)
  (print-unreadable-object (problem stream :type t)
    (format stream "~a: ~a" (problem-kind problem) (problem-text problem))))

(defun admit-calendar (calendar &optional waiter)
  "What is wrong with CALENDAR, or doubtful: a list of PROBLEM, NIL if nothing is. With a WAITER, what
this machine can do is asked for, too. Nothing is run."
  (let* ((room 64)
         (size (size-of problem))
         (memory (allocate (* room size)))
         (held (+ (held-by calendar 'admit-calendar) +calendar-at+)))
    (unwind-protect
         (loop for i below (min room (checking 'admit-calendar
                                               (%calendar-admit
                                                held
                                                (if waiter (held-by waiter 'admit-calendar) 0)
                                                memory room)))
               collect (read-problem (+ memory (* i size))))
      (%free memory))))

(define-condition not-admitted (timebase-error)
  ((problems :initarg :problems :initform '() :reader not-admitted-problems
             :documentation "A list of PROBLEM."))
  (:documentation "A calendar has problems that are more than warnings; nothing of it was run."))

(document
  not-admitted-problems "What is wrong with the calendar: a list of PROBLEM.")

(defmethod what-failed ((condition not-admitted)) "the calendar is not admitted")

(defmethod advice ((condition not-admitted)) "ADMIT-CALENDAR has all problems.")

(define-condition unit-left (timebase-error) ()
  (:documentation "A unit was left by THROW or by a restart; the calendar was ended there."))

(defmethod what-failed ((condition unit-left))
  "a unit was left by a throw or a restart, and the calendar was ended")

;;; Running

(define-structure unit-result "struct timebase_unit_result"
    "What became of the releases of a UNIT."
  (released :uint64 "Releases that were run.")
  (late :uint64 "Releases for whose exact wait no time was left.")
  (overruns :uint64 "Releases that ran longer than the UNIT's duration.")
  (missed :uint64 "Releases that ended after their deadline.")
  (timed-out :uint64)
  (skipped :uint64 "Releases that were not run, as their deadline had passed.")
  (disturbed :uint64 "Releases whose wait has evidence of an interrupt or the like.")
  (error-min-ns :double "The least begin less target, nanoseconds: before Lisp is called.")
  (error-max-ns :double "The greatest begin less target, nanoseconds.")
  (error-sum-ns :double "The sum of all begin less target, nanoseconds.")
  (longest-ns :int64 "The longest run.")
  (total-ns :int64 "All runs together.")
  (moved-ns :int64)
  (errors (:uint64s 160)
   "How many errors have which size, a list: entry I from (BUCKET-NS I) to below (BUCKET-NS (1+ I))."))

(defun bucket-ns (bucket)
  "The lower end of the BUCKET of UNIT-RESULT-ERRORS, nanoseconds."
  (check-number bucket :int32 bucket-ns)
  (require-library 'bucket-ns)
  (%bucket-ns bucket))

(defvar *running* nil "The calendar that runs in this thread.")

(defun failure-of (function)
  "What FUNCTION signalled, T if it was left otherwise, NIL if it returned. It is always returned from:
to unwind past here would leave C's frames behind without a word."
  (let ((failure t))
    (block function
      (unwind-protect
           (handler-case (progn (funcall function) (setf failure nil))
             (serious-condition (condition) (setf failure condition)))
        (when (eq failure t)
          (return-from function))))
    failure))

(defun call-unit (index)
  "C calls this at a release."
  (let ((calendar *running*))
    ;; A release that was close when the run was ended may still come.
    (unless (calendar-failure calendar)
      (when (setf (calendar-failure calendar)
                  (failure-of (svref (calendar-functions calendar) index)))
        (stop-calendar calendar)))
    (values)))

(define-called %call-unit (index)
  (call-unit index))

(defun unit-action ()
  (address-of-called %call-unit))

(defun check-end (calendar result)
  "Signal what ended the run, unless it was the calendar itself."
  (let ((failure (calendar-failure calendar)))
    (cond ((typep failure 'condition) (error failure))
          (failure (error 'unit-left :operation 'run-calendar)))
    (when (= 1 (checking 'run-calendar result))
      (let ((problems (remove-if #'problem-warning-p (admit-calendar calendar))))
        (error 'not-admitted :operation 'run-calendar :problems problems
                             :detail (and problems (problem-text (first problems))))))))

(defun run-calendar (calendar waiter)
  "Run CALENDAR on this thread, which is WAITER's, until it is done or stopped: a list of UNIT-RESULT.
Signals NOT-ADMITTED before anything is run if it has problems. A condition that a unit does not
handle ends the run and is signalled when C has returned; so is UNIT-LEFT. Lisp is called after the
unit's tick, and may collect garbage at any time."
  (let* ((held (held-by calendar 'run-calendar))
         (size (size-of unit-result))
         (count (length (calendar-functions calendar)))
         (results (allocate (* 64 (ceiling (* (max 1 count) size) 64)))))
    (setf (calendar-failure calendar) nil)
    (poke :int32 held 0 0)
    (unwind-protect
         (progn
           (check-end calendar (let ((*running* calendar))
                                 (%calendar-run (+ held +calendar-at+)
                                                (held-by waiter 'run-calendar) results)))
           (loop for i below count collect (read-unit-result (+ results (* i size)))))
      (%free results))))
