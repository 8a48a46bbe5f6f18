;;;; SPDX-License-Identifier: MIT
;;;; structures: what C's functions fill in.

(in-package #:timebase)

(define-structure instant "struct timebase_instant"
    "Everything one tick says. Errors are half-widths: time +/- error."
  (ticks :uint64 "The tick that all the rest is about.")
  (mono-ns :int64 "Monotonic time: nanoseconds since boot, never stepped.")
  (utc-ns :int64 "Nanoseconds since 1970-01-01 UTC, leap seconds not counted.")
  (maxerror-ns :uint64 "The time is no further than this from the reference clock.")
  (utc-maxerror-ns :uint64
   "The time is no further than this from true UTC. A promise only if INSTANT-STATUS is
:SYNCHRONIZED and INSTANT-ESTIMATE-P is false.")
  (esterror-ns :uint64 "How far it probably is from the reference clock. Promises nothing.")
  (flags :uint32 "Status, TAI offset and marks in one word, as spec/page.md has them."))

(define-structure interval "struct timebase_interval"
    "Time lies in [EARLIEST-NS, LATEST-NS], both ends included. Empty if it ends before it begins."
  (earliest-ns :int64 "The first moment of the interval, nanoseconds since 1970-01-01 UTC.")
  (latest-ns :int64 "The last moment of the interval, nanoseconds since 1970-01-01 UTC."))

(define-structure attachment "struct timebase_attachment"
    "How an attached clock stands with its page. Counts since it was attached."
  (state (:enum attachment-state)
   ":CURRENT; :SILENT, not renewed for seconds; :EXPIRED, not for long; :PRIVATE, attached to nothing.")
  (error (:enum error-code) "Why the page cannot be followed just now, a keyword; 0 if it can.")
  (seq :uint64 "Number of the publication that is followed.")
  (age-ns :uint64 "Nanoseconds since the page's newest line began; 0 if that is still to come.")
  (mono-offset-ns :int64
   "CLOCK_MONOTONIC here less the page's monotonic time: not 0 in another time namespace.")
  (renewals :uint64 "Looks at the page.")
  (publications :uint64 "Looks at the page that found another publication.")
  (openings :uint64 "How often the file was another one and was opened again.")
  (refusals :uint64 "Looks that found no page, or none to be trusted.")
  (joins :uint64 "How often lines lay below what had been shown, and were joined to it."))

(define-structure statistics "struct timebase_statistics"
    "Counts of what happened to a clock."
  (samples :uint64 "Comparisons with the reference; of an attached clock, looks at its page.")
  (publications :uint64 "How many lines were published.")
  (late-publications :uint64 "Lines that were published after their first tick.")
  (utc-steps :uint64 "How often the system clock was stepped.")
  (last-utc-step-ns :int64 "The latest step: new less old offset of UTC.")
  (suspends :uint64 "How often the machine slept.")
  (counter-jumps :uint64 "How often counter and reference disagreed beyond any slew.")
  (counter-backwards :uint64 "How often the counter went back.")
  (rate-changes :uint64 "How often the reference changed its rate, so that history was dropped.")
  (reference-failures :uint64 "How often the reference could not be read.")
  (rescues :uint64 "How often manual maintenance was overdue and a reader helped itself.")
  (last-offset-ns :int64 "Clock less reference at the latest comparison.")
  (bracket-ns :uint64 "Half-width of the latest comparison.")
  (frequency-hz :uint64 "The reference's rate, in ticks per second of its time.")
  (frequency-error-ppb :uint64 "How wrong STATISTICS-FREQUENCY-HZ can be.")
  (counter-id (:enum counter-id) "Which counter: :X86-TSC and so on.")
  (status (:enum status) "The clock's status: :SYNCHRONIZED and so on."))

(define-structure counter "struct timebase_counter"
    "What is known about this process' counter."
  (id (:enum counter-id) "Which counter: :X86-TSC and so on; :OS if none of the processor's.")
  (class (:enum counter-class) "How it behaves when the processor changes its pace.")
  (frequency-hz :uint64 "The measured or confirmed frequency; never 0.")
  (frequency-error-hz :uint64 "The frequency is wrong by no more than this; 2^64 - 1: not known.")
  (frequency-source (:enum frequency-source) "Where COUNTER-FREQUENCY-HZ came from.")
  (claimed-source (:enum frequency-source) "Who claims a frequency; :MEASURED if nobody does.")
  (claimed-hz :uint64 "What that source says, believed or not; 0 if none.")
  (granularity-ticks :uint64 "The counter's step, at least 1; 24.5 is told as 25.")
  (smallest-step-ticks :uint64 "The smallest step seen that was not 0.")
  (cost-ps :uint32 "What a reading without order costs in C, median, picoseconds.")
  (cost-ordered-ps :uint32 "What an ordered reading costs in C, median, picoseconds.")
  (quality :int32 "0 unusable ... 100 nothing to complain of.")
  (reason-bits :uint32 "Why the quality is what it is, in bits; COUNTER-REASONS has words.")
  (constant :int32 "1 if its rate is constant, 0 if not, -1 unknown.")
  (non-stop :int32 "1 if it never stops, 0 if it may, -1 unknown.")
  (hypervisor :int32 "1 if the processor says that it is virtual, -1 unknown.")
  (cpus :int32 "CPUs that this process may run on; 0 unknown.")
  (hypervisor-name (:chars 16) "For example \"KVMKVMKVM\"; empty if none or unknown.")
  (kernel-clocksource (:chars 32) "For example \"tsc\"; empty if not readable.")
  (kernel-available (:chars 64) "For example \"tsc kvm-clock\"."))

(define-structure wait-result "struct timebase_wait_result"
    "What happened in one wait."
  (target-ticks :uint64 "The target as a tick, by the clock's last line before the wait.")
  (event-ticks :uint64 "The counter's last reading before the event.")
  (error-ticks :int64 "Event less target; more than 0 is late.")
  (error-ns :double "Event less target in nanoseconds. Lisp's own return comes on top.")
  (error-bound-ns :double "+/- of the error: half a step of the counter.")
  (wake-ns :int64 "Sleeping waits: wake-up after the time asked for; 0 if none slept.")
  (margin-ns :int64 "Sleeping waits: the margin used.")
  (mechanism (:enum mechanism) "What carried the wait over its last nanoseconds.")
  (late-p (:flag) "True if the last approach began too late.")
  (disturbances (:flags disturbance) "A list of keywords: evidence of what disturbed the wait.")
  (prepared-p (:flag) "True if there was time to prepare."))

(define-structure waiter-description "struct timebase_waiter_description"
    "What a waiter has learnt of its machine. A spread is 95th - 5th percentile."
  (mechanism (:enum mechanism) "What exact waits end by.")
  (readings :int32 "Counter readings in the clean sample.")
  (power-hint-p (:flag) "True if :SAVE-POWER has an effect here.")
  (cpu :int32 "Calibrated on this CPU, -1 unknown.")
  (evidence (:flags disturbance) "What disturbances could be noticed here.")
  (calibrations :int32 "How often it was calibrated.")
  (calibration-ns :double "How long the last calibration took.")
  (instruction-ns :double "One instruction of the run: the finest step of a wait.")
  (quantum-ns :double "Step of the counter.")
  (sample-ns :double "What the clean sample leaves unknown, mean width.")
  (exact-spread-ns :double "Spread of the exact waits of the calibration.")
  (plain-spread-ns :double "Spread of the plain waits of the calibration.")
  (plain-bias-ns :double "How late plain waits are, mean.")
  (least-ns :double "The shortest exact wait.")
  (margin-ns :double "What sleeping waits now allow for waking up.")
  (waits :uint64 "Waits since the waiter was made.")
  (late :uint64 "Late waits since the waiter was made.")
  (disturbed :uint64 "Disturbed waits since the waiter was made."))

(define-structure fine-reading "struct timebase_fine_reading"
    "The counter, read more finely than its step."
  (ticks :double "Ticks since the base.")
  (bound-ticks :double "+/- of FINE-READING-TICKS.")
  (last-ticks :double "When its last reading was: laps begin here."))

(define-structure timeline-boot "struct timebase_timeline_boot"
    "What a timeline holds of one boot and counter."
  (id (:bytes 16) "The boot's id, 16 octets.")
  (counter-id (:enum counter-id) "Whose ticks these are.")
  (gap-count :uint32 "Stretches in between that cannot be converted.")
  (first-ticks :uint64 "The first tick that can be converted.")
  (last-ticks :uint64 "The last tick that can be converted.")
  (first-utc-ns :int64 "When the first tick was.")
  (last-utc-ns :int64 "When the last tick was."))

(define-structure timeline-gap "struct timebase_timeline_gap"
    "Ticks of one boot for which there is no line."
  (boot (:bytes 16) "The boot's id, 16 octets.")
  (counter-id (:enum counter-id) "Whose ticks these are.")
  (reason (:enum timeline-reason) "Why there is no line: :KILLED, :DISRUPTED, :ENDED, ...")
  (from-ticks :uint64 "The first tick of the gap.")
  (to-ticks :uint64 "The first tick after the gap.")
  (from-utc-ns :int64 "UTC at the last tick before the gap.")
  (to-utc-ns :int64 "UTC at the first tick after the gap."))

(define-structure timeline-damage "struct timebase_timeline_damage"
    "Bytes of a timeline's segment that are no record and are passed over."
  (segment :uint32 "Number of the file: 00000007.tbl is 7.")
  (reserved :uint32)
  (offset :uint64 "Where the damage begins, in bytes.")
  (size :uint64 "How many bytes are damaged."))
