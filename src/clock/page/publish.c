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
    page->incompatible =
        counter_id == TIMEBASE_COUNTER_BY_CPU ? TIMEBASE_PAGE_CORRECTED_BY_CPU : 0;
}

static void set_half(uint32_t *half, uint32_t value)
{
    __atomic_store_n(half, value, __ATOMIC_RELAXED);
}

static void set_line(struct timebase_line *to, const struct timebase_line *from)
{
    timebase_page_set_word(&to->start_ticks, from->start_ticks);
    timebase_page_set_word(&to->mono_ns, from->mono_ns);
    timebase_page_set_word(&to->utc_ns, from->utc_ns);
    timebase_page_set_word(&to->period_frac, from->period_frac);
    set_half(&to->period_ns, from->period_ns);
    set_half(&to->flags, from->flags);
    timebase_page_set_word(&to->maxerror_ns, from->maxerror_ns);
    set_half(&to->drift_rate, from->drift_rate);
    set_half(&to->slew_rate, from->slew_rate);
    timebase_page_set_word(&to->utc_maxerror_ns, from->utc_maxerror_ns);
}

static void set_validity(struct timebase_validity *to, const struct timebase_validity *from)
{
    timebase_page_set_word(&to->silent_ticks, from->silent_ticks);
    timebase_page_set_word(&to->void_ticks, from->void_ticks);
    timebase_page_set_word(&to->before_esterror_ns, from->before_esterror_ns);
    timebase_page_set_word(&to->slew_esterror_ns, from->slew_esterror_ns);
    timebase_page_set_word(&to->after_esterror_ns, from->after_esterror_ns);
    set_half(&to->esterror_rate, from->esterror_rate);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint64_t publish_refresh_between(uint64_t a, uint64_t b)
{
    uint32_t high = lesser((uint32_t)(a >> 32), (uint32_t)(b >> 32));
    return (uint64_t)high << 32 | lesser((uint32_t)a, (uint32_t)b);
}

void publish_lines(struct timebase_page *page, const struct timebase_lines *lines,
                   uint64_t refresh_ticks)
{
    uint64_t seq = timebase_page_word(&page->seq) + 1;
    uint64_t present = timebase_page_word(&page->refresh_ticks);
    uint64_t refresh = refresh_ticks < REFRESH_MAX ? refresh_ticks : REFRESH_MAX;
    struct timebase_lines *copy = &page->copy[seq & 1];

    /* (B): a reader still in this copy, which it entered two numbers ago, must find out. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    set_line(&copy->before, &lines->before);
    set_line(&copy->slew, &lines->slew);
    set_line(&copy->after, &lines->after);
    set_validity(&copy->validity, &lines->validity);
    timebase_page_set_word(&page->refresh_ticks, publish_refresh_between(present, refresh));
    timebase_page_set_seq(page, seq);                              /* (D) */
    timebase_page_set_word_release(&page->refresh_ticks, refresh); /* (E) */

    /* 32-bit readers take the lower half alone; 0 there says "no lines": go past it at once. */
    if ((uint32_t)seq == 0)
        publish_lines(page, lines, refresh_ticks);
}

void publish_clear(struct timebase_page *page)
{
    timebase_page_set_seq(page, 0);
}

static void get_line(struct timebase_line *to, const struct timebase_line *from)
{
    to->start_ticks = timebase_page_word(&from->start_ticks);
    to->mono_ns = timebase_page_word(&from->mono_ns);
    to->utc_ns = timebase_page_word(&from->utc_ns);
    to->period_frac = timebase_page_word(&from->period_frac);
    to->period_ns = timebase_page_half(&from->period_ns);
    to->flags = timebase_page_half(&from->flags);
    to->maxerror_ns = timebase_page_word(&from->maxerror_ns);
    to->drift_rate = timebase_page_half(&from->drift_rate);
    to->slew_rate = timebase_page_half(&from->slew_rate);
    to->utc_maxerror_ns = timebase_page_word(&from->utc_maxerror_ns);
}

static void get_validity(struct timebase_validity *to, const struct timebase_validity *from)
{
    static const struct timebase_validity none = {0};
    *to = none;
    to->silent_ticks = timebase_page_word(&from->silent_ticks);
    to->void_ticks = timebase_page_word(&from->void_ticks);
    to->before_esterror_ns = timebase_page_word(&from->before_esterror_ns);
    to->slew_esterror_ns = timebase_page_word(&from->slew_esterror_ns);
    to->after_esterror_ns = timebase_page_word(&from->after_esterror_ns);
    to->esterror_rate = timebase_page_half(&from->esterror_rate);
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
    get_validity(&lines->validity, &copy->validity);
    return true;
}

void publish_word(uint64_t *word, uint64_t value)
{
    timebase_page_set_word(word, value);
}

void publish_count(uint64_t *count)
{
    timebase_page_set_word(count, timebase_page_word(count) + 1);
}
