/* SPDX-License-Identifier: MIT */
/* layout: sizes and alignments, and the last field's place, of the structures as C has them. */
#include <stddef.h>

#include <timebase.h>

struct layout {
    const char *name;
    size_t size, align, last;
};

#define OF(type, field)                                                                            \
    {                                                                                              \
        #type, sizeof(struct timebase_##type), _Alignof(struct timebase_##type),                   \
            offsetof(struct timebase_##type, field)                                                \
    }

const struct layout conformance_layouts[] = {
    OF(counter, kernel_available),
    OF(instant, flags),
    OF(interval, latest_ns),
    OF(attachment, joins),
    OF(statistics, status),
    OF(waiter, storage),
    OF(wait_result, prepared),
    OF(waiter_description, disturbed),
    OF(fine_reading, last_ticks),
    OF(fine_readings, ticks),
    OF(realtime_request, cpu),
    OF(realtime, affinity),
    OF(unit, unused),
    OF(release, disturbance),
    OF(release_log, lost),
    OF(tick_comb, longest_ns),
    OF(calendar, stop),
    OF(calendar_problem, text),
    OF(unit_result, errors),
    OF(timeline_boot, last_utc_ns),
    OF(timeline_gap, to_utc_ns),
    OF(timeline_damage, size),
};
const size_t conformance_layout_count = sizeof conformance_layouts / sizeof conformance_layouts[0];
