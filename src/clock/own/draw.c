/* SPDX-License-Identifier: MIT */
/* draw: lines to convert by, in the first millisecond of the life of a clock of one's own. */
#include "clock/page/publish.h"
#include "own.h"

#include <timebase/error.h>

/* Two samples so far apart give a slope; see BASELINE_MIN_NS of the estimator. */
#define WAIT_NS 600000
/* Usually one wait is enough; where every sample is interrupted, many are needed. */
#define WAITS 200
#define LOCKED_OUT_MAX 2
/* A bound on the wait in case the reference stands still. */
#define WAIT_ROUNDS 10000

static void wait_by_reference(const struct own_clock *own)
{
    struct reference_moment start, now;
    if (own->reference->moment(own->reference_context, &start) != TIMEBASE_OK)
        return;
    for (int i = 0; i < WAIT_ROUNDS; i++) {
        timebase_arch_relax();
        if (own->reference->moment(own->reference_context, &now) != TIMEBASE_OK ||
            now.mono_ns - start.mono_ns >= WAIT_NS)
            return;
    }
}

static bool has_lines(struct clock_cell *cell)
{
    return timebase_page_seq(cell_lines_page(cell), __ATOMIC_ACQUIRE) != 0;
}

/*
 * The page to convert by. It stays without lines if the thread that maintains the clock does not
 * finish, for example because this is a signal handler that interrupted it.
 */
struct timebase_page *own_lines(struct clock_cell *cell, struct timebase_page *unused)
{
    (void)unused;
    int locked_out = 0;
    for (int round = 0; round < WAITS && locked_out < LOCKED_OUT_MAX && !has_lines(cell); round++) {
        if (round > 0)
            wait_by_reference(own_of(cell));
        locked_out += timebase_clock_maintain(cell_handle(cell)) == TIMEBASE_E_BUSY;
    }
    return cell_lines_page(cell);
}

/*
 * Makes a page for one call by a servo of its own. The interrupted thread may be using the driver's
 * context, so this has another one.
 */
void own_draw(struct clock_cell *cell, struct timebase_page *page)
{
    struct own_clock once = {0};
    struct reference_kernel kernel = {0};
    once.reference = own_of(cell)->reference;
    once.reference_context =
        once.reference == &reference_kernel ? (void *)&kernel : own_of(cell)->reference_context;
    const struct servo_outside outside = own_outside(&once, page);
    publish_begin(page, timebase_counter_id());
    for (int round = 0; round < WAITS; round++) {
        if (round > 0)
            wait_by_reference(&once);
        if (servo_step(&once.servo, &outside) == SERVO_PUBLISHED)
            return;
    }
}
