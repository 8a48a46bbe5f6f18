/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as corrections by CPU behind a page. What is taken never goes back on a CPU, shows the
 * reference's own ticks, and makes nobody wait for long.
 *
 * Input: how to mend the table (bit 0: its head, bit 1: rates, joins and the reference), how far from
 * a line's start it is read, the head, a copy with four entries; zeros if it is shorter.
 *
 * fuzz-runs: 200000
 */
#include <stdint.h>
#include <string.h>

#include <timebase/error.h>

#include "clock/counter/by_cpu_file.h"
#include "target.h"

enum { CPUS = 4, MEND_HEAD = 1, MEND_LINES = 2 };
#define RATE_ROOM ((UINT64_C(1) << 63) / 50)
#define CENTURY_TICKS (UINT64_C(1) << 62)

static struct input {
    uint64_t how, far;
    struct by_cpu_file_head head;
    union {
        struct by_cpu_file_copy copy;
        unsigned char bytes[sizeof(struct by_cpu_file_copy) + CPUS * sizeof(struct by_cpu_entry)];
    } file;
} input;

/* ---- the input */

/* From -1 % to 1 %. */
static void mend_rate(struct by_cpu_line *line)
{
    line->rate = line->rate % RATE_ROOM - RATE_ROOM / 2;
}

static void mend_next(const struct by_cpu_line *line, struct by_cpu_line *next)
{
    mend_rate(next);
    next->start_ticks = line->start_ticks + next->start_ticks % CENTURY_TICKS;
    next->add_ticks = by_cpu_line_ticks(line, next->start_ticks) - next->start_ticks;
}

static void mend_lines(void)
{
    struct by_cpu_anchor *anchor = &input.file.copy.anchor;
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        struct by_cpu_entry *entry = &input.file.copy.entries[cpu];
        mend_rate(&entry->before);
        mend_next(&entry->before, &entry->slew);
        mend_next(&entry->slew, &entry->after);
    }
    input.file.copy.entries[input.head.reference_cpu % CPUS] =
        (struct by_cpu_entry){.end_ticks = input.far, .is_known = 1};
    anchor->ticks_per_ns = anchor->ticks_per_ns % 1000 + 1;
    anchor->error_ns %= 10000000;
    anchor->growth %= UINT64_MAX / 1000;
}

static void parse(const uint8_t *data, size_t size)
{
    memset(&input, 0, sizeof(input));
    memcpy(&input, data, size < sizeof(input) ? size : sizeof(input));
    if (input.how & MEND_HEAD) {
        input.head.magic = BY_CPU_FILE_MAGIC;
        input.head.seq |= 2;
        input.head.cpus = CPUS;
        input.head.reference_cpu %= CPUS;
    }
    if (input.how & MEND_LINES)
        mend_lines();
}

/* ---- what is taken */

/* From one tick of the CPU to the next. */
static void check_step(const struct by_cpu_entry *entry, uint64_t raw)
{
    if (raw - entry->before.start_ticks < CENTURY_TICKS)
        EXPECT(by_cpu_entry_ticks(entry, raw + 1) - by_cpu_entry_ticks(entry, raw) <= 2);
}

static void check_entry(const struct by_cpu_entry *entry)
{
    if (entry->is_known == 0)
        return;
    check_step(entry, entry->slew.start_ticks - 1);
    check_step(entry, entry->after.start_ticks - 1);
    check_step(entry, entry->before.start_ticks + input.far % CENTURY_TICKS);
}

static void check_table(void)
{
    const struct by_cpu_entry *reference = &input.file.copy.entries[input.head.reference_cpu];
    EXPECT(by_cpu_entry_ticks(reference, input.far) == input.far);
    EXPECT(by_cpu_anchor_error_ns(&input.file.copy.anchor, input.file.copy.anchor.os_ns) <=
           10000001);
    for (unsigned cpu = 0; cpu < input.head.cpus; cpu++)
        check_entry(&input.file.copy.entries[cpu]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    int error = by_cpu_file_judge(&input.head);
    EXPECT(error == TIMEBASE_OK || error == TIMEBASE_E_FORMAT || error == TIMEBASE_E_STALE ||
           error == TIMEBASE_E_UNSUPPORTED);
    if (error == TIMEBASE_OK && input.head.cpus <= CPUS &&
        by_cpu_file_is_sound(&input.head, &input.file.copy))
        check_table();
    return 0;
}
