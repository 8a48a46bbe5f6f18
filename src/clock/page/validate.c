/* SPDX-License-Identifier: MIT */
/* validate: is this memory a page? Never trusts what it reads; see spec/page.md. */
#include "validate.h"

#include <timebase/error.h>

/* Slowest counter: 1 MHz. Longer ticks would overflow the extrapolation of a century. */
#define PERIOD_MAX_NS 1000
/*
 * Two of these and the growth that one rate can cause (below 2^63, for no line is drawn on for more
 * than 2^63 ticks) do not overflow 64 bits: a sum of errors never looks small.
 */
#define ERROR_MAX_NS ((uint64_t)1 << 62)

static bool is_line(const struct timebase_line *line)
{
    uint32_t period_ns = timebase_page_half(&line->period_ns);
    uint32_t status = timebase_page_half(&line->flags) & TIMEBASE_LINE_STATUS_MASK;
    bool has_length = period_ns > 0 || timebase_page_word(&line->period_frac) > 0;
    return has_length && period_ns <= PERIOD_MAX_NS && status <= TIMEBASE_STATUS_UNRELIABLE &&
        (int64_t)timebase_page_word(&line->mono_ns) >= 0 &&
        timebase_page_word(&line->maxerror_ns) <= ERROR_MAX_NS &&
        timebase_page_word(&line->utc_maxerror_ns) <= ERROR_MAX_NS;
}

static bool are_in_order(const struct timebase_lines *lines)
{
    uint64_t before = timebase_page_word(&lines->before.start_ticks);
    uint64_t slew = timebase_page_word(&lines->slew.start_ticks);
    uint64_t after = timebase_page_word(&lines->after.start_ticks);
    return (int64_t)(slew - before) >= 0 && (int64_t)(after - slew) >= 0;
}

/* Lines must not be silent while they are current: readers of now look at refresh_ticks alone. */
static bool is_validity(const struct timebase_validity *validity, uint64_t refresh_ticks)
{
    uint64_t silent_ticks = timebase_page_word(&validity->silent_ticks);
    uint64_t void_ticks = timebase_page_word(&validity->void_ticks);
    return refresh_ticks < silent_ticks && silent_ticks <= void_ticks &&
        void_ticks <= TIMEBASE_PAGE_NEVER &&
        timebase_page_word(&validity->before_esterror_ns) <= ERROR_MAX_NS &&
        timebase_page_word(&validity->slew_esterror_ns) <= ERROR_MAX_NS &&
        timebase_page_word(&validity->after_esterror_ns) <= ERROR_MAX_NS;
}

static bool are_lines(const struct timebase_lines *lines, uint64_t refresh_ticks)
{
    return is_line(&lines->before) && is_line(&lines->slew) && is_line(&lines->after) &&
        are_in_order(lines) && is_validity(&lines->validity, refresh_ticks);
}

int validate_page(const struct timebase_page *page, uint32_t understood)
{
    if (page->magic != TIMEBASE_PAGE_MAGIC || page->size != TIMEBASE_PAGE_SIZE ||
        page->version != TIMEBASE_PAGE_VERSION)
        return TIMEBASE_E_FORMAT;
    if ((page->incompatible & ~understood) != 0)
        return TIMEBASE_E_UNSUPPORTED;
    uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
    if (seq == 0)
        return TIMEBASE_E_STALE;
    bool is_good = are_lines(&page->copy[seq & 1], timebase_page_word(&page->refresh_ticks));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (timebase_page_seq(page, __ATOMIC_RELAXED) != seq)
        return TIMEBASE_E_TORN;
    return is_good ? TIMEBASE_OK : TIMEBASE_E_FORMAT;
}

TIMEBASE_API int timebase_page_validate(const struct timebase_page *page)
{
    return page != NULL ? validate_page(page, TIMEBASE_PAGE_UNDERSTOOD) : TIMEBASE_E_INVALID;
}
