// SPDX-License-Identifier: MIT
//! The declarations of timebase-sys have the sizes, alignments and places that C's structures have.
#![cfg(feature = "sys")]

use std::collections::HashMap;
use std::ffi::CStr;
use std::mem::{align_of, offset_of, size_of};
use timebase_conformance::c;
use timebase_sys as sys;

macro_rules! layouts {
    ($($type:ident . $field:ident as $name:literal),* $(,)?) => {
        [$(($name, size_of::<sys::$type>(), align_of::<sys::$type>(), offset_of!(sys::$type, $field))),*]
    };
}

#[test]
fn as_in_c() {
    let there = layouts![
        timebase_counter.kernel_available as "counter",
        timebase_instant.flags as "instant",
        timebase_interval.latest_ns as "interval",
        timebase_attachment.joins as "attachment",
        timebase_statistics.status as "statistics",
        timebase_waiter.storage as "waiter",
        timebase_wait_result.prepared as "wait_result",
        timebase_waiter_description.disturbed as "waiter_description",
        timebase_fine_reading.last_ticks as "fine_reading",
        timebase_fine_readings.ticks as "fine_readings",
        timebase_realtime_request.cpu as "realtime_request",
        timebase_realtime.affinity as "realtime",
        timebase_unit.unused as "unit",
        timebase_release.disturbance as "release",
        timebase_release_log.lost as "release_log",
        timebase_tick_comb.longest_ns as "tick_comb",
        timebase_calendar.stop as "calendar",
        timebase_calendar_problem.text as "calendar_problem",
        timebase_unit_result.errors as "unit_result",
        timebase_timeline_boot.last_utc_ns as "timeline_boot",
        timebase_timeline_gap.to_utc_ns as "timeline_gap",
        timebase_timeline_damage.size as "timeline_damage",
    ];
    let there: HashMap<_, _> =
        there.into_iter().map(|(name, size, align, last)| (name, (size, align, last))).collect();
    // SAFETY: constants of c/layout.c, an array of this length.
    let layouts = unsafe {
        let first = core::ptr::addr_of!(c::conformance_layouts);
        std::slice::from_raw_parts(first, c::conformance_layout_count)
    };
    assert_eq!(layouts.len(), there.len());
    for layout in layouts {
        // SAFETY: constant text.
        let name = unsafe { CStr::from_ptr(layout.name) }.to_str().unwrap();
        assert_eq!(there[name], (layout.size, layout.align, layout.last), "{name}");
    }
}
