/* SPDX-License-Identifier: MIT */
/*
 * by_cpu: the processor's counter, corrected for the CPU that it is read on.
 *
 * Where the counters of CPUs differ, a table makes all of them show the ticks of one, the
 * reference CPU: corrected = raw + what the lines of this CPU say. The instruction that reads the
 * counter also tells the CPU (RDTSCP, TSC_AUX); elsewhere the kernel tells that the thread was not
 * moved in between (by_cpu_rseq.h). There are three lines, as in a page: `before` goes over to
 * `slew` and this to `after`, each at a tick of the CPU's own; they join without a gap, so that what
 * a CPU shows never goes back. They end at a tick, too, and the next table's go on from there: up to
 * the end both tables show the same, so it does not matter when the next one is published.
 *
 * A CPU without lines, or past their end, is read from the kernel's clock: later than the corrected counters can be
 * behind it, and the reader waits until they are certainly past that. So whoever reads after him
 * sees more, and whoever read before him saw less.
 *
 * The table has two copies and a number, as the page has (page.h: the protocol, its fences by the
 * same letters). The writer is src/sync.
 */
#ifndef COUNTER_BY_CPU_H
#define COUNTER_BY_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* From this tick of the CPU on, this is added to it, and more by the rate. */
struct by_cpu_line {
    uint64_t start_ticks;
    uint64_t add_ticks;
    uint64_t rate; /* signed, 2^-63 ticks per tick */
};

struct by_cpu_entry {
    struct by_cpu_line before, slew, after;
    uint64_t end_ticks; /* from this tick of the CPU on nobody reads by the lines */
    uint64_t is_known;  /* 0: nor does anybody before */
};

/* The corrected counter by the kernel's clock (CLOCK_MONOTONIC_RAW): for CPUs without lines. */
struct by_cpu_anchor {
    uint64_t os_ns, ticks; /* the same moment, as far as is known */
    uint64_t ticks_per_ns, ticks_per_ns_frac;
    uint64_t error_ns; /* the corrected counter is off by no more then, */
    uint64_t growth;   /* and by so much more later, 2^-64 ns per ns */
};

struct by_cpu_copy {
    struct by_cpu_anchor anchor;
    struct by_cpu_entry *entries;
};

struct by_cpu_table {
    uint32_t seq; /* 0: nothing was published */
    unsigned cpus;
    uint64_t spread_ticks; /* two CPUs' corrected ticks are apart by no more */
    struct by_cpu_copy copy[2];
};

/* Can the counter be read with its CPU, here, by this thread? */
bool by_cpu_is_possible(void);

/*
 * Both at once; apart, so that a test can be the machine. A CPU that cannot be told is none of any
 * table: it has no lines.
 */
#define BY_CPU_UNKNOWN UINT32_MAX
uint64_t by_cpu_read(unsigned *cpu);

/* What the lines make of a tick of their CPU, and which of them is for it. Pure. */
uint64_t by_cpu_line_ticks(const struct by_cpu_line *line, uint64_t raw);
uint64_t by_cpu_entry_ticks(const struct by_cpu_entry *entry, uint64_t raw);
const struct by_cpu_line *by_cpu_entry_line(const struct by_cpu_entry *entry, uint64_t raw);

/* What it has grown to when the kernel's clock shows os_ns. Pure. */
uint64_t by_cpu_anchor_error_ns(const struct by_cpu_anchor *anchor, uint64_t os_ns);

/*
 * The kernel's clock, read after this was called. A CPU that finds another one at the kernel's timer
 * is handed what that one reads (Linux: read_hpet()), which may have been before. The next value is
 * of a read that began when the first had been handed on. BY_CPU_NO_OS: a sandbox refuses it.
 */
#define BY_CPU_NO_OS ((uint64_t)INT64_MIN)
uint64_t by_cpu_os_ns(uint64_t (*os_clock_ns)(void));

/* The copy that nobody is sent to, to be filled; then publish it. One thread at a time. */
struct by_cpu_copy *by_cpu_next(struct by_cpu_table *table);
void by_cpu_set_entry(struct by_cpu_copy *copy, unsigned cpu, const struct by_cpu_entry *entry);
void by_cpu_set_spread(struct by_cpu_table *table, uint64_t ticks);
void by_cpu_set_anchor(struct by_cpu_copy *copy, const struct by_cpu_anchor *anchor);
void by_cpu_publish(struct by_cpu_table *table);

/* Now, by the table, or by CLOCK_MONOTONIC_RAW where it has no lines; where that cannot be read either
 * the ticks stand still. Calls within it would cost a reading as much as all the rest beside the
 * counter: so it has none. */
uint64_t by_cpu_ticks(const struct by_cpu_table *table, uint64_t (*os_clock_ns)(void))
    __attribute__((flatten));

/*
 * From now on timebase_ticks() and all clocks of this process take this table's ticks; it is never
 * freed. Before other threads read. Returns 0 or TIMEBASE_E_UNSUPPORTED.
 */
int counter_correct(const struct by_cpu_table *table);
/* The one in force, or NULL. */
extern const struct by_cpu_table *counter_correction_in_force
    __attribute__((visibility("hidden")));
static inline const struct by_cpu_table *counter_correction(void)
{
    return __atomic_load_n(&counter_correction_in_force, __ATOMIC_ACQUIRE);
}
/* Its spread: a term of the bound; 0 without a table. */
uint64_t counter_spread(void);

#endif
