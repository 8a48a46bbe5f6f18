/* SPDX-License-Identifier: MIT */
/*
 * read: where the inline reads go when their page has no line for now. Each kind has its answer. Where
 * counters are corrected by CPU, every reading goes this way: so it is compiled for speed.
 */
#define TIMEBASE_COLD __attribute__((noinline))

#include "cell.h"

/* Reads seq first: for a tick older than the lines the counter would seem to have gone back. */
bool cell_read_current(struct clock_cell *cell, struct timebase_instant *out)
{
    struct timebase_page *page = cell_lines_page(cell);
    uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
    uint64_t ticks = timebase_ticks_ordered();
    uint64_t refresh = timebase_page_word(&page->refresh_ticks);
    uint64_t d;
    if (seq == 0 || timebase_page_line_now(&page->copy[seq & 1], ticks, refresh, &d) == NULL)
        return false;
    return timebase_page_convert(page, ticks, out);
}

/*
 * As timebase_page_read(), where the counter cannot be read inline: then its lines are in the
 * shadow, and this is the way of every reading.
 */
TIMEBASE_PART bool read_shadow(const timebase_clock *clock, int want, struct timebase_instant *out)
{
    const struct timebase_page *page = &cell_of(clock)->shadow;
    uint64_t d, seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
    if (seq == 0 || timebase_counter_is_readable())
        return false;
    out->ticks = timebase_ticks_ordered_probe();
    const struct timebase_lines *lines = &page->copy[seq & 1];
    const struct timebase_line *line =
        timebase_page_line_now(lines, out->ticks, timebase_page_word(&page->refresh_ticks), &d);
    if (line == NULL)
        return false;
    timebase_line_convert(line, d, want, out);
    if (want & TIMEBASE_WANT_ESTERROR)
        out->esterror_ns = timebase_lines_esterror(lines, line, d);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return timebase_page_seq(page, __ATOMIC_RELAXED) == seq;
}

/* Apart, so that what the shadow has stays in registers. */
static __attribute__((noinline)) struct timebase_instant now_by_kind(const timebase_clock *clock)
{
    struct clock_cell *cell = cell_of(clock);
    struct timebase_instant now;
    cell->kind->read(cell, &now);
    return now;
}

TIMEBASE_API void timebase_now_slow(const timebase_clock *clock, struct timebase_instant *out)
{
    if (!read_shadow(clock, TIMEBASE_WANT_ALL, out))
        *out = now_by_kind(clock);
}

TIMEBASE_PART struct timebase_instant read_some(const timebase_clock *clock, int want)
{
    struct timebase_instant now;
    return read_shadow(clock, want, &now) ? now : now_by_kind(clock);
}

TIMEBASE_API int64_t timebase_mono_ns_slow(const timebase_clock *clock)
{
    return read_some(clock, TIMEBASE_WANT_MONO).mono_ns;
}

TIMEBASE_API int64_t timebase_utc_ns_slow(const timebase_clock *clock)
{
    return read_some(clock, TIMEBASE_WANT_UTC).utc_ns;
}

TIMEBASE_API int64_t timebase_tai_ns_slow(const timebase_clock *clock)
{
    struct timebase_instant now = read_some(clock, TIMEBASE_WANT_UTC | TIMEBASE_WANT_FLAGS);
    return timebase_tai_from_utc(now.utc_ns, now.flags);
}

TIMEBASE_API int timebase_utc_interval_slow(const timebase_clock *clock,
                                            struct timebase_interval *out)
{
    struct timebase_instant now = read_some(
        clock, TIMEBASE_WANT_UTC | TIMEBASE_WANT_FLAGS | TIMEBASE_WANT_UTC_MAXERROR);
    timebase_interval_set(out, now.utc_ns, now.utc_maxerror_ns);
    return (int)(now.flags & TIMEBASE_LINE_STATUS_MASK);
}

TIMEBASE_API int timebase_realtime_interval_slow(const timebase_clock *clock,
                                                 struct timebase_interval *out)
{
    struct timebase_instant now =
        read_some(clock, TIMEBASE_WANT_UTC | TIMEBASE_WANT_FLAGS | TIMEBASE_WANT_MAXERROR);
    timebase_interval_set(out, now.utc_ns, now.maxerror_ns);
    return (int)(now.flags & TIMEBASE_LINE_STATUS_MASK);
}
