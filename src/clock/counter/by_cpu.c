/* SPDX-License-Identifier: MIT */
#include "by_cpu_here.h"

#include <timebase/page.h>

/* Publications are milliseconds apart: the second attempt succeeds. */
#define ATTEMPTS 100

/* ---- arithmetic ---------------------------------------------------------------------------- */

/* Rounded towards the start, so that one more raw tick is never less: a rate is below 1. */
uint64_t by_cpu_line_ticks(const struct by_cpu_line *line, uint64_t raw)
{
    uint64_t rate = timebase_page_word(&line->rate);
    uint64_t d = raw - timebase_page_word(&line->start_ticks);
    uint64_t base = raw + timebase_page_word(&line->add_ticks);
    if ((int64_t)rate < 0)
        return base - timebase_multiply_high(d, (0 - rate) << 1);
    return base + timebase_multiply_high(d, rate << 1);
}

static bool has_begun(const struct by_cpu_line *line, uint64_t raw)
{
    return (int64_t)(raw - timebase_page_word(&line->start_ticks)) >= 0;
}

const struct by_cpu_line *by_cpu_entry_line(const struct by_cpu_entry *entry, uint64_t raw)
{
    return has_begun(&entry->after, raw) ? &entry->after
        : has_begun(&entry->slew, raw)   ? &entry->slew
                                         : &entry->before;
}

uint64_t by_cpu_entry_ticks(const struct by_cpu_entry *entry, uint64_t raw)
{
    return by_cpu_line_ticks(by_cpu_entry_line(entry, raw), raw);
}

static bool has_ended(const struct by_cpu_entry *entry, uint64_t raw)
{
    return (int64_t)(raw - timebase_page_word(&entry->end_ticks)) >= 0;
}

static bool has_lines(const struct by_cpu_entry *entry, uint64_t raw)
{
    return timebase_page_word(&entry->is_known) != 0 && !has_ended(entry, raw);
}

uint64_t by_cpu_anchor_error_ns(const struct by_cpu_anchor *anchor, uint64_t os_ns)
{
    return anchor->error_ns + 1 + timebase_multiply_high(os_ns - anchor->os_ns, anchor->growth);
}

static uint64_t anchor_ticks(const struct by_cpu_anchor *anchor, uint64_t os_ns)
{
    uint64_t passed_ns = os_ns - anchor->os_ns;
    return anchor->ticks + passed_ns * anchor->ticks_per_ns +
        timebase_multiply_high(passed_ns, anchor->ticks_per_ns_frac);
}

/* ---- the latch ----------------------------------------------------------------------------- */

struct by_cpu_copy *by_cpu_next(struct by_cpu_table *table)
{
    uint32_t seq = __atomic_load_n(&table->seq, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* (B) */
    return &table->copy[(seq + 1) & 1];
}

/* A reader that was sent here two numbers ago may still be looking. */
static void set_words(uint64_t *to, const uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(*to); i++)
        timebase_page_set_word(&to[i], from[i]);
}

void by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu, const struct by_cpu_entry *entry)
{
    set_words(&copy->entries[cpu].before.start_ticks, &entry->before.start_ticks, sizeof(*entry));
}

void by_cpu_set_anchor(struct by_cpu_copy *copy, const struct by_cpu_anchor *anchor)
{
    set_words(&copy->anchor.os_ns, &anchor->os_ns, sizeof(*anchor));
}

void by_cpu_set_spread(struct by_cpu_table *table, uint64_t ticks)
{
    timebase_page_set_word(&table->spread_ticks, ticks);
}

void by_cpu_publish(struct by_cpu_table *table)
{
    __atomic_store_n(&table->seq, table->seq + 1, __ATOMIC_RELEASE); /* (D) */
}

uint64_t by_cpu_os_ns(uint64_t (*os_clock_ns)(void))
{
    uint64_t handed_on = os_clock_ns(), now_ns;
    do
        now_ns = os_clock_ns();
    while (now_ns == handed_on && now_ns != BY_CPU_NO_OS);
    return now_ns;
}

/* Past what the corrected counters can show now, and not back before they all have passed it. */
static uint64_t by_kernel(const struct by_cpu_anchor *anchor, uint64_t (*os_clock_ns)(void))
{
    uint64_t now_ns = by_cpu_os_ns(os_clock_ns);
    if (now_ns == BY_CPU_NO_OS)
        return anchor->ticks;
    uint64_t error_ns = by_cpu_anchor_error_ns(anchor, now_ns);
    while ((int64_t)(os_clock_ns() - now_ns) < (int64_t)(2 * error_ns))
        timebase_arch_relax();
    return anchor_ticks(anchor, now_ns + error_ns);
}

static struct by_cpu_anchor take_anchor(const struct by_cpu_anchor *from)
{
    struct by_cpu_anchor anchor = {
        .os_ns = timebase_page_word(&from->os_ns),
        .ticks = timebase_page_word(&from->ticks),
        .ticks_per_ns = timebase_page_word(&from->ticks_per_ns),
        .ticks_per_ns_frac = timebase_page_word(&from->ticks_per_ns_frac),
        .error_ns = timebase_page_word(&from->error_ns),
        .growth = timebase_page_word(&from->growth),
    };
    return anchor;
}

/* ---- a reading ----------------------------------------------------------------------------- */

/* False: this CPU has no lines, or a publication fell between the two looks at seq. */
static inline bool read_by_lines(const struct by_cpu_table *table, uint64_t *ticks)
{
    unsigned cpu;
    uint32_t seq = __atomic_load_n(&table->seq, __ATOMIC_ACQUIRE); /* (A) */
    const struct by_cpu_entry *entries = table->copy[seq & 1].entries;
    uint64_t raw = by_cpu_here(&cpu);
    if (cpu >= table->cpus || !has_lines(&entries[cpu], raw))
        return false;
    *ticks = by_cpu_entry_ticks(&entries[cpu], raw);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* (C) */
    return __atomic_load_n(&table->seq, __ATOMIC_RELAXED) == seq;
}

/* False: this CPU has lines after all, or as above. */
static bool read_anchor(const struct by_cpu_table *table, struct by_cpu_anchor *anchor)
{
    unsigned cpu;
    uint32_t seq = __atomic_load_n(&table->seq, __ATOMIC_ACQUIRE); /* (A) */
    const struct by_cpu_copy *copy = &table->copy[seq & 1];
    uint64_t raw = by_cpu_here(&cpu);
    if (cpu < table->cpus && has_lines(&copy->entries[cpu], raw))
        return false;
    *anchor = take_anchor(&copy->anchor);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* (C) */
    return __atomic_load_n(&table->seq, __ATOMIC_RELAXED) == seq;
}

/* Apart, so that the way by lines saves no registers for it. */
static __attribute__((noinline)) uint64_t try_on(const struct by_cpu_table *table,
                                                 uint64_t (*os_clock_ns)(void))
{
    uint64_t ticks = 0;
    struct by_cpu_anchor anchor;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (read_anchor(table, &anchor))
            return by_kernel(&anchor, os_clock_ns);
        if (read_by_lines(table, &ticks))
            return ticks;
    }
    return ticks;
}

uint64_t by_cpu_ticks(const struct by_cpu_table *table, uint64_t (*os_clock_ns)(void))
{
    uint64_t ticks;
    if (TIMEBASE_LIKELY(read_by_lines(table, &ticks)))
        return ticks;
    return try_on(table, os_clock_ns);
}
