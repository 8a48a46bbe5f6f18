/* SPDX-License-Identifier: MIT */
#include "by_cpu_file.h"

#include <timebase/attributes.h>
#include <timebase/error.h>

/* A drift of 1,000 ppm, a slew of 500, and room: 2^63 is a tick per tick. */
#define RATE_MAX ((UINT64_C(1) << 63) / 100)
/* What a line is drawn on for at most. */
#define CENTURY_TICKS (UINT64_C(1) << 62)
/* No counter ticks faster than 1 THz. */
#define TICKS_PER_NS_MAX 1000
/* Readers wait for twice the anchor's error. */
#define ERROR_MAX_NS 10000000
#define GROWTH_MAX (UINT64_MAX / 1000)

/* The layout is a contract with other processes: spec/page.md. */
TIMEBASE_STATIC_ASSERT(sizeof(struct by_cpu_file_head) == 64, "head");
TIMEBASE_STATIC_ASSERT(sizeof(struct by_cpu_file_copy) == 64, "a copy's beginning");
TIMEBASE_STATIC_ASSERT(sizeof(struct by_cpu_entry) == 88, "entry");
TIMEBASE_STATIC_ASSERT(offsetof(struct by_cpu_file_head, reference_cpu) == 16, "reference_cpu");
TIMEBASE_STATIC_ASSERT(offsetof(struct by_cpu_file_copy, spread_ticks) == 48, "spread_ticks");

size_t by_cpu_file_copy_size(unsigned cpus)
{
    return sizeof(struct by_cpu_file_copy) + cpus * sizeof(struct by_cpu_entry);
}

size_t by_cpu_file_copy_at(unsigned cpus, uint64_t seq)
{
    return sizeof(struct by_cpu_file_head) + (size_t)(seq & 1) * by_cpu_file_copy_size(cpus);
}

size_t by_cpu_file_size(unsigned cpus)
{
    return sizeof(struct by_cpu_file_head) + 2 * by_cpu_file_copy_size(cpus);
}

int by_cpu_file_judge(const struct by_cpu_file_head *head)
{
    if (head->magic != BY_CPU_FILE_MAGIC || head->reference_cpu >= head->cpus)
        return TIMEBASE_E_FORMAT;
    if (head->cpus > BY_CPU_FILE_CPUS_MAX)
        return TIMEBASE_E_UNSUPPORTED;
    return head->seq != 0 ? TIMEBASE_OK : TIMEBASE_E_STALE;
}

static bool is_slow(uint64_t rate)
{
    return ((int64_t)rate < 0 ? 0 - rate : rate) <= RATE_MAX;
}

static bool join(const struct by_cpu_line *line, const struct by_cpu_line *next)
{
    uint64_t raw = next->start_ticks;
    return raw - line->start_ticks <= CENTURY_TICKS &&
        by_cpu_line_ticks(line, raw) == by_cpu_line_ticks(next, raw);
}

static bool is_entry(const struct by_cpu_entry *entry)
{
    return is_slow(entry->before.rate) && is_slow(entry->slew.rate) && is_slow(entry->after.rate) &&
        join(&entry->before, &entry->slew) && join(&entry->slew, &entry->after);
}

static bool is_as_it_is(const struct by_cpu_line *line)
{
    return line->add_ticks == 0 && line->rate == 0;
}

static bool is_reference(const struct by_cpu_entry *entry)
{
    return entry->is_known != 0 && is_as_it_is(&entry->before) && is_as_it_is(&entry->slew) &&
        is_as_it_is(&entry->after);
}

static bool is_anchor(const struct by_cpu_anchor *anchor)
{
    return (anchor->ticks_per_ns | anchor->ticks_per_ns_frac) != 0 &&
        anchor->ticks_per_ns <= TICKS_PER_NS_MAX && anchor->error_ns <= ERROR_MAX_NS &&
        anchor->growth <= GROWTH_MAX;
}

bool by_cpu_file_is_sound(const struct by_cpu_file_head *head, const struct by_cpu_file_copy *copy)
{
    if (!is_anchor(&copy->anchor) || !is_reference(&copy->entries[head->reference_cpu]))
        return false;
    for (unsigned cpu = 0; cpu < head->cpus; cpu++)
        if (copy->entries[cpu].is_known != 0 && !is_entry(&copy->entries[cpu]))
            return false;
    return true;
}
