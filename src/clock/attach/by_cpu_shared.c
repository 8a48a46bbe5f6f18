/* SPDX-License-Identifier: MIT */
#include "by_cpu_shared.h"

#include <stddef.h>
#include <sys/mman.h>

#include "clock/counter/by_cpu_file.h"
#include "clock/guard.h"

#include <timebase/clock.h>
#include <timebase/error.h>

/* A copy takes microseconds, and nobody publishes so often. */
#define COPY_ATTEMPTS 8
/* A CPU without lines makes its reader wait for twice the anchor's error. It grows by some ppm while
 * nobody renews it; a table that makes readers wait for more than this is over. */
#define ERROR_MAX_NS 50000000
/* Together milliseconds; a renewal takes microseconds. */
#define LOCK_ATTEMPTS 10000

/* All but the table's own words are for the thread that has the guard. */
static struct {
    struct clock_guard guard;
    struct by_cpu_table table;
    struct by_cpu_file_copy *found; /* in the file, not judged yet */
    unsigned users;                 /* attached clocks */
    struct shared_file file;        /* where the present entries are from, */
    uint64_t seq;                   /* their number there */
    uint32_t reference_cpu;         /* and whose ticks they show */
    bool is_between;                /* two files: no CPU but the reference has lines, */
    uint64_t between_until_ns;      /* at least up to here by the kernel's clock */
    bool is_over;                   /* all CPUs are read from that clock, for good */
} shared;

static bool is_in_force(void)
{
    return counter_correction() == &shared.table;
}

static bool is_too_wide(const struct by_cpu_anchor *anchor)
{
    return by_cpu_anchor_error_ns(anchor, timebase_ticks_os()) > ERROR_MAX_NS;
}

/* ---- the file */

static int read_head(const struct shared_file *file, struct by_cpu_file_head *head)
{
    int error = shared_file_read(file, head, sizeof(*head), (long)TIMEBASE_PAGE_SIZE);
    return error == TIMEBASE_OK ? by_cpu_file_judge(head) : error;
}

/* The reader's side of the page's protocol, by system calls: see copy_once() in shared_file.c. */
static int copy_once(const struct shared_file *file, struct by_cpu_file_head *head)
{
    struct by_cpu_file_head again;
    int error = read_head(file, head);
    if (error != TIMEBASE_OK)
        return error;
    if (head->cpus > shared.table.cpus)
        return TIMEBASE_E_UNSUPPORTED;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* (A) */
    size_t at = TIMEBASE_PAGE_SIZE + by_cpu_file_copy_at(head->cpus, head->seq);
    error = shared_file_read(file, shared.found, by_cpu_file_copy_size(head->cpus), (long)at);
    if (error != TIMEBASE_OK)
        return error;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* (C) */
    error = read_head(file, &again);
    if (error != TIMEBASE_OK)
        return error;
    return again.seq == head->seq && again.cpus == head->cpus ? TIMEBASE_OK : TIMEBASE_E_TORN;
}

static int copy(const struct shared_file *file, struct by_cpu_file_head *head)
{
    int error = TIMEBASE_E_TORN;
    for (int attempt = 0; attempt < COPY_ATTEMPTS && error == TIMEBASE_E_TORN; attempt++)
        error = copy_once(file, head);
    if (error != TIMEBASE_OK)
        return error;
    if (!by_cpu_file_is_sound(head, shared.found))
        return TIMEBASE_E_FORMAT;
    return is_too_wide(&shared.found->anchor) ? TIMEBASE_E_STALE : TIMEBASE_OK;
}

