/* SPDX-License-Identifier: MIT */
#include "publish.h"

/* refresh_ticks must leave room for a tick before `after` to look huge. */
#define REFRESH_MAX ((uint64_t)1 << 62)

void publish_begin(struct timebase_page *page, int counter_id)
{
    page->magic = TIMEBASE_PAGE_MAGIC;
    page->size = TIMEBASE_PAGE_SIZE;
    page->version = TIMEBASE_PAGE_VERSION;
    page->counter_id = (uint32_t)counter_id;
}

static void set_half(uint32_t *half, uint32_t value)
{
    __atomic_store_n(half, value, __ATOMIC_RELAXED);
}

static void set_line(struct timebase_line *to, const struct timebase_line *from)
{
    timebase_page_set_word(&to->start_ticks, from->start_ticks);
    timebase_page_set_word(&to->mono_ns, from->mono_ns);
    timebase_page_set_word(&to->utc_offset_ns, from->utc_offset_ns);
    timebase_page_set_word(&to->period_frac, from->period_frac);
    set_half(&to->period_ns, from->period_ns);
    set_half(&to->flags, from->flags);
    timebase_page_set_word(&to->maxerror_ns, from->maxerror_ns);
    set_half(&to->drift_rate, from->drift_rate);
    set_half(&to->slew_rate, from->slew_rate);
    timebase_page_set_word(&to->utc_maxerror_ns, from->utc_maxerror_ns);
}

void publish_lines(struct timebase_page *page, const struct timebase_lines *lines,
                   uint64_t refresh_ticks)
{
    uint64_t seq = timebase_page_word(&page->seq) + 1;
    struct timebase_lines *copy = &page->copy[seq & 1];

    /* (B): a reader still in this copy, which it entered two numbers ago, must find out. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    set_line(&copy->before, &lines->before);
    set_line(&copy->slew, &lines->slew);
    set_line(&copy->after, &lines->after);
    timebase_page_set_word(&page->refresh_ticks,
                           refresh_ticks < REFRESH_MAX ? refresh_ticks : REFRESH_MAX);
    timebase_page_set_seq(page, seq); /* (D) */

    /* 32-bit readers take the lower half alone; 0 there says "no lines": go past it at once. */
    if ((uint32_t)seq == 0)
        publish_lines(page, lines, refresh_ticks);
}

/*
 * With the lines goes a refresh of 0, under which old and new lines send their readers to the slow
 * path alike. The fence is the partner of (C): who saw the refresh that belongs to the new
 * lines sees their number in its last look at seq, and rejects the old ones.
 */
void publish_lines_until(struct timebase_page *page, const struct timebase_lines *lines,
                         uint64_t refresh_ticks)
{
    publish_lines(page, lines, 0);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    timebase_page_set_word(&page->refresh_ticks, refresh_ticks);
}

void publish_clear(struct timebase_page *page)
{
    timebase_page_set_seq(page, 0);
}

static void get_line(struct timebase_line *to, const struct timebase_line *from)
{
    to->start_ticks = timebase_page_word(&from->start_ticks);
    to->mono_ns = timebase_page_word(&from->mono_ns);
    to->utc_offset_ns = timebase_page_word(&from->utc_offset_ns);
    to->period_frac = timebase_page_word(&from->period_frac);
    to->period_ns = timebase_page_half(&from->period_ns);
    to->flags = timebase_page_half(&from->flags);
    to->maxerror_ns = timebase_page_word(&from->maxerror_ns);
    to->drift_rate = timebase_page_half(&from->drift_rate);
    to->slew_rate = timebase_page_half(&from->slew_rate);
    to->utc_maxerror_ns = timebase_page_word(&from->utc_maxerror_ns);
}

bool publish_read_back(const struct timebase_page *page, struct timebase_lines *lines)
{
    uint64_t seq = timebase_page_word(&page->seq);
    if (seq == 0)
        return false;
    const struct timebase_lines *copy = &page->copy[seq & 1];
    get_line(&lines->before, &copy->before);
    get_line(&lines->slew, &copy->slew);
    get_line(&lines->after, &copy->after);
    return true;
}

void publish_count(uint64_t *count)
{
    timebase_page_set_word(count, timebase_page_word(count) + 1);
}
