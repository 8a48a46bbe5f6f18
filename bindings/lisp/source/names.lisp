;;;; SPDX-License-Identifier: MIT
;;;; names: what C calls things, for people.

(in-package #:timebase)

(defmacro define-names (&rest names)
  "Each of NAMES is (NAME ENUMERATION C-NAME DOCUMENTATION)."
  `(progn
     ,@(loop for (name enumeration c-name documentation) in names
             for foreign = (intern (format nil "%~a" name))
             collect `(define-foreign ,foreign ,c-name :address (number :int32))
             collect `(defun ,name (key)
                        ,documentation
                        (require-library ',name)
                        (peek-text (,foreign (if (integerp key) key (number-of ',enumeration key)))
                                   0)))))

(define-names
  (error-text error-code "timebase_strerror"
   "A sentence for the error KEY, such as :NOT-FOUND, or its number in C.")
  (status-name status "timebase_status_name" "The name of the status KEY: \"SYNCHRONIZED\".")
  (counter-name counter-id "timebase_counter_name" "The name of the counter KEY: \"TSC\".")
  (counter-class-name counter-class "timebase_counter_class_name"
   "The name of the class KEY: \"invariant\".")
  (frequency-source-name frequency-source "timebase_frequency_source_name"
   "The name of the source KEY of a frequency: \"CPUID\".")
  (mechanism-name mechanism "timebase_wait_mechanism_name"
   "What the mechanism KEY of a wait is, in words.")
  (disturbance-name disturbance "timebase_wait_disturbance_name"
   "What the disturbance KEY of a wait is, in words.")
  (timeline-reason-name timeline-reason "timebase_timeline_reason_name"
   "Why a timeline has a gap, KEY in words.")
  (problem-name calendar-problem "timebase_calendar_problem_name"
   "What the kind KEY of a PROBLEM is, in words: \"overlap\".")
  (realtime-name realtime-setting "timebase_realtime_name"
   "The setting KEY in words: \"SCHED_FIFO\".")
  (realtime-advice realtime-setting "timebase_realtime_advice"
   "What a person may do about a refusal of the setting KEY."))
