/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <timebase/clock.h>

#include "clock/discipline/estimator.h"
#include "clock/discipline/plan.h"

/* What is further ahead than this is a fault, and not to be slewed away for hours: half the pace.
 */
#define SLEW_MAX_NS 1000000
#define FAST_DIVISOR 2
/* A writer that wants renewal later than this is not waited for. */
#define HORIZON_MAX_NS 4000000000

static struct fixed period_of(const struct timebase_line *line)
{
    struct fixed period = {(int64_t)line->period_ns, line->period_frac};
    return period;
}

uint64_t view_elapsed_ns(const struct timebase_lines *lines, uint64_t ticks)
{
    return (int64_t)ticks < 0 ? 0 : (uint64_t)fixed_times(period_of(&lines->after), ticks).ns;
}

uint64_t view_ticks(const struct timebase_lines *lines, uint64_t ns)
{
    return estimator_ticks(period_of(&lines->after), ns);
}

static bool has_begun(const struct timebase_line *line, uint64_t ticks)
{
    return (int64_t)(ticks - line->start_ticks) >= 0;
}

const struct timebase_line *view_line(const struct timebase_lines *lines, uint64_t ticks)
{
    if (has_begun(&lines->after, ticks))
        return &lines->after;
    return has_begun(&lines->slew, ticks) ? &lines->slew : &lines->before;
}

uint64_t view_end(const struct view *view)
{
    return view->lines.after.start_ticks + view->refresh_ticks;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0 ? a : b;
}

struct view view_at(const struct timebase_lines *lines, uint64_t now_ticks)
{
    struct view view = {*lines, 0};
    uint64_t end = now_ticks + view_ticks(lines, TIMEBASE_PAGE_LEASE_NS);
    if (!has_begun(&lines->after, now_ticks)) {
        end = earlier(end, lines->after.start_ticks - 1);
        view.lines.after = lines->slew;
        view.lines.slew = lines->before;
    }
    if (!has_begun(&lines->slew, now_ticks)) {
        end = earlier(end, lines->slew.start_ticks - 1);
        view.lines.after = lines->before;
    }
    /* Lines that begin after now_ticks may have to be looked for anew before they do. */
    view.refresh_ticks = has_begun(&view.lines.after, end) ? end - view.lines.after.start_ticks : 0;
    return view;
}

int64_t view_mono_ns(const struct timebase_lines *lines, uint64_t ticks)
{
    struct timebase_page page = {.seq = 2, .copy = {*lines}};
    struct timebase_instant instant = {0};
    timebase_page_convert(&page, ticks, &instant);
    return instant.mono_ns;
}

/* Where a line that is gap_ns ahead, and slower by 1 in divisor, is overtaken; a lease at most. */
static uint64_t overtaken_ticks(const struct timebase_lines *lines, uint64_t gap_ns,
                                uint64_t divisor)
{
    uint64_t ns =
        gap_ns < TIMEBASE_PAGE_LEASE_NS / divisor ? gap_ns * divisor : TIMEBASE_PAGE_LEASE_NS;
    return view_ticks(lines, ns);
}

struct view view_join(const struct timebase_lines *lines, const struct timebase_line *old,
                      uint64_t start_ticks, int64_t floor_ns)
{
    struct timebase_page page = {.seq = 2, .copy = {*lines}};
    struct timebase_instant there = {0};
    timebase_page_convert(&page, start_ticks, &there);
    uint64_t gap_ns = (uint64_t)floor_ns - (uint64_t)there.mono_ns;
    uint64_t divisor = gap_ns <= SLEW_MAX_NS ? PLAN_SLEW_DIVISOR : FAST_DIVISOR;

    struct view view = {{*old, *old, *view_line(lines, start_ticks)}, 0};
    struct timebase_line *joined = &view.lines.after;
    struct fixed period = period_of(joined);
    period = fixed_subtract(period, fixed_over(period, divisor));
    joined->start_ticks = start_ticks;
    joined->mono_ns = (uint64_t)floor_ns;
    joined->period_ns = (uint32_t)period.ns;
    joined->period_frac = period.frac;
    joined->maxerror_ns = there.maxerror_ns + gap_ns;
    /* Up to the join the old line is as far ahead, more than its writer knew. */
    view.lines.before.maxerror_ns += gap_ns;
    view.lines.slew.maxerror_ns += gap_ns;
    view.refresh_ticks = overtaken_ticks(lines, gap_ns, divisor);
    return view;
}

static void set_status(struct timebase_line *line, uint32_t status)
{
    line->flags = (line->flags & ~TIMEBASE_LINE_STATUS_MASK) | status;
}

/* UNRELIABLE and UNKNOWN are worse than what they would become. */
static void set_silent(struct timebase_line *line)
{
    uint32_t status = line->flags & TIMEBASE_LINE_STATUS_MASK;
    if (status == TIMEBASE_STATUS_SYNCHRONIZED || status == TIMEBASE_STATUS_INITIALIZING)
        set_status(line, TIMEBASE_STATUS_FREERUNNING);
}

int view_silence(struct timebase_lines *lines, uint64_t refresh_ticks, uint64_t now_ticks)
{
    uint64_t horizon = view_ticks(lines, HORIZON_MAX_NS);
    uint64_t due = lines->after.start_ticks + (refresh_ticks < horizon ? refresh_ticks : horizon);
    uint64_t silent_ns = view_elapsed_ns(lines, now_ticks - due);
    struct timebase_line *all[] = {&lines->before, &lines->slew, &lines->after};
    if (silent_ns < TIMEBASE_PAGE_SILENT_NS)
        return TIMEBASE_ATTACHMENT_CURRENT;
    bool is_expired = silent_ns >= TIMEBASE_PAGE_EXPIRED_NS;
    for (unsigned i = 0; i < 3; i++) {
        set_silent(all[i]);
        if (is_expired)
            set_status(all[i], TIMEBASE_STATUS_UNKNOWN);
    }
    return is_expired ? TIMEBASE_ATTACHMENT_EXPIRED : TIMEBASE_ATTACHMENT_SILENT;
}
