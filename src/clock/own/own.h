/* SPDX-License-Identifier: MIT */
/*
 * own: a clock of one's own. It compares a reference with the counter, disciplines itself and
 * publishes its lines into its own page.
 */
#ifndef CLOCK_OWN_OWN_H
#define CLOCK_OWN_OWN_H

#include <stddef.h>

#include "clock/cell.h"
#include "clock/reference/reference.h"
#include "clock/servo/servo.h"

struct own_clock {
    const struct reference *reference;
    void *reference_context;
    struct servo servo;
    /* Time asleep at the sample that the page's two copies are drawn by: words, like the copies. */
    uint64_t suspended_ns[2];
    struct clock_cell cell;
};

extern const struct clock_kind clock_own;

#define OWN_CLOCK_INITIALIZER(driver, context)                                                     \
    {                                                                                              \
        .reference = (driver), .reference_context = (context),                                     \
        .cell = CLOCK_CELL_INITIALIZER(&clock_own)                                                 \
    }

static inline struct own_clock *own_of(struct clock_cell *cell)
{
    return (struct own_clock *)(void *)((char *)cell - offsetof(struct own_clock, cell));
}

static inline const timebase_clock *own_handle(const struct own_clock *own)
{
    return cell_handle(&own->cell);
}

/* What the servo of this clock stands on, if it publishes into this page. */
struct servo_outside own_outside(struct own_clock *own, struct timebase_page *page);

/* Sample the reference and publish. Locked. Returns 0 or an error. */
int own_maintain(struct clock_cell *cell);

/* The slow path. */
void own_read(struct clock_cell *cell, struct timebase_instant *out);

/* The page to convert by, with lines if that is possible; and lines for one call alone. */
struct timebase_page *own_lines(struct clock_cell *cell, struct timebase_page *unused);
void own_draw(struct clock_cell *cell, struct timebase_page *page);

#endif
