/* SPDX-License-Identifier: MIT */
/*
 * at: ticks to time and back, by a clock. A clock lacks lines only in the first millisecond of its
 * life. Then these functions wait for lines, or draw a page for the one call.
 */
#include "cell.h"

#include <timebase/error.h>

enum place { ON_LINES, BEFORE_LINES, OVERDUE };

/*
 * Is a tick before these lines, or do they want renewal by then? A hint: the lines may be changing.
 * Lines that are not in the clock's own page are copied, and were looked at just now. When their
 * writer is silent, another look may find another file.
 */
static enum place place_of(struct clock_cell *cell, const struct timebase_page *page, uint64_t ticks)
{
    bool is_own = page == cell_lines_page(cell);
    uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
    const struct timebase_lines *lines = &page->copy[seq & 1];
    uint64_t d = ticks - timebase_page_word(&lines->after.start_ticks);
    uint64_t end = timebase_page_word(is_own ? &page->refresh_ticks : &lines->validity.silent_ticks);
    if (seq == 0)
        return ON_LINES;
    if ((int64_t)d >= 0)
        return d >= end ? OVERDUE : ON_LINES;
    bool is_before = (int64_t)(ticks - timebase_page_word(&lines->before.start_ticks)) < 0;
    return is_before ? BEFORE_LINES : ON_LINES;
}

/*
 * In a process that reads ticks but never the time, only this renews the page, and notices that the
 * system clock was stepped, that the machine slept, or that the counter went back. Ticks of long ago
 * renew nothing.
 */
static struct timebase_page *kept_lines(struct clock_cell *cell, uint64_t ticks,
                                        struct timebase_page *own)
{
    struct timebase_page *page = cell->kind->lines(cell, own);
    enum place place = place_of(cell, page, ticks);
    if (place != ON_LINES && place_of(cell, page, timebase_ticks_ordered()) == place)
        timebase_clock_maintain(cell_handle(cell));
    return page;
}

TIMEBASE_API void timebase_at(const timebase_clock *clock, uint64_t ticks,
                              struct timebase_instant *out)
{
    struct clock_cell *cell = cell_of(clock);
    struct timebase_page page = {0};
    if (timebase_page_convert(kept_lines(cell, ticks, &page), ticks, out))
        return;
    cell->kind->draw(cell, &page);
    if (!timebase_page_convert(&page, ticks, out))
        cell_unknown(ticks, out);
}

TIMEBASE_API int64_t timebase_utc_at_ns(const timebase_clock *clock, uint64_t ticks)
{
    struct timebase_instant instant;
    timebase_at(clock, ticks, &instant);
    return instant.utc_ns;
}

TIMEBASE_API int64_t timebase_mono_at_ns(const timebase_clock *clock, uint64_t ticks)
{
    struct timebase_instant instant;
    timebase_at(clock, ticks, &instant);
    return instant.mono_ns;
}

TIMEBASE_API int64_t timebase_tai_at_ns(const timebase_clock *clock, uint64_t ticks)
{
    struct timebase_instant instant;
    timebase_at(clock, ticks, &instant);
    return timebase_tai_from_utc(instant.utc_ns, instant.flags);
}

TIMEBASE_API uint64_t timebase_ticks_at_utc(const timebase_clock *clock, int64_t utc_ns)
{
    struct clock_cell *cell = cell_of(clock);
    struct timebase_page page = {0};
    uint64_t ticks = 0;
    if (timebase_page_ticks_at_utc(cell->kind->lines(cell, &page), utc_ns, &ticks))
        return ticks;
    cell->kind->draw(cell, &page);
    timebase_page_ticks_at_utc(&page, utc_ns, &ticks);
    return ticks;
}

TIMEBASE_API uint64_t timebase_ticks_at_mono(const timebase_clock *clock, int64_t mono_ns)
{
    struct clock_cell *cell = cell_of(clock);
    struct timebase_page page = {0};
    uint64_t ticks = 0;
    if (timebase_page_ticks_at_mono(cell->kind->lines(cell, &page), mono_ns, &ticks))
        return ticks;
    cell->kind->draw(cell, &page);
    timebase_page_ticks_at_mono(&page, mono_ns, &ticks);
    return ticks;
}
