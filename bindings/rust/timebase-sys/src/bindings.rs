// SPDX-License-Identifier: MIT
// Made by bindings/rust/make-bindings from include/timebase.h; not to be edited.

pub const TIMEBASE_CPUS_AGREE: u32 = 1;
pub const TIMEBASE_PAGE_MAGIC: u32 = 1196442196;
pub const TIMEBASE_PAGE_VERSION: u32 = 2;
pub const TIMEBASE_PAGE_SIZE: u32 = 640;
pub const TIMEBASE_PAGE_LEASE_NS: u32 = 20000000;
pub const TIMEBASE_PAGE_SILENT_NS: u64 = 5000000000;
pub const TIMEBASE_PAGE_EXPIRED_NS: u64 = 1000000000000;
pub const TIMEBASE_PAGE_NEVER: i64 = -9223372036854775808;
pub const TIMEBASE_PAGE_CORRECTED_BY_CPU: u32 = 1;
pub const TIMEBASE_PAGE_UNDERSTOOD: u32 = 0;
pub const TIMEBASE_LINE_STATUS_MASK: u32 = 15;
pub const TIMEBASE_LINE_TAI_VALID: u32 = 16;
pub const TIMEBASE_LINE_LEAP_INSERT: u32 = 32;
pub const TIMEBASE_LINE_LEAP_DELETE: u32 = 64;
pub const TIMEBASE_LINE_ESTIMATE: u32 = 128;
pub const TIMEBASE_LINE_NEVER_MOVED: u32 = 256;
pub const TIMEBASE_LINE_COUNTER_DISTRUSTED: u32 = 512;
pub const TIMEBASE_LINE_TAI_SHIFT: u32 = 16;
pub const TIMEBASE_BOOT_ID_SIZE: u32 = 16;
pub const TIMEBASE_CALENDAR_UNITS: u32 = 512;
pub const TIMEBASE_CALENDAR_BUCKETS: u32 = 160;
pub const TIMEBASE_OK: timebase_error = 0;
pub const TIMEBASE_E_INVALID: timebase_error = -1;
pub const TIMEBASE_E_UNSUPPORTED: timebase_error = -2;
pub const TIMEBASE_E_PERMISSION: timebase_error = -3;
pub const TIMEBASE_E_BUSY: timebase_error = -4;
pub const TIMEBASE_E_STALE: timebase_error = -5;
pub const TIMEBASE_E_DISRUPTED: timebase_error = -6;
pub const TIMEBASE_E_TORN: timebase_error = -7;
pub const TIMEBASE_E_FORMAT: timebase_error = -8;
pub const TIMEBASE_E_REFERENCE: timebase_error = -9;
pub const TIMEBASE_E_TIMEOUT: timebase_error = -10;
pub const TIMEBASE_E_NOT_FOUND: timebase_error = -11;
pub const TIMEBASE_E_UNTRUSTED: timebase_error = -12;
pub const TIMEBASE_E_RESOURCE: timebase_error = -13;
pub const TIMEBASE_E_ESTIMATE: timebase_error = -19;
pub const TIMEBASE_E_TOO_EARLY: timebase_error = -14;
pub const TIMEBASE_E_TOO_LATE: timebase_error = -15;
pub const TIMEBASE_E_GAP: timebase_error = -16;
pub const TIMEBASE_E_AMBIGUOUS: timebase_error = -17;
pub const TIMEBASE_E_NO_BOOT: timebase_error = -18;
pub type timebase_error = core::ffi::c_int;
extern "C" {
    pub fn timebase_strerror(error: core::ffi::c_int) -> *const core::ffi::c_char;
}
pub const TIMEBASE_COUNTER_ARM_VCNT: timebase_counter_id = 0;
pub const TIMEBASE_COUNTER_X86_TSC: timebase_counter_id = 1;
pub const TIMEBASE_COUNTER_POWER_TB: timebase_counter_id = 16;
pub const TIMEBASE_COUNTER_RISCV_TIME: timebase_counter_id = 17;
pub const TIMEBASE_COUNTER_S390_TOD: timebase_counter_id = 18;
pub const TIMEBASE_COUNTER_OS: timebase_counter_id = 32;
pub const TIMEBASE_COUNTER_BY_CPU: timebase_counter_id = 33;
pub const TIMEBASE_COUNTER_INVALID: timebase_counter_id = 255;
pub type timebase_counter_id = core::ffi::c_uint;
extern "C" {
    pub fn timebase_ticks_os() -> u64;
}
extern "C" {
    pub static mut timebase_counter_readable: core::ffi::c_int;
}
extern "C" {
    pub fn timebase_ticks_probe() -> u64;
}
extern "C" {
    pub fn timebase_ticks_ordered_probe() -> u64;
}
pub const TIMEBASE_CLASS_UNKNOWN: timebase_counter_class = 0;
pub const TIMEBASE_CLASS_NONE: timebase_counter_class = 1;
pub const TIMEBASE_CLASS_CONSTANT: timebase_counter_class = 2;
pub const TIMEBASE_CLASS_INVARIANT: timebase_counter_class = 3;
pub const TIMEBASE_CLASS_NON_STOP: timebase_counter_class = 4;
pub type timebase_counter_class = core::ffi::c_uint;
pub const TIMEBASE_FREQUENCY_MEASURED: timebase_frequency_source = 0;
pub const TIMEBASE_FREQUENCY_ARCHITECTED: timebase_frequency_source = 1;
pub const TIMEBASE_FREQUENCY_REGISTER: timebase_frequency_source = 2;
pub const TIMEBASE_FREQUENCY_CPUID: timebase_frequency_source = 3;
pub const TIMEBASE_FREQUENCY_HYPERVISOR: timebase_frequency_source = 4;
pub const TIMEBASE_FREQUENCY_C_LIBRARY: timebase_frequency_source = 5;
pub const TIMEBASE_FREQUENCY_DEVICE_TREE: timebase_frequency_source = 6;
pub const TIMEBASE_FREQUENCY_CPUINFO: timebase_frequency_source = 7;
pub type timebase_frequency_source = core::ffi::c_uint;
pub const TIMEBASE_REASON_UNREADABLE: timebase_counter_reason_bit = 1;
pub const TIMEBASE_REASON_WENT_BACKWARDS: timebase_counter_reason_bit = 2;
pub const TIMEBASE_REASON_KERNEL_DISTRUSTS: timebase_counter_reason_bit = 4;
pub const TIMEBASE_REASON_VARIABLE_RATE: timebase_counter_reason_bit = 8;
pub const TIMEBASE_REASON_STOPS_IN_IDLE: timebase_counter_reason_bit = 16;
pub const TIMEBASE_REASON_FREQUENCY_LIES: timebase_counter_reason_bit = 32;
pub const TIMEBASE_REASON_KERNEL_SILENT: timebase_counter_reason_bit = 64;
pub const TIMEBASE_REASON_COARSE: timebase_counter_reason_bit = 128;
pub const TIMEBASE_REASON_EMULATED: timebase_counter_reason_bit = 256;
pub const TIMEBASE_REASON_CLASS_UNKNOWN: timebase_counter_reason_bit = 512;
pub type timebase_counter_reason_bit = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_counter {
    pub id: i32,
    pub counter_class: i32,
    pub frequency_hz: u64,
    pub frequency_error_hz: u64,
    pub frequency_source: i32,
    pub claimed_source: i32,
    pub claimed_hz: u64,
    pub granularity_ticks: u64,
    pub smallest_step_ticks: u64,
    pub cost_ps: u32,
    pub cost_ordered_ps: u32,
    pub quality: i32,
    pub reasons: u32,
    pub constant: i32,
    pub non_stop: i32,
    pub hypervisor: i32,
    pub cpus: i32,
    pub hypervisor_name: [core::ffi::c_char; 16usize],
    pub kernel_clocksource: [core::ffi::c_char; 32usize],
    pub kernel_available: [core::ffi::c_char; 64usize],
}
extern "C" {
    pub fn timebase_counter_probe(counter: *mut timebase_counter) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_counter_reason(
        counter: *const timebase_counter,
        n: core::ffi::c_uint,
    ) -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_counter_name(id: core::ffi::c_int) -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_counter_class_name(counter_class: core::ffi::c_int)
        -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_frequency_source_name(source: core::ffi::c_int) -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_counter_id() -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_counter_select(id: core::ffi::c_int) -> core::ffi::c_int;
}
pub const TIMEBASE_CPU_UNKNOWN: timebase_cpu_state = 0;
pub const TIMEBASE_CPU_MEASURED: timebase_cpu_state = 1;
pub const TIMEBASE_CPU_HIDDEN: timebase_cpu_state = 2;
pub const TIMEBASE_CPU_OFFLINE: timebase_cpu_state = 3;
pub const TIMEBASE_CPU_INCONSISTENT: timebase_cpu_state = 4;
pub type timebase_cpu_state = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_cpu {
    pub cpu: i32,
    pub state: i32,
    pub against: i32,
    pub jumps: u32,
    pub offset_ticks: i64,
    pub error_ticks: u64,
    pub drift_ppb: i64,
    pub drift_error_ppb: u64,
    pub measured_ns: i64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_cpus {
    _unused: [u8; 0],
}
extern "C" {
    pub fn timebase_cpus_open(out: *mut *mut timebase_cpus) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_cpus_close(cpus: *mut timebase_cpus);
}
extern "C" {
    pub fn timebase_cpus_measure(cpus: *mut timebase_cpus) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_cpus_correct(cpus: *mut timebase_cpus, again_ns: *mut i64) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_cpus_list(
        cpus: *const timebase_cpus,
        out: *mut timebase_cpu,
        size: core::ffi::c_uint,
    ) -> core::ffi::c_uint;
}
pub const TIMEBASE_STATUS_UNKNOWN: timebase_status = 0;
pub const TIMEBASE_STATUS_INITIALIZING: timebase_status = 1;
pub const TIMEBASE_STATUS_SYNCHRONIZED: timebase_status = 2;
pub const TIMEBASE_STATUS_FREERUNNING: timebase_status = 3;
pub const TIMEBASE_STATUS_UNRELIABLE: timebase_status = 4;
pub type timebase_status = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_line {
    pub start_ticks: u64,
    pub mono_ns: u64,
    pub utc_ns: u64,
    pub period_frac: u64,
    pub period_ns: u32,
    pub flags: u32,
    pub maxerror_ns: u64,
    pub drift_rate: u32,
    pub slew_rate: u32,
    pub utc_maxerror_ns: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_validity {
    pub silent_ticks: u64,
    pub void_ticks: u64,
    pub before_esterror_ns: u64,
    pub slew_esterror_ns: u64,
    pub after_esterror_ns: u64,
    pub esterror_rate: u32,
    pub reserved32: u32,
    pub reserved: [u64; 2usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_lines {
    pub before: timebase_line,
    pub slew: timebase_line,
    pub after: timebase_line,
    pub validity: timebase_validity,
}
#[repr(C)]
#[repr(align(64))]
#[derive(Debug, Copy, Clone)]
pub struct timebase_page {
    pub seq: u64,
    pub refresh_ticks: u64,
    pub magic: u32,
    pub size: u32,
    pub version: u32,
    pub counter_id: u32,
    pub disruption_marker: u64,
    pub utc_step_count: u64,
    pub late_count: u64,
    pub incompatible: u32,
    pub reserved32: u32,
    pub vmclock_marker: u64,
    pub reserved: [u64; 7usize],
    pub copy: [timebase_lines; 2usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_instant {
    pub ticks: u64,
    pub mono_ns: i64,
    pub utc_ns: i64,
    pub maxerror_ns: u64,
    pub utc_maxerror_ns: u64,
    pub esterror_ns: u64,
    pub flags: u32,
}
pub const TIMEBASE_WANT_MONO: timebase_want = 1;
pub const TIMEBASE_WANT_UTC: timebase_want = 2;
pub const TIMEBASE_WANT_FLAGS: timebase_want = 4;
pub const TIMEBASE_WANT_MAXERROR: timebase_want = 8;
pub const TIMEBASE_WANT_UTC_MAXERROR: timebase_want = 16;
pub const TIMEBASE_WANT_ESTERROR: timebase_want = 32;
pub const TIMEBASE_WANT_ALL: timebase_want = 63;
pub type timebase_want = core::ffi::c_uint;
extern "C" {
    pub fn timebase_page_convert(
        page: *const timebase_page,
        ticks: u64,
        out: *mut timebase_instant,
    ) -> bool;
}
extern "C" {
    pub fn timebase_page_ticks_at_mono(
        page: *const timebase_page,
        target_ns: i64,
        ticks: *mut u64,
    ) -> bool;
}
extern "C" {
    pub fn timebase_page_ticks_at_utc(
        page: *const timebase_page,
        target_ns: i64,
        ticks: *mut u64,
    ) -> bool;
}
extern "C" {
    pub fn timebase_page_validate(page: *const timebase_page) -> core::ffi::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_clock {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_interval {
    pub earliest_ns: i64,
    pub latest_ns: i64,
}
extern "C" {
    pub fn timebase_clock_default() -> *const timebase_clock;
}
extern "C" {
    pub fn timebase_mono_ns_slow(clock: *const timebase_clock) -> i64;
}
extern "C" {
    pub fn timebase_utc_ns_slow(clock: *const timebase_clock) -> i64;
}
extern "C" {
    pub fn timebase_tai_ns_slow(clock: *const timebase_clock) -> i64;
}
extern "C" {
    pub fn timebase_now_slow(clock: *const timebase_clock, out: *mut timebase_instant);
}
extern "C" {
    pub fn timebase_utc_interval_slow(
        clock: *const timebase_clock,
        out: *mut timebase_interval,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_realtime_interval_slow(
        clock: *const timebase_clock,
        out: *mut timebase_interval,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_utc_at_ns(clock: *const timebase_clock, ticks: u64) -> i64;
}
extern "C" {
    pub fn timebase_mono_at_ns(clock: *const timebase_clock, ticks: u64) -> i64;
}
extern "C" {
    pub fn timebase_tai_at_ns(clock: *const timebase_clock, ticks: u64) -> i64;
}
extern "C" {
    pub fn timebase_at(clock: *const timebase_clock, ticks: u64, out: *mut timebase_instant);
}
extern "C" {
    pub fn timebase_ticks_at_utc(clock: *const timebase_clock, utc_ns: i64) -> u64;
}
extern "C" {
    pub fn timebase_ticks_at_mono(clock: *const timebase_clock, mono_ns: i64) -> u64;
}
pub const TIMEBASE_MAINTENANCE_AUTOMATIC: timebase_maintenance = 0;
pub const TIMEBASE_MAINTENANCE_MANUAL: timebase_maintenance = 1;
pub type timebase_maintenance = core::ffi::c_uint;
extern "C" {
    pub fn timebase_clock_set_maintenance(
        clock: *const timebase_clock,
        maintenance: core::ffi::c_int,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_clock_maintain(clock: *const timebase_clock) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_clock_restart(clock: *const timebase_clock) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_clock_attach(
        out: *mut *mut timebase_clock,
        path: *const core::ffi::c_char,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_clock_attach_or_default(
        out: *mut *mut timebase_clock,
        path: *const core::ffi::c_char,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_clock_detach(clock: *mut timebase_clock);
}
pub const TIMEBASE_ATTACHMENT_PRIVATE: timebase_attachment_state = 0;
pub const TIMEBASE_ATTACHMENT_CURRENT: timebase_attachment_state = 1;
pub const TIMEBASE_ATTACHMENT_SILENT: timebase_attachment_state = 2;
pub const TIMEBASE_ATTACHMENT_EXPIRED: timebase_attachment_state = 3;
pub type timebase_attachment_state = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_attachment {
    pub state: i32,
    pub error: i32,
    pub seq: u64,
    pub age_ns: u64,
    pub mono_offset_ns: i64,
    pub renewals: u64,
    pub publications: u64,
    pub openings: u64,
    pub refusals: u64,
    pub joins: u64,
}
extern "C" {
    pub fn timebase_clock_attachment(
        clock: *const timebase_clock,
        out: *mut timebase_attachment,
    ) -> core::ffi::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_statistics {
    pub samples: u64,
    pub publications: u64,
    pub late_publications: u64,
    pub utc_steps: u64,
    pub last_utc_step_ns: i64,
    pub suspends: u64,
    pub counter_jumps: u64,
    pub counter_backwards: u64,
    pub rate_changes: u64,
    pub reference_failures: u64,
    pub rescues: u64,
    pub last_offset_ns: i64,
    pub bracket_ns: u64,
    pub frequency_hz: u64,
    pub frequency_error_ppb: u64,
    pub counter_id: i32,
    pub status: i32,
}
extern "C" {
    pub fn timebase_clock_statistics(
        clock: *const timebase_clock,
        out: *mut timebase_statistics,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_status_name(status: core::ffi::c_int) -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_clock_wait_bound(
        clock: *const timebase_clock,
        maxerror_ns: u64,
        deadline_mono_ns: i64,
        out: *mut timebase_interval,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_clock_wait_after(
        clock: *const timebase_clock,
        utc_ns: i64,
        deadline_mono_ns: i64,
    ) -> core::ffi::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_timeline {
    _unused: [u8; 0],
}
pub const TIMEBASE_TIMELINE_KILLED: timebase_timeline_reason = 1;
pub const TIMEBASE_TIMELINE_DISRUPTED: timebase_timeline_reason = 2;
pub const TIMEBASE_TIMELINE_ENDED: timebase_timeline_reason = 3;
pub const TIMEBASE_TIMELINE_LOST: timebase_timeline_reason = 4;
pub const TIMEBASE_TIMELINE_UNREADABLE: timebase_timeline_reason = 5;
pub type timebase_timeline_reason = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_timeline_boot {
    pub id: [u8; 16usize],
    pub counter_id: i32,
    pub gap_count: u32,
    pub first_ticks: u64,
    pub last_ticks: u64,
    pub first_utc_ns: i64,
    pub last_utc_ns: i64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_timeline_gap {
    pub boot: [u8; 16usize],
    pub counter_id: i32,
    pub reason: i32,
    pub from_ticks: u64,
    pub to_ticks: u64,
    pub from_utc_ns: i64,
    pub to_utc_ns: i64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_timeline_damage {
    pub segment: u32,
    pub reserved: u32,
    pub offset: u64,
    pub size: u64,
}
extern "C" {
    pub fn timebase_timeline_open(
        out: *mut *mut timebase_timeline,
        folder: *const core::ffi::c_char,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_timeline_close(timeline: *mut timebase_timeline);
}
extern "C" {
    pub fn timebase_timeline_at(
        timeline: *mut timebase_timeline,
        boot: *const u8,
        ticks: u64,
        out: *mut timebase_instant,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_timeline_at_many(
        timeline: *mut timebase_timeline,
        boot: *const u8,
        ticks: *const u64,
        count: usize,
        out: *mut timebase_instant,
        results: *mut i32,
    ) -> i64;
}
extern "C" {
    pub fn timebase_timeline_ticks_at_utc(
        timeline: *mut timebase_timeline,
        boot: *const u8,
        utc_ns: i64,
        ticks: *mut u64,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_timeline_set_drawing_on(timeline: *mut timebase_timeline, drawing_on: bool);
}
extern "C" {
    pub fn timebase_timeline_boots(
        timeline: *mut timebase_timeline,
        boots: *mut timebase_timeline_boot,
        room: usize,
    ) -> i64;
}
extern "C" {
    pub fn timebase_timeline_gaps(
        timeline: *mut timebase_timeline,
        gaps: *mut timebase_timeline_gap,
        room: usize,
    ) -> i64;
}
extern "C" {
    pub fn timebase_timeline_damages(
        timeline: *mut timebase_timeline,
        damages: *mut timebase_timeline_damage,
        room: usize,
    ) -> i64;
}
extern "C" {
    pub fn timebase_timeline_reason_name(reason: core::ffi::c_int) -> *const core::ffi::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_stopwatch {
    pub overhead_ticks: u64,
    pub spread_ticks: u64,
    pub pair_ticks: u64,
    pub granularity_ticks: u64,
    pub period_ns: f64,
    pub laps: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_lap {
    pub start_ticks: u64,
    pub laps: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_elapsed {
    pub ticks: i64,
    pub ns: f64,
    pub uncertainty_ns: f64,
}
extern "C" {
    pub fn timebase_stopwatch_calibrate(
        watch: *mut timebase_stopwatch,
        clock: *const timebase_clock,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_stopwatch_ticks_slow() -> u64;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_stopwatch_scope {
    pub lap: timebase_lap,
    pub rounds: core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_waiter {
    pub storage: [u64; 1024usize],
}
pub const TIMEBASE_WAIT_PLAIN: timebase_wait_flag = 1;
pub const TIMEBASE_WAIT_NEVER_EARLY: timebase_wait_flag = 2;
pub const TIMEBASE_WAIT_SLEEP: timebase_wait_flag = 4;
pub const TIMEBASE_WAIT_PREPARE: timebase_wait_flag = 8;
pub const TIMEBASE_WAIT_REHEARSE: timebase_wait_flag = 16;
pub const TIMEBASE_WAIT_SAVE_POWER: timebase_wait_flag = 32;
pub const TIMEBASE_WAIT_STEADY: timebase_wait_flag = 64;
pub type timebase_wait_flag = core::ffi::c_uint;
pub const TIMEBASE_MECHANISM_NONE: timebase_wait_mechanism = 0;
pub const TIMEBASE_MECHANISM_LOOP: timebase_wait_mechanism = 1;
pub const TIMEBASE_MECHANISM_JUMP: timebase_wait_mechanism = 2;
pub const TIMEBASE_MECHANISM_RETURN: timebase_wait_mechanism = 3;
pub const TIMEBASE_MECHANISM_RUN: timebase_wait_mechanism = 4;
pub type timebase_wait_mechanism = core::ffi::c_uint;
pub const TIMEBASE_DISTURBED_INTERRUPT: timebase_wait_disturbance = 1;
pub const TIMEBASE_DISTURBED_PREEMPTED: timebase_wait_disturbance = 2;
pub const TIMEBASE_DISTURBED_MIGRATED: timebase_wait_disturbance = 4;
pub const TIMEBASE_DISTURBED_GAP: timebase_wait_disturbance = 8;
pub const TIMEBASE_DISTURBED_THROTTLED: timebase_wait_disturbance = 16;
pub const TIMEBASE_DISTURBED_UNEVEN: timebase_wait_disturbance = 32;
pub const TIMEBASE_DISTURBED_SHARED: timebase_wait_disturbance = 64;
pub type timebase_wait_disturbance = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_wait_result {
    pub target_ticks: u64,
    pub event_ticks: u64,
    pub error_ticks: i64,
    pub error_ns: f64,
    pub error_bound_ns: f64,
    pub wake_ns: i64,
    pub margin_ns: i64,
    pub mechanism: i32,
    pub late: i32,
    pub disturbance: u32,
    pub prepared: u32,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_waiter_description {
    pub mechanism: i32,
    pub readings: i32,
    pub power_hint: i32,
    pub cpu: i32,
    pub evidence: u32,
    pub calibrations: i32,
    pub calibration_ns: f64,
    pub instruction_ns: f64,
    pub quantum_ns: f64,
    pub sample_ns: f64,
    pub exact_spread_ns: f64,
    pub plain_spread_ns: f64,
    pub plain_bias_ns: f64,
    pub least_ns: f64,
    pub margin_ns: f64,
    pub waits: u64,
    pub late: u64,
    pub disturbed: u64,
}
extern "C" {
    pub fn timebase_waiter_init(
        waiter: *mut timebase_waiter,
        clock: *const timebase_clock,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_waiter_calibrate(waiter: *mut timebase_waiter) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_waiter_set_margin(
        waiter: *mut timebase_waiter,
        quantile: f64,
        cpu_share: f64,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_waiter_describe(
        waiter: *const timebase_waiter,
        out: *mut timebase_waiter_description,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_until_ticks(
        waiter: *mut timebase_waiter,
        target_ticks: u64,
        flags: core::ffi::c_uint,
        result: *mut timebase_wait_result,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_until_mono(
        waiter: *mut timebase_waiter,
        mono_ns: i64,
        flags: core::ffi::c_uint,
        result: *mut timebase_wait_result,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_until_utc(
        waiter: *mut timebase_waiter,
        utc_ns: i64,
        flags: core::ffi::c_uint,
        result: *mut timebase_wait_result,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_call_ticks(
        waiter: *mut timebase_waiter,
        target_ticks: u64,
        flags: core::ffi::c_uint,
        function: ::core::option::Option<unsafe extern "C" fn(arg1: *mut core::ffi::c_void)>,
        argument: *mut core::ffi::c_void,
        result: *mut timebase_wait_result,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_call_mono(
        waiter: *mut timebase_waiter,
        mono_ns: i64,
        flags: core::ffi::c_uint,
        function: ::core::option::Option<unsafe extern "C" fn(arg1: *mut core::ffi::c_void)>,
        argument: *mut core::ffi::c_void,
        result: *mut timebase_wait_result,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_call_utc(
        waiter: *mut timebase_waiter,
        utc_ns: i64,
        flags: core::ffi::c_uint,
        function: ::core::option::Option<unsafe extern "C" fn(arg1: *mut core::ffi::c_void)>,
        argument: *mut core::ffi::c_void,
        result: *mut timebase_wait_result,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_delay_ns_from(
        waiter: *mut timebase_waiter,
        delay_ns: u64,
        flags: core::ffi::c_uint,
        result: *mut timebase_wait_result,
        begin_ticks: u64,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_rehearsing() -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_mechanism_name(mechanism: core::ffi::c_int) -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_wait_disturbance_name(
        disturbance_bit: core::ffi::c_int,
    ) -> *const core::ffi::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_fine_reading {
    pub ticks: f64,
    pub bound_ticks: f64,
    pub last_ticks: f64,
}
extern "C" {
    pub fn timebase_wait_read_fine(
        waiter: *const timebase_waiter,
        base_ticks: u64,
        out: *mut timebase_fine_reading,
    ) -> core::ffi::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_fine_readings {
    pub ticks: [u32; 32usize],
}
extern "C" {
    pub fn timebase_wait_take_fine(
        waiter: *const timebase_waiter,
        out: *mut timebase_fine_readings,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_wait_place_fine(
        waiter: *const timebase_waiter,
        readings: *const timebase_fine_readings,
        base_ticks: u64,
        out: *mut timebase_fine_reading,
    ) -> core::ffi::c_int;
}
pub const TIMEBASE_REALTIME_AFFINITY: timebase_realtime_bit = 1;
pub const TIMEBASE_REALTIME_SCHEDULER: timebase_realtime_bit = 2;
pub const TIMEBASE_REALTIME_MEMORY: timebase_realtime_bit = 4;
pub const TIMEBASE_REALTIME_TIMER_SLACK: timebase_realtime_bit = 8;
pub const TIMEBASE_REALTIME_CPU_LATENCY: timebase_realtime_bit = 16;
pub const TIMEBASE_REALTIME_LAST: timebase_realtime_bit = 16;
pub const TIMEBASE_REALTIME_ALL: timebase_realtime_bit = 31;
pub const TIMEBASE_REALTIME_COUNT: timebase_realtime_bit = 5;
pub type timebase_realtime_bit = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_realtime_request {
    pub wanted: u32,
    pub priority: i32,
    pub cpu: i32,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_realtime {
    pub granted: u32,
    pub refused: u32,
    pub reason_errno: [i32; 5usize],
    pub cpu: i32,
    pub process: i32,
    pub thread: i32,
    pub latency_file: i32,
    pub policy: i32,
    pub priority: i32,
    pub nice: i32,
    pub timer_slack_ns: u64,
    pub affinity: [u64; 128usize],
}
extern "C" {
    pub fn timebase_realtime_acquire(
        rt: *mut timebase_realtime,
        request: *const timebase_realtime_request,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_realtime_release(rt: *mut timebase_realtime) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_realtime_name(bit: core::ffi::c_uint) -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_realtime_advice(bit: core::ffi::c_uint) -> *const core::ffi::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_unit {
    pub name: *const core::ffi::c_char,
    pub action: ::core::option::Option<unsafe extern "C" fn(arg1: *mut core::ffi::c_void)>,
    pub argument: *mut core::ffi::c_void,
    pub ready_ns: i64,
    pub period_ns: i64,
    pub duration_ns: i64,
    pub deadline_ns: i64,
    pub timeout_ns: i64,
    pub releases: u64,
    pub flags: u32,
    pub unused: u32,
}
pub const TIMEBASE_RELEASE_LATE: timebase_release_bit = 1;
pub const TIMEBASE_RELEASE_OVERRUN: timebase_release_bit = 2;
pub const TIMEBASE_RELEASE_MISSED: timebase_release_bit = 4;
pub const TIMEBASE_RELEASE_TIMED_OUT: timebase_release_bit = 8;
pub const TIMEBASE_RELEASE_SKIPPED: timebase_release_bit = 16;
pub const TIMEBASE_RELEASE_DISTURBED: timebase_release_bit = 32;
pub type timebase_release_bit = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_release {
    pub unit: u32,
    pub outcome: u32,
    pub number: u64,
    pub count: u64,
    pub target_ns: i64,
    pub end_ns: i64,
    pub error_ns: f32,
    pub disturbance: u32,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_release_log {
    pub entries: *mut timebase_release,
    pub capacity: u32,
    pub written: u32,
    pub read: u32,
    pub lost: u32,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_tick_comb {
    pub period_ns: i64,
    pub phase_ns: i64,
    pub width_ns: i64,
    pub share: f64,
    pub gaps: u64,
    pub longest_ns: i64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_calendar {
    pub units: *const timebase_unit,
    pub unit_count: u32,
    pub may_overlap: u32,
    pub avoid_tick: u32,
    pub unused: u32,
    pub comb: *const timebase_tick_comb,
    pub start_ns: i64,
    pub length_ns: i64,
    pub utilisation: f64,
    pub log: *mut timebase_release_log,
    pub stop: *const core::ffi::c_int,
}
pub const TIMEBASE_CALENDAR_BAD_UNIT: timebase_calendar_problem_kind = 1;
pub const TIMEBASE_CALENDAR_OVERLAP: timebase_calendar_problem_kind = 2;
pub const TIMEBASE_CALENDAR_UTILISATION: timebase_calendar_problem_kind = 3;
pub const TIMEBASE_CALENDAR_DEADLINE: timebase_calendar_problem_kind = 4;
pub const TIMEBASE_CALENDAR_TOO_SHORT: timebase_calendar_problem_kind = 5;
pub const TIMEBASE_CALENDAR_ON_TICK: timebase_calendar_problem_kind = 6;
pub const TIMEBASE_CALENDAR_CANNOT_SLEEP: timebase_calendar_problem_kind = 7;
pub const TIMEBASE_CALENDAR_TOO_LONG: timebase_calendar_problem_kind = 8;
pub const TIMEBASE_CALENDAR_BAD_CALENDAR: timebase_calendar_problem_kind = 9;
pub type timebase_calendar_problem_kind = core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_calendar_problem {
    pub kind: i32,
    pub warning: i32,
    pub unit: u32,
    pub other: u32,
    pub at_ns: i64,
    pub text: [core::ffi::c_char; 160usize],
}
extern "C" {
    pub fn timebase_calendar_admit(
        calendar: *const timebase_calendar,
        waiter: *const timebase_waiter,
        problems: *mut timebase_calendar_problem,
        capacity: core::ffi::c_int,
    ) -> core::ffi::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timebase_unit_result {
    pub released: u64,
    pub late: u64,
    pub overruns: u64,
    pub missed: u64,
    pub timed_out: u64,
    pub skipped: u64,
    pub disturbed: u64,
    pub error_min_ns: f64,
    pub error_max_ns: f64,
    pub error_sum_ns: f64,
    pub longest_ns: i64,
    pub total_ns: i64,
    pub moved_ns: i64,
    pub errors: [u64; 160usize],
}
extern "C" {
    pub fn timebase_calendar_bucket_ns(bucket: core::ffi::c_int) -> f64;
}
extern "C" {
    pub fn timebase_calendar_run(
        calendar: *const timebase_calendar,
        waiter: *mut timebase_waiter,
        results: *mut timebase_unit_result,
    ) -> core::ffi::c_int;
}
extern "C" {
    pub fn timebase_calendar_problem_name(kind: core::ffi::c_int) -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_release_name(outcome_bit: core::ffi::c_int) -> *const core::ffi::c_char;
}
extern "C" {
    pub fn timebase_tick_comb_learn(
        clock: *const timebase_clock,
        watch_ns: i64,
        out: *mut timebase_tick_comb,
    ) -> core::ffi::c_int;
}
