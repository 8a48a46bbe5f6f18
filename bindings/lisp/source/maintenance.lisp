;;;; SPDX-License-Identifier: MIT
;;;; maintenance: who keeps a clock right, and what happened to it; what is known of the counter.

(in-package #:timebase)

(define-foreign %maintain "timebase_clock_maintain" :int32 (clock :address))
(define-foreign %restart "timebase_clock_restart" :int32 (clock :address))
(define-foreign %set-maintenance "timebase_clock_set_maintenance" :int32
  (clock :address) (maintenance :int32))
(define-foreign %statistics "timebase_clock_statistics" :int32 (clock :address) (out :address))
(define-foreign %probe "timebase_counter_probe" :int32 (out :address))
(define-foreign %reason "timebase_counter_reason" :address (counter :address) (n :uint32))
(define-foreign %counter-id "timebase_counter_id" :int32)
(define-foreign %select "timebase_counter_select" :int32 (id :int32))

(defun maintain (&optional (clock *clock*))
  "Compare CLOCK with its reference and publish the next lines. True if that was done, false if
another thread is at it or the lines are fresh already."
  (let ((result (%maintain (handle-of clock 'maintain))))
    (cond ((= result (number-of 'error-code :busy)) nil)
          (t (checking 'maintain result) t))))

(defun set-maintenance (maintenance &optional (clock *clock*))
  "Choose who keeps CLOCK right: :AUTOMATIC, its readers, or :MANUAL, whoever calls MAINTAIN at least
once a second; call that once after this."
  (checking 'set-maintenance
            (%set-maintenance (handle-of clock 'set-maintenance)
                              (number-of 'maintenance maintenance)))
  maintenance)

(defun restart-clock (&optional (clock *clock*))
  "Forget all lines of CLOCK and start afresh, as after SELECT-COUNTER. Before other threads read."
  (checking 'restart-clock (%restart (handle-of clock 'restart-clock)))
  clock)

(defun statistics (&optional (clock *clock*))
  "Counts of what happened to CLOCK: a STATISTICS."
  (with-memory (out (size-of statistics))
    (checking 'statistics (%statistics (handle-of clock 'statistics) out))
    (read-statistics out)))

(defstruct (probed (:include counter) (:copier nil) (:predicate nil))
  "A COUNTER with the reasons for its quality."
  (reasons '() :type list))

(defun probe-counter ()
  "What is known about this process' counter: a COUNTER. Takes about 5 ms; keep the result."
  (require-library 'probe-counter)
  (with-memory (out (size-of counter))
    (checking 'probe-counter (%probe out))
    (let ((counter (read-counter out (make-probed))))
      (setf (probed-reasons counter)
            (loop for n from 0
                  for text = (%reason out n)
                  until (zerop text) collect (peek-text text 0)))
      counter)))

(defun counter-reasons (counter)
  "Why COUNTER's quality is what it is: sentences, worst first."
  (probed-reasons counter))

(defun current-counter ()
  "Which counter TICKS reads: :X86-TSC and so on, :OS for the counter of last resort."
  (require-library 'current-counter)
  (enumerated 'counter-id (%counter-id)))

(defun select-counter (id)
  "Choose the counter of this process: :OS, or the processor's own to probe for it again. Ticks before
and after are not comparable: RESTART-CLOCK next, and all before other threads read."
  (require-library 'select-counter)
  (checking 'select-counter (%select (number-of 'counter-id id)))
  id)
