/* SPDX-License-Identifier: MIT */
/*
 * cell: a clock's page, and before it in memory what any clock needs. The handle that users hold
 * is the address of the page, so that the inline reads start from it without a detour.
 *
 * There are two kinds of clock. One's own compares a reference with the counter, and writes its
 * page (own/own.h); an attached one copies the lines that another process has published
 * (attach/mirror.h). Each kind is a structure of its own whose last member is the cell.
 *
 * Where the processor's counter cannot be read inline, `page` stays empty for ever (seq 0 sends
 * every reader to the slow path) and the lines live in `shadow`, over the OS clock's ticks, or over
 * those that are corrected by CPU.
 */
#ifndef CLOCK_CELL_H
#define CLOCK_CELL_H

#include <timebase/clock.h>

#include "guard.h"

struct clock_cell;

/* What a kind of clock does its own way. "Locked": the caller has the lock, see cell_try_lock(). */
struct clock_kind {
    /* Where the inline reads go when their page has no line for now. It always answers. */
    void (*read)(struct clock_cell *cell, struct timebase_instant *out);
    /*
     * The page to convert ticks by, fit for ticks up to now; it has no lines if the clock has none.
     * The kind may also fill `own`, the caller's empty page, and return that.
     */
    struct timebase_page *(*lines)(struct clock_cell *cell, struct timebase_page *own);
    /* Lines for one call alone, into an empty page, where lines() had none. It may stay empty. */
    void (*draw)(struct clock_cell *cell, struct timebase_page *page);
    /* Renew the lines. Locked. Returns 0 or an error. */
    int (*maintain)(struct clock_cell *cell);
    /* The thread that held the lock is gone: mend what it may have left half-written. Locked. */
    void (*mend)(struct clock_cell *cell);
    /* The lines were cleared: forget what led to them. Locked. */
    void (*restart)(struct clock_cell *cell);
    /* Fill what is not counted in cell->statistics. Locked. */
    void (*describe)(struct clock_cell *cell, struct timebase_statistics *out);
};

struct clock_cell {
    struct clock_guard lock;
    int32_t maintenance; /* enum timebase_maintenance */
    const struct clock_kind *kind;
    struct timebase_statistics statistics;
    struct timebase_page shadow;
    struct timebase_page page;
};

#define CLOCK_PAGE_INITIALIZER(counter)                                                            \
    {                                                                                              \
        .magic = TIMEBASE_PAGE_MAGIC, .size = TIMEBASE_PAGE_SIZE,                                  \
        .version = TIMEBASE_PAGE_VERSION, .counter_id = (counter)                                  \
    }

/* A constant: so a cell works from the first instruction of a process on. */
#define CLOCK_CELL_INITIALIZER(its_kind)                                                           \
    {                                                                                              \
        .kind = (its_kind), .shadow = CLOCK_PAGE_INITIALIZER(TIMEBASE_COUNTER_OS),                 \
        .page = CLOCK_PAGE_INITIALIZER(TIMEBASE_ARCH_COUNTER)                                      \
    }

static inline struct clock_cell *cell_of(const timebase_clock *clock)
{
    const char *page = (const char *)clock;
    return (struct clock_cell *)(uintptr_t)(page - offsetof(struct clock_cell, page));
}

static inline const timebase_clock *cell_handle(const struct clock_cell *cell)
{
    return (const timebase_clock *)(const void *)&cell->page;
}

/* The page that has this cell's lines: the public one, or the shadow. */
struct timebase_page *cell_lines_page(struct clock_cell *cell);

/*
 * Try to become the thread that works on the cell. Never waits. If the thread that locked the cell
 * is gone, takes the cell over and mends it. The same thread unlocks, and keeps *hold until then.
 */
bool cell_try_lock(struct clock_cell *cell, struct clock_hold *hold);
/* The same in a bounded number of attempts. */
bool cell_lock(struct clock_cell *cell, struct clock_hold *hold);
void cell_unlock(struct clock_cell *cell, const struct clock_hold *hold);
/* Wait some 20 µs for the thread that has the lock to finish. */
void cell_await_unlock(const struct clock_cell *cell);

/* Now, by the lines that inline readers follow. False if these want renewal, or there are none. */
bool cell_read_current(struct clock_cell *cell, struct timebase_instant *out);

/* There are neither lines nor a reference: an instant UNKNOWN, with the largest errors. */
void cell_unknown(uint64_t ticks, struct timebase_instant *out);

#endif
