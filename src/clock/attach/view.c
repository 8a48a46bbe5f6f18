/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <timebase/clock.h>

#include "clock/line/lines.h"

/* What is further ahead than this is a fault, and not to be slewed away for hours: half the pace.
 */
#define SLEW_MAX_NS 1000000
#define FAST_DIVISOR 2

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
 * The expiry of `lines`, for a view of them. The view has the status at its beginning already: what
 * expires within its lease does so at its end, for a page is not silent before it wants renewal.
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
    /* Lines that begin after now_ticks may have to be looked for anew before they do. */
    view.refresh_ticks =
        line_has_begun(&view.lines.after, end) ? end - view.lines.after.start_ticks : 0;
    set_expiry(&view, lines);
    return view;
}

/* Where a line that is gap_ns ahead, and slower by 1 in divisor, is overtaken; a lease at most. */
static uint64_t overtaken_ticks(const struct timebase_lines *lines, uint64_t gap_ns,
                                uint64_t divisor)
{
    uint64_t ns =
        gap_ns < TIMEBASE_PAGE_LEASE_NS / divisor ? gap_ns * divisor : TIMEBASE_PAGE_LEASE_NS;
    return lines_ticks(lines, ns);
}

static void set_esterror(struct timebase_validity *validity, uint64_t esterror_ns)
{
    validity->before_esterror_ns = esterror_ns;
    validity->slew_esterror_ns = esterror_ns;
    validity->after_esterror_ns = esterror_ns;
}

struct view view_join(const struct timebase_lines *lines, const struct timebase_line *old,
                      uint64_t start_ticks, int64_t floor_ns)
{
    struct timebase_page page = {.seq = 2, .copy = {*lines}};
    struct timebase_instant there = {0};
    timebase_page_convert(&page, start_ticks, &there);
    uint64_t gap_ns = (uint64_t)floor_ns - (uint64_t)there.mono_ns;
    uint64_t divisor = gap_ns <= SLEW_MAX_NS ? LINE_SLEW_DIVISOR : FAST_DIVISOR;

    struct view view = {{*old, *old, *lines_line(lines, start_ticks), lines->validity}, 0};
    struct timebase_line *joined = &view.lines.after;
    struct fixed period = line_period(joined);
    period = fixed_subtract(period, fixed_over(period, divisor));
    joined->start_ticks = start_ticks;
    joined->mono_ns = (uint64_t)floor_ns;
    joined->utc_ns = (uint64_t)there.utc_ns + gap_ns;
    joined->period_ns = (uint32_t)period.ns;
    joined->period_frac = period.frac;
    joined->maxerror_ns = there.maxerror_ns + gap_ns;
    /* Up to the join the old line is as far ahead, more than its writer knew. */
    view.lines.before.maxerror_ns += gap_ns;
    view.lines.slew.maxerror_ns += gap_ns;
    set_esterror(&view.lines.validity, there.esterror_ns + gap_ns);
    view.refresh_ticks = overtaken_ticks(lines, gap_ns, divisor);
    set_expiry(&view, lines);
    return view;
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
