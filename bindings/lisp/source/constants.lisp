;;;; SPDX-License-Identifier: MIT
;;;; constants: what the C headers enumerate, and the page's layout.

(in-package #:timebase)

(define-enumeration error-code "TIMEBASE_E_"
  (:invalid -1) (:unsupported -2) (:permission -3) (:busy -4) (:stale -5) (:disrupted -6)
  (:torn -7) (:format -8) (:reference -9) (:timeout -10) (:not-found -11) (:untrusted -12)
  (:resource -13) (:too-early -14) (:too-late -15) (:gap -16) (:ambiguous -17) (:no-boot -18)
  (:estimate -19))

(define-enumeration status "TIMEBASE_STATUS_"
  (:unknown 0) (:initializing 1) (:synchronized 2) (:freerunning 3) (:unreliable 4))

(define-enumeration line-flag "TIMEBASE_LINE_"
  (:tai-valid #x10) (:leap-insert #x20) (:leap-delete #x40) (:estimate #x80) (:never-moved #x100)
  (:counter-distrusted #x200))

(define-enumeration line-bits "TIMEBASE_LINE_"
  (:status-mask 15) (:tai-shift 16))

(define-enumeration page-constant "TIMEBASE_PAGE_"
  (:magic #x47504254) (:version 2) (:size 640))

(define-enumeration maintenance "TIMEBASE_MAINTENANCE_"
  (:automatic 0) (:manual 1))

(define-enumeration attachment-state "TIMEBASE_ATTACHMENT_"
  (:private 0) (:current 1) (:silent 2) (:expired 3))

(define-enumeration counter-id "TIMEBASE_COUNTER_"
  (:arm-vcnt 0) (:x86-tsc 1) (:power-tb 16) (:riscv-time 17) (:s390-tod 18) (:os 32)
  (:by-cpu 33) (:invalid #xff))

(define-enumeration counter-class "TIMEBASE_CLASS_"
  (:unknown 0) (:none 1) (:constant 2) (:invariant 3) (:non-stop 4))

(define-enumeration frequency-source "TIMEBASE_FREQUENCY_"
  (:measured 0) (:architected 1) (:register 2) (:cpuid 3) (:hypervisor 4) (:c-library 5)
  (:device-tree 6) (:cpuinfo 7))

(define-enumeration wait-flag "TIMEBASE_WAIT_"
  (:plain 1) (:never-early 2) (:sleep 4) (:prepare 8) (:rehearse 16) (:save-power 32)
  (:steady 64))

(define-enumeration mechanism "TIMEBASE_MECHANISM_"
  (:none 0) (:loop 1) (:jump 2) (:return 3) (:run 4))

(define-enumeration disturbance "TIMEBASE_DISTURBED_"
  (:interrupt 1) (:preempted 2) (:migrated 4) (:gap 8) (:throttled 16) (:uneven 32) (:shared 64))

(define-enumeration realtime-setting "TIMEBASE_REALTIME_"
  (:affinity 1) (:scheduler 2) (:memory 4) (:timer-slack 8) (:cpu-latency 16))

(define-enumeration timeline-reason "TIMEBASE_TIMELINE_"
  (:killed 1) (:disrupted 2) (:ended 3) (:lost 4) (:unreadable 5))

(define-enumeration calendar-constant "TIMEBASE_CALENDAR_"
  (:units 512) (:buckets 160))

(define-enumeration calendar-problem "TIMEBASE_CALENDAR_"
  (:bad-unit 1) (:overlap 2) (:utilisation 3) (:deadline 4) (:too-short 5) (:on-tick 6)
  (:cannot-sleep 7) (:too-long 8) (:bad-calendar 9))

(define-layout line "struct timebase_line"
  (start-ticks :uint64) (mono-ns :uint64) (utc-ns :uint64) (period-frac :uint64)
  (period-ns :uint32) (flags :uint32) (maxerror-ns :uint64) (drift-rate :uint32)
  (slew-rate :uint32) (utc-maxerror-ns :uint64))

(define-layout validity "struct timebase_validity"
  (silent-ticks :uint64) (void-ticks :uint64) (before-esterror-ns :uint64)
  (slew-esterror-ns :uint64) (after-esterror-ns :uint64) (esterror-rate :uint32)
  (reserved32 :uint32) (reserved (:bytes 16)))

(define-layout lines "struct timebase_lines"
  (before (:bytes 64)) (slew (:bytes 64)) (after (:bytes 64)) (validity (:bytes 64)))

(define-layout page "struct timebase_page"
  (seq :uint64) (refresh-ticks :uint64) (magic :uint32) (size :uint32) (version :uint32)
  (counter-id :uint32) (disruption-marker :uint64) (utc-step-count :uint64) (late-count :uint64)
  (incompatible :uint32) (reserved32 :uint32) (vmclock-marker :uint64) (reserved (:bytes 56))
  (copy (:bytes 512)))

