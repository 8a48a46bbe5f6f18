;;;; SPDX-License-Identifier: MIT
;;;; realtime: what punctual threads ask of the kernel, and give back.

(in-package #:timebase)

(define-foreign %realtime-acquire "timebase_realtime_acquire" :int32
  (rt :address) (request :address))
(define-foreign %realtime-release "timebase_realtime_release" :int32 (rt :address))
(define-layout realtime-request "struct timebase_realtime_request"
  (wanted :uint32) (priority :int32) (cpu :int32))

(define-layout realtime "struct timebase_realtime"
  (granted :uint32) (refused :uint32) (reason-errno (:int32s 5)) (cpu :int32) (process :int32)
  (thread :int32) (latency-file :int32) (policy :int32) (priority :int32) (nice :int32)
  (timer-slack-ns :uint64) (affinity (:bytes 1024)))

(defstruct (realtime (:include held) (:copier nil) (:predicate nil)
                     (:constructor %make-realtime (address)))
  "What the kernel granted to a thread, until it is released."
  (granted '() :type list)
  (refusals '() :type list))

(document
  realtime-granted "The settings that the kernel granted: a list of keywords, see ACQUIRE-REALTIME."
  realtime-refusals "What the kernel refused: a list of (SETTING NAME ERRNO ADVICE).")

(defun refusal (key bit errno)
  (list key (peek-text (%realtime-name bit) 0) errno (peek-text (%realtime-advice bit) 0)))

(defun read-realtime (address)
  (let ((granted (peek :uint32 address (offset-of realtime granted)))
        (refused (peek :uint32 address (offset-of realtime refused)))
        (realtime (%make-realtime address)))
    (setf (realtime-granted realtime) (flagged 'realtime-setting granted)
          (realtime-refusals realtime)
          (loop for (key . bit) in (enumeration 'realtime-setting)
                for offset from (offset-of realtime reason-errno) by 4
                when (logtest bit refused)
                  collect (refusal key bit (peek :int32 address offset))))
    realtime))

(defun poke-request (address settings priority cpu)
  (poke :uint32 address (offset-of realtime-request wanted) (number-of 'realtime-setting settings))
  (poke :int32 address (offset-of realtime-request priority) priority)
  (poke :int32 address (offset-of realtime-request cpu) cpu))

(defun acquire-realtime (&key (settings '(:affinity :scheduler :memory :timer-slack :cpu-latency))
                           (priority 50) (cpu -1))
  "Ask the kernel for SETTINGS, for this thread; what is refused is left as it was and told. Returns a
REALTIME for RELEASE-REALTIME. :SCHEDULER is SCHED_FIFO with PRIORITY, :AFFINITY is CPU, or the one
the thread is on; :MEMORY locks all memory of the process, which for a Lisp is its whole heap."
  (require-library 'acquire-realtime)
  (check-number priority :int32 acquire-realtime)
  (check-number cpu :int32 acquire-realtime)
  (let ((address (allocate (* 64 (ceiling (size-of realtime) 64)))))
    (handler-bind ((timebase-error (lambda (condition)
                                     (declare (ignore condition))
                                     (%free address))))
      (with-memory (request (size-of realtime-request))
        (poke-request request settings priority cpu)
        (checking 'acquire-realtime (%realtime-acquire address request))))
    (read-realtime address)))

(defun release-realtime (realtime)
  "Give back what was granted, by the thread that asked for it, the latest first."
  (give-back realtime
             (lambda (address)
               (unwind-protect (checking 'release-realtime (%realtime-release address))
                 (%free address)))))

(defmacro with-realtime ((realtime &rest options) &body body)
  "BODY with what the kernel grants of OPTIONS, see ACQUIRE-REALTIME; given back afterwards."
  `(let ((,realtime (acquire-realtime ,@options)))
     (unwind-protect (progn ,@body)
       (release-realtime ,realtime))))