/* For the first table of this process. It is never given back, as a reader may be anywhere in it. */
static int make_room(unsigned cpus)
{
    if (shared.found != NULL)
        return TIMEBASE_OK;
    size_t entries_size = 2 * cpus * sizeof(struct by_cpu_entry);
    char *memory = mmap(NULL, entries_size + by_cpu_file_copy_size(cpus), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return TIMEBASE_E_RESOURCE;
    shared.table.copy[0].entries = (struct by_cpu_entry *)(void *)memory;
    shared.table.copy[1].entries = shared.table.copy[0].entries + cpus;
    shared.table.cpus = cpus;
    shared.found = (struct by_cpu_file_copy *)(void *)(memory + entries_size);
    return TIMEBASE_OK;
}

/* ---- the table */

static void publish(const struct by_cpu_file_head *head, const struct by_cpu_anchor *anchor,
                    bool has_lines)
{
    static const struct by_cpu_entry unknown;
    struct by_cpu_copy *next = by_cpu_next(&shared.table);
    for (unsigned cpu = 0; cpu < shared.table.cpus; cpu++) {
        bool is_told = cpu < head->cpus && (has_lines || cpu == head->reference_cpu);
        by_cpu_set_entry(next, cpu, is_told ? &shared.found->entries[cpu] : &unknown);
    }
    by_cpu_set_anchor(next, anchor);
    by_cpu_set_spread(&shared.table, shared.found->spread_ticks);
    by_cpu_publish(&shared.table);
}

static int take(const struct shared_file *file, const struct by_cpu_file_head *head)
{
    publish(head, &shared.found->anchor, true);
    shared.file = *file;
    shared.seq = head->seq;
    shared.reference_cpu = head->reference_cpu;
    shared.is_between = false;
    shared.is_over = false;
    return TIMEBASE_OK;
}

static struct by_cpu_anchor present_anchor(void)
{
    return shared.table.copy[shared.table.seq & 1].anchor;
}

/*
 * The lines of another file do not go on from the present ones. Until all have passed what these may
 * have told, CPUs are read from the kernel's clock, by an error that covers both tables.
 */
static int come_between(const struct by_cpu_file_head *head)
{
    uint64_t now_ns = by_cpu_os_ns(timebase_ticks_os);
    struct by_cpu_anchor anchor = present_anchor();
    anchor.error_ns += shared.found->anchor.error_ns;
    shared.between_until_ns = now_ns + 2 * by_cpu_anchor_error_ns(&anchor, now_ns);
    shared.is_between = true;
    publish(head, &anchor, false);
    return TIMEBASE_OK;
}

static int take_another(const struct shared_file *file, const struct by_cpu_file_head *head)
{
    if (head->reference_cpu != shared.reference_cpu)
        return TIMEBASE_E_DISRUPTED;
    if (!shared.is_between)
        return come_between(head);
    if ((int64_t)(timebase_ticks_os() - shared.between_until_ns) < 0)
        return TIMEBASE_OK;
    return take(file, head);
}

static int follow(const struct shared_file *file)
{
    struct by_cpu_file_head head;
    bool is_same = is_in_force() && !shared.is_between &&
        shared.file.device == file->device && shared.file.inode == file->inode;
    int error = read_head(file, &head);
    if (error != TIMEBASE_OK || (is_same && head.seq == shared.seq))
        return error;
    error = make_room(head.cpus);
    if (error == TIMEBASE_OK)
        error = copy(file, &head);
    if (error != TIMEBASE_OK)
        return error;
    bool goes_on = is_same && head.seq > shared.seq;
    return goes_on || !is_in_force() ? take(file, &head) : take_another(file, &head);
}

/*
 * All CPUs by the kernel's clock alone, ahead of all that was told: so nobody has to wait. Twice the
 * error: this thread may be held up for as long again before it publishes.
 */
static void end_it(void)
{
    struct by_cpu_anchor anchor = present_anchor();
    uint64_t ahead_ns = 2 * by_cpu_anchor_error_ns(&anchor, timebase_ticks_os());
    struct by_cpu_copy *next = by_cpu_next(&shared.table);
    static const struct by_cpu_entry unknown;
    for (unsigned cpu = 0; cpu < shared.table.cpus; cpu++)
        by_cpu_set_entry(next, cpu, &unknown);
    anchor.ticks += ahead_ns * anchor.ticks_per_ns +
        timebase_multiply_high(ahead_ns, anchor.ticks_per_ns_frac);
    anchor.error_ns = anchor.growth = 0;
    by_cpu_set_anchor(next, &anchor);
    by_cpu_publish(&shared.table);
    shared.is_over = true;
}

/* Nobody goes back from there to lines, which lie below: for that all clocks are attached anew. */
static int renew(const struct shared_file *file)
{
    struct by_cpu_anchor anchor;
    if (shared.is_over)
        return TIMEBASE_E_STALE;
    int error = follow(file);
    anchor = present_anchor();
    if (is_too_wide(&anchor))
        end_it();
    return shared.is_over ? TIMEBASE_E_STALE : error;
}

/* ---- who reads by it */

static bool lock(struct clock_hold *hold)
{
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        if (guard_try(&shared.guard, hold) != GUARD_BUSY)
            return true;
        timebase_arch_relax();
    }
    return false;
}

static int put_in_force(void)
{
    int error = is_in_force() ? TIMEBASE_OK : counter_correct(&shared.table);
    if (error == TIMEBASE_OK && shared.users++ == 0)
        timebase_clock_restart(timebase_clock_default());
    return error;
}

int by_cpu_shared_begin(const struct shared_file *file)
{
    struct clock_hold hold;
    bool is_as_it_is = timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER;
    if (!by_cpu_is_possible() || !(is_as_it_is || is_in_force()))
        return TIMEBASE_E_UNSUPPORTED;
    if (!lock(&hold))
        return TIMEBASE_E_BUSY;
    int error = is_in_force() ? renew(file) : follow(file);
    if (error == TIMEBASE_OK)
        error = put_in_force();
    guard_release(&shared.guard, &hold);
    return error;
}

void by_cpu_shared_end(void)
{
    struct clock_hold hold;
    if (!lock(&hold))
        return;
    if (--shared.users == 0 && is_in_force()) {
        timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
        timebase_clock_restart(timebase_clock_default());
    }
    guard_release(&shared.guard, &hold);
}

int by_cpu_shared_renew(const struct shared_file *file)
{
    struct clock_hold hold;
    if (!is_in_force())
        return TIMEBASE_E_UNSUPPORTED;
    if (guard_try(&shared.guard, &hold) == GUARD_BUSY)
        return TIMEBASE_OK; /* another clock's thread renews it */
    int error = renew(file);
    guard_release(&shared.guard, &hold);
    return error;
}
