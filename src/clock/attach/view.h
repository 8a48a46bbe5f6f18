/* SPDX-License-Identifier: MIT */
/*
 * view: what an attached clock shows of the lines that it has copied. One line at a time, as
 * `after`, until the next one begins or the lease ends, so that the readers' one comparison sends
 * them to the slow path in time.
 *
 *     copied   before ───┐ slew ─────┐ after ──────────►
 *     shown          [===|===] [=====|===] [===] [===]      each no longer than a lease
 *
 * Pure: no I/O, no clock is read.
 */
#ifndef CLOCK_VIEW_H
#define CLOCK_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

struct view {
    struct timebase_lines lines; /* `after` is shown; older ticks fall to the others */
    uint64_t refresh_ticks;      /* of `after` */
};

/*
 * The view of lines that were copied no earlier than at now_ticks. The tick lies on the lines, or
 * before them if they began during the look or the counter went back. In both cases they are shown
 * for no more than a lease from now_ticks.
 */
struct view view_at(const struct timebase_lines *lines, uint64_t now_ticks);

/* The last tick that is shown. */
uint64_t view_end(const struct view *view);

/*
 * What takes the place of a view that has come to its end, where `old` has told floor_ns at
 * start_ticks: view_at() of the lines; or if they lie lower there, and then it returns true, a
 * bridge of the reader's own from there on (line/bridge.h).
 */
bool view_above(const struct timebase_lines *lines, const struct timebase_line *old,
                uint64_t start_ticks, int64_t floor_ns, uint64_t now_ticks, struct view *view);

/* When the lines want renewal; a writer that wants it in more than 4 s is not waited for. */
uint64_t view_due(const struct timebase_lines *lines, uint64_t refresh_ticks);

/* Do they say nothing of this tick by themselves: due by then, or before them? */
bool view_is_outside(const struct timebase_lines *lines, uint64_t refresh_ticks,
                     uint64_t now_ticks);

/*
 * Gives the lines the status that they have at now_ticks by their own expiry. Returns enum
 * timebase_attachment_state.
 */
int view_silence(struct timebase_lines *lines, uint64_t now_ticks);

#endif
