/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <timebase/clock.h>

#include "clock/line/bridge.h"
#include "clock/line/lines.h"

/* A writer that wants renewal later than this is not waited for. */
#define HORIZON_MAX_NS 4000000000

uint64_t view_end(const struct view *view)
{
    return view->lines.after.start_ticks + view->refresh_ticks;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0 ? a : b;
}

/* Ticks after one start of a line as ticks after another, `by` earlier or (negative) later. */
static uint64_t moved(uint64_t ticks, int64_t by, uint64_t least)
{
    if (ticks == TIMEBASE_PAGE_NEVER)
        return ticks;
    uint64_t there = ticks + (uint64_t)by;
    if (by < 0 && ticks < -(uint64_t)by)
        there = 0;
    if (there > TIMEBASE_PAGE_NEVER)
        return TIMEBASE_PAGE_NEVER;
    return there > least ? there : least;
}

/*
 * The expiry of `lines`, for a view of them. The view has the status of its beginning already.
 * Lines that expire within its lease do so at its end, because a page is not silent before it wants
 * renewal.
 */
static void set_expiry(struct view *view, const struct timebase_lines *lines)
{
    int64_t by = (int64_t)(lines->after.start_ticks - view->lines.after.start_ticks);
    uint64_t least = view->refresh_ticks + 1;
    view->lines.validity.silent_ticks = moved(lines->validity.silent_ticks, by, least);
    view->lines.validity.void_ticks = moved(lines->validity.void_ticks, by, least);
}

static void show_slew_as_after(struct timebase_lines *lines)
{
    lines->after = lines->slew;
    lines->slew = lines->before;
    lines->validity.after_esterror_ns = lines->validity.slew_esterror_ns;
    lines->validity.slew_esterror_ns = lines->validity.before_esterror_ns;
}

struct view view_at(const struct timebase_lines *lines, uint64_t now_ticks)
{
    struct view view = {*lines, 0};
    uint64_t end = now_ticks + lines_ticks(lines, TIMEBASE_PAGE_LEASE_NS);
    if (!line_has_begun(&lines->after, now_ticks)) {
        end = earlier(end, lines->after.start_ticks - 1);
        show_slew_as_after(&view.lines);
    }
    if (!line_has_begun(&lines->slew, now_ticks)) {
        end = earlier(end, lines->slew.start_ticks - 1);
        show_slew_as_after(&view.lines);
    }
    /* If the lines begin after the end of the lease, readers must look again before that. */
    view.refresh_ticks =
        line_has_begun(&view.lines.after, end) ? end - view.lines.after.start_ticks : 0;
    set_expiry(&view, lines);
    return view;
}

static struct view join(const struct timebase_lines *lines, const struct timebase_line *old,
                        uint64_t start_ticks, int64_t floor_ns)
{
    struct bridge bridge = line_bridge(lines, old, start_ticks, floor_ns);
    struct view view = {{*old, *old, bridge.line, lines->validity}, bridge.length_ticks};
    /* Before the bridge, the old line was ahead by the gap, of which its writer did not know. */
    view.lines.before.maxerror_ns += bridge.gap_ns;
    view.lines.slew.maxerror_ns += bridge.gap_ns;
    view.lines.validity.before_esterror_ns += bridge.gap_ns;
    view.lines.validity.slew_esterror_ns += bridge.gap_ns;
    view.lines.validity.after_esterror_ns = bridge.esterror_ns;
    set_expiry(&view, lines);
    return view;
}

bool view_above(const struct timebase_lines *lines, const struct timebase_line *old,
                uint64_t start_ticks, int64_t floor_ns, uint64_t now_ticks, struct view *view)
{
    bool is_below = lines_mono_ns(lines, start_ticks) < floor_ns;
    *view = is_below ? join(lines, old, start_ticks, floor_ns) : view_at(lines, now_ticks);
    return is_below;
}

uint64_t view_due(const struct timebase_lines *lines, uint64_t refresh_ticks)
{
    uint64_t horizon = lines_ticks(lines, HORIZON_MAX_NS);
    return lines->after.start_ticks + (refresh_ticks < horizon ? refresh_ticks : horizon);
}

bool view_is_outside(const struct timebase_lines *lines, uint64_t refresh_ticks, uint64_t now_ticks)
{
    return !line_has_begun(&lines->before, now_ticks) ||
        (int64_t)(now_ticks - view_due(lines, refresh_ticks)) >= 0;
}

int view_silence(struct timebase_lines *lines, uint64_t now_ticks)
{
    uint64_t d = now_ticks - lines->after.start_ticks;
    struct timebase_line *all[] = {&lines->before, &lines->slew, &lines->after};
    for (unsigned i = 0; i < 3; i++)
        all[i]->flags = timebase_lines_flags(lines, now_ticks, all[i]->flags);
    if ((int64_t)d < 0 || d < lines->validity.silent_ticks)
        return TIMEBASE_ATTACHMENT_CURRENT;
    return d < lines->validity.void_ticks ? TIMEBASE_ATTACHMENT_SILENT
                                          : TIMEBASE_ATTACHMENT_EXPIRED;
}
