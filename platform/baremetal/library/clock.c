/* SPDX-License-Identifier: MIT */
/* In place of src/clock/own/default.c and draw.c: there are lines before anybody asks. */
#include "clock.h"

#include "clock/own/own.h"
#include "reference_device.h"

enum { STEPS_MAX = 1000 };

static struct timebase_page *lines(struct clock_cell *cell, struct timebase_page *unused)
{
    (void)unused;
    return cell_lines_page(cell);
}

static void draw(struct clock_cell *cell, struct timebase_page *page)
{
    *page = *cell_lines_page(cell);
}

static void mend(struct clock_cell *cell)
{
    servo_mend(&own_of(cell)->servo, cell_lines_page(cell));
}

static void restart(struct clock_cell *cell)
{
    servo_reset(&own_of(cell)->servo);
}

static void describe(struct clock_cell *cell, struct timebase_statistics *out)
{
    out->samples = own_of(cell)->servo.counts.samples;
    out->publications = own_of(cell)->servo.counts.publications;
}

static const struct clock_kind kind = {
    .read = own_read,
    .lines = lines,
    .draw = draw,
    .maintain = own_maintain,
    .mend = mend,
    .restart = restart,
    .describe = describe,
};

static struct reference_device device_context;
static struct own_clock the_clock = {
    .reference = &reference_device,
    .reference_context = &device_context,
    .cell = CLOCK_CELL_INITIALIZER(&kind),
};

TIMEBASE_API const timebase_clock *timebase_clock_default(void)
{
    return own_handle(&the_clock);
}

const struct servo *clock_servo(void)
{
    return &the_clock.servo;
}

/* The servo says itself how long it wants to wait for the next sample. */
static void pause_between_samples(double tsc_hz)
{
    struct servo_outside outside = own_outside(&the_clock, cell_lines_page(&the_clock.cell));
    double ns = (double)servo_wait_ns(&the_clock.servo, &outside, SERVO_LEARNING);
    uint64_t until = timebase_ticks() + (uint64_t)(ns * tsc_hz / 1e9);
    while ((int64_t)(until - timebase_ticks()) > 0)
        timebase_arch_relax();
}

bool clock_begin(const struct device *device, double tsc_hz)
{
    reference_device_begin(&device_context, device, tsc_hz);
    for (int i = 0; i < STEPS_MAX; i++) {
        own_maintain(&the_clock.cell);
        if (timebase_page_seq(cell_lines_page(&the_clock.cell), __ATOMIC_ACQUIRE) != 0)
            return true;
        pause_between_samples(tsc_hz);
    }
    return false;
}
