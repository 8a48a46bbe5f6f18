/* SPDX-License-Identifier: MIT */
#include "stopwatch.h"

#include "../../instruments.h"

#define COARSE_NS 1.0 /* a counter with longer steps hides what an exact wait is off */
#define ASTRAY_TICKS 1e6

int stopwatch_open(struct stopwatch *watch)
{
    struct timebase_waiter_description about = {0};
    struct timebase_counter counter = {0};
    struct timebase_fine_reading reading;
    int result = timebase_waiter_init(&watch->waiter, timebase_clock_default());

    if (result < 0)
        return result;
    watch->step_ticks = 1;
    if (timebase_counter_probe(&counter) == TIMEBASE_OK)
        watch->step_ticks = counter.granularity_ticks;
    watch->fine = timebase_waiter_describe(&watch->waiter, &about) == TIMEBASE_OK &&
        about.quantum_ns > COARSE_NS &&
        timebase_wait_read_fine(&watch->waiter, ticks_start(), &reading) >= 0;
    return 0;
}

void stopwatch_tune(struct stopwatch *watch)
{
    if (watch->fine)
        timebase_waiter_calibrate(&watch->waiter);
}

static double plain(struct stopwatch *watch, uint64_t base)
{
    uint64_t now = ticks_start();

    watch->readings++;
    watch->bound_ticks += watch->step_ticks / 2;
    return (double)(int64_t)(now - base) + (watch->step_ticks - 1) / 2;
}

static void count(struct stopwatch *watch, int result, const struct timebase_fine_reading *reading)
{
    watch->uneven += result != 0;
    watch->bound_ticks += reading->bound_ticks;
    watch->readings++;
}

double stopwatch_read(struct stopwatch *watch, uint64_t base)
{
    struct timebase_fine_reading reading;

    if (!watch->fine)
        return plain(watch, base);
    count(watch, timebase_wait_read_fine(&watch->waiter, base, &reading), &reading);
    return reading.ticks;
}

void stopwatch_begin(struct stopwatch *watch, struct stopwatch_lap *lap)
{
    lap->begin = ticks_start();
    if (watch->fine)
        timebase_wait_take_fine(&watch->waiter, &lap->before);
}

void stopwatch_end(struct stopwatch *watch, struct stopwatch_lap *lap)
{
    if (watch->fine)
        timebase_wait_take_fine(&watch->waiter, &lap->after);
    else
        lap->end = ticks_start();
}

double stopwatch_length(struct stopwatch *watch, const struct stopwatch_lap *lap)
{
    struct timebase_waiter *waiter = &watch->waiter;
    struct timebase_fine_reading before, after;

    if (!watch->fine) {
        watch->readings += 2;
        watch->bound_ticks += watch->step_ticks;
        return (double)(int64_t)(lap->end - lap->begin);
    }
    count(watch, timebase_wait_place_fine(waiter, &lap->before, lap->begin, &before), &before);
    count(watch, timebase_wait_place_fine(waiter, &lap->after, lap->begin, &after), &after);
    return after.ticks - before.last_ticks;
}

double stopwatch_check(double ticks, uint64_t base)
{
    double now = (double)(int64_t)(ticks_start() - base);

    return now - ticks < ASTRAY_TICKS ? ticks : now;
}
