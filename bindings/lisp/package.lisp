;;;; SPDX-License-Identifier: MIT
;;;; package: the names of the binding. bindings/lisp/parity.txt has what C calls them.

(defpackage #:timebase
  (:use #:common-lisp)
  (:shadow #:get-internal-real-time)
  (:documentation
   "The time from the processor's own counter, and how wrong it can be: (timebase:utc-ns).")
  (:export
   ;; Clocks
   #:*clock* #:clock #:clock-p #:clock-kind #:clock-path #:private-clock #:implementation-clock
   #:attach #:attach-or-private #:with-attached-clock #:detach
   #:attachment #:attachment-state #:attachment-error #:attachment-seq #:attachment-age-ns
   #:attachment-mono-offset-ns #:attachment-renewals #:attachment-publications
   #:attachment-openings #:attachment-refusals #:attachment-joins
   ;; Readings
   #:utc-ns #:utc-ns-unordered #:utc-ms #:mono-ns #:mono-ns-unordered #:mono-ms
   #:tai-ns #:tai-ns-unordered #:tai-ms #:utc-bounds #:realtime-bounds #:now
   #:instant #:make-instant #:instant-ticks #:instant-mono-ns #:instant-utc-ns #:instant-tai-ns
   #:instant-maxerror-ns #:instant-utc-maxerror-ns #:instant-esterror-ns #:instant-flags
   #:instant-status #:instant-estimate-p #:instant-tai-valid-p #:instant-leap-insert-p
   #:instant-leap-delete-p #:instant-never-moved-p #:instant-counter-distrusted-p
   #:ticks #:ticks-ordered #:ticks-os
   #:get-internal-real-time #:universal-time-of-utc-ns
   ;; Ticks of another moment
   #:at #:utc-at-ns #:mono-at-ns #:tai-at-ns #:ticks-at-utc #:ticks-at-mono
   ;; Intervals
   #:interval #:make-interval #:interval-earliest-ns #:interval-latest-ns #:utc-interval
   #:realtime-interval #:interval-around #:interval-empty-p #:interval-before-p
   #:interval-overlaps-p #:interval-contains-p #:interval-width-ns #:interval-intersect
   #:wait-bound #:wait-after
   ;; Keeping a clock
   #:maintain #:set-maintenance #:restart-clock
   #:statistics #:statistics-samples #:statistics-publications #:statistics-late-publications
   #:statistics-utc-steps #:statistics-last-utc-step-ns #:statistics-suspends
   #:statistics-counter-jumps #:statistics-counter-backwards #:statistics-rate-changes
   #:statistics-reference-failures #:statistics-rescues #:statistics-last-offset-ns
   #:statistics-bracket-ns #:statistics-frequency-hz #:statistics-frequency-error-ppb
   #:statistics-counter-id #:statistics-status
   ;; Counters
   #:current-counter #:select-counter #:probe-counter #:counter #:counter-reasons
   #:counter-id #:counter-class #:counter-frequency-hz #:counter-frequency-error-hz
   #:counter-frequency-source #:counter-claimed-source #:counter-claimed-hz
   #:counter-granularity-ticks #:counter-smallest-step-ticks #:counter-cost-ps
   #:counter-cost-ordered-ps #:counter-quality #:counter-reason-bits #:counter-constant
   #:counter-non-stop #:counter-hypervisor #:counter-cpus #:counter-hypervisor-name
   #:counter-kernel-clocksource #:counter-kernel-available
   ;; Stopwatches and benchmarks
   #:*stopwatch* #:stopwatch #:make-stopwatch #:calibrate #:with-stopwatch #:elapsed-ns
   #:elapsed-ticks #:four-readings #:lap #:make-lap #:start-lap #:stop-lap
   #:stopwatch-overhead-ticks #:stopwatch-spread-ticks #:stopwatch-pair-ticks
   #:stopwatch-granularity-ticks #:stopwatch-period-ns #:stopwatch-laps
   #:bench #:measure #:print-measurement #:measurement #:measurement-trials
   #:measurement-collected #:measurement-runs #:measurement-least-ns #:measurement-median-ns
   #:measurement-p99-ns #:measurement-most-ns #:measurement-uncertainty-ns
   #:measurement-bytes-consed #:reading-costs #:print-reading-costs
   ;; Waits and real-time settings
   #:waiter #:waiter-p #:make-waiter #:free-waiter #:with-waiter #:calibrate-waiter
   #:set-waiter-margin #:describe-waiter #:wait-until-ticks #:wait-until-mono #:wait-until-utc
   #:delay-ns #:read-fine #:fine-reading #:fine-reading-ticks #:fine-reading-bound-ticks
   #:fine-reading-last-ticks
   #:wait-result #:wait-result-target-ticks #:wait-result-event-ticks #:wait-result-error-ticks
   #:wait-result-error-ns #:wait-result-error-bound-ns #:wait-result-wake-ns
   #:wait-result-margin-ns #:wait-result-mechanism #:wait-result-late-p
   #:wait-result-disturbances #:wait-result-prepared-p
   #:waiter-description #:waiter-description-mechanism #:waiter-description-readings
   #:waiter-description-power-hint-p #:waiter-description-cpu #:waiter-description-evidence
   #:waiter-description-calibrations #:waiter-description-calibration-ns
   #:waiter-description-instruction-ns #:waiter-description-quantum-ns
   #:waiter-description-sample-ns #:waiter-description-exact-spread-ns
   #:waiter-description-plain-spread-ns #:waiter-description-plain-bias-ns
   #:waiter-description-least-ns #:waiter-description-margin-ns #:waiter-description-waits
   #:waiter-description-late #:waiter-description-disturbed
   #:realtime #:acquire-realtime #:release-realtime #:with-realtime #:realtime-granted
   #:realtime-refusals
   ;; Calendars
   #:unit #:make-unit #:unit-name #:unit-function #:unit-ready-ns #:unit-period-ns
   #:unit-duration-ns #:unit-deadline-ns #:unit-releases #:unit-flags
   #:calendar #:calendar-p #:calendar-units #:make-calendar #:free-calendar #:with-calendar
   #:admit-calendar #:run-calendar #:stop-calendar #:bucket-ns
   #:problem #:problem-kind #:problem-warning-p #:problem-unit #:problem-other #:problem-at-ns
   #:problem-text #:problem-name
   #:unit-result #:unit-result-released #:unit-result-late #:unit-result-overruns
   #:unit-result-missed #:unit-result-skipped #:unit-result-disturbed #:unit-result-error-min-ns
   #:unit-result-error-max-ns #:unit-result-error-sum-ns #:unit-result-longest-ns
   #:unit-result-total-ns #:unit-result-errors
   #:not-admitted #:not-admitted-problems #:unit-left
   ;; Pages
   #:page #:page-p #:make-page #:free-page #:with-page #:page-validate #:page-now #:page-at
   #:page-ticks-at-mono #:page-ticks-at-utc
   ;; Timelines
   #:timeline #:timeline-p #:timeline-folder #:open-timeline #:close-timeline #:with-timeline
   #:timeline-at #:timeline-ticks-at-utc #:timeline-draw-on #:timeline-boots #:timeline-gaps
   #:timeline-damages
   #:timeline-boot #:timeline-boot-id #:timeline-boot-counter-id #:timeline-boot-gap-count
   #:timeline-boot-first-ticks #:timeline-boot-last-ticks #:timeline-boot-first-utc-ns
   #:timeline-boot-last-utc-ns
   #:timeline-gap #:timeline-gap-boot #:timeline-gap-counter-id #:timeline-gap-reason
   #:timeline-gap-from-ticks #:timeline-gap-to-ticks #:timeline-gap-from-utc-ns
   #:timeline-gap-to-utc-ns
   #:timeline-damage #:timeline-damage-segment #:timeline-damage-offset #:timeline-damage-size
   ;; Names
   #:error-text #:status-name #:counter-name #:counter-class-name #:frequency-source-name
   #:mechanism-name #:disturbance-name #:timeline-reason-name #:realtime-name #:realtime-advice
   ;; Conditions and restarts
   #:timebase-error #:error-code #:error-operation #:error-path #:error-detail #:advice
   #:invalid-argument #:unsupported #:permission-denied #:busy #:stale #:disrupted #:torn
   #:bad-format #:reference-failed #:timed-out #:not-found #:untrusted #:out-of-resources
   #:only-an-estimate #:too-early #:too-late #:in-a-gap #:ambiguous #:no-boot
   #:library-missing #:detached
   #:retry #:use-page #:use-private-clock #:use-implementation-clock #:use-library))
