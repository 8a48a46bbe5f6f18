/* SPDX-License-Identifier: MIT */
/*
 * bridge: a reader's own line. A reader believes a writer's lines or not, and never bends them.
 * Where they lie below what it has shown already, it goes on by a line of its own, which is slower,
 * until they have overtaken it:
 *
 *     shown ─────────┐ floor
 *                    └── bridge ──┐
 *     writer's ───────────────────┴──────►
 *
 * Pure.
 */
#ifndef LINE_BRIDGE_H
#define LINE_BRIDGE_H

#include <stdint.h>

#include <timebase/page.h>

struct bridge {
    struct timebase_line line;
    uint64_t esterror_ns;  /* of its start */
    uint64_t gap_ns;       /* how far it begins above the writer's lines */
    uint64_t length_ticks; /* until these have overtaken it, or a lease */
};

/*
 * A bridge from floor_ns of monotonic time at start_ticks; `old` was shown up to there. If the
 * lines have the same offset to UTC, UTC goes on along the bridge, and does not go back either. If
 * the writer has changed the offset, UTC is the writer's from the start of the bridge on. The bound
 * says by how much the bridge is ahead.
 */
struct bridge line_bridge(const struct timebase_lines *lines, const struct timebase_line *old,
                          uint64_t start_ticks, int64_t floor_ns);

#endif
