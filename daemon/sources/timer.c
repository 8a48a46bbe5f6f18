/* SPDX-License-Identifier: MIT */
#include "timer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "clock/counter/readable.h"

enum { BRACKETS = 5, PAGE_SIZE = 4096 };

/* Long enough to know a tick's length to 1 %; a running timer must have moved by then. */
#define BEGIN_NS 1000000
#define STANDSTILL_NS 10000000
/* What the kernel says of a clock that nobody disciplines. */
#define UNSYNCHRONIZED_NS 16000000000

static uint64_t mask(unsigned width)
{
    return width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
}

uint64_t timer_ns(const struct timer *timer, uint64_t count)
{
    uint64_t whole = count / timer->denominator, rest = count % timer->denominator;
    return whole * timer->numerator + rest * timer->numerator / timer->denominator;
}

static uint64_t timer_count(const struct timer *timer, uint64_t ns)
{
    uint64_t whole = ns / timer->numerator, rest = ns % timer->numerator;
    return whole * timer->denominator + rest * timer->denominator / timer->numerator;
}

uint64_t timer_extend(const struct timer *timer, uint64_t raw, int64_t elapsed_ns)
{
    uint64_t advance = (raw - timer->last_raw) & mask(timer->width);
    if (timer->width < 64 && elapsed_ns > 0) {
        /* The clock need be right to half a wrap only, and that is seconds. */
        uint64_t wrap = (uint64_t)1 << timer->width;
        uint64_t expected = timer_count(timer, (uint64_t)elapsed_ns) + wrap / 2;
        if (expected > advance)
            advance += (expected - advance) >> timer->width << timer->width;
    }
    return timer->count + advance;
}

int timer_middle(const uint64_t raw[3], unsigned width, uint64_t *middle)
{
    /* Read byte by byte, a carry in between makes a reading late by 256 counts. */
    const uint64_t close = 128;
    uint64_t first = (raw[1] - raw[0]) & mask(width), second = (raw[2] - raw[1]) & mask(width);
    *middle = raw[1];
    return first < close && second < close && first + second < close ? TIMEBASE_OK
                                                                     : TIMEBASE_E_TORN;
}

/* ---- samples ------------------------------------------------------------------------------- */

struct timer_look {
    uint64_t before, after, raw;
};

static int look(struct timer *timer, struct timer_look *best)
{
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < BRACKETS; i++) {
        struct timer_look next;
        next.before = timebase_ticks_ordered();
        int error = timer->read(timer, &next.raw);
        next.after = timebase_ticks_ordered();
        if (error != TIMEBASE_OK)
            return error;
        if (next.after - next.before < narrowest) {
            narrowest = next.after - next.before;
            *best = next;
        }
    }
    return TIMEBASE_OK;
}

static int64_t time_asleep(void)
{
    int64_t boot_ns = counter_clock_ns(CLOCK_BOOTTIME);
    int64_t mono_ns = counter_clock_ns(CLOCK_MONOTONIC);
    return boot_ns == INT64_MIN || mono_ns == INT64_MIN ? 0 : boot_ns - mono_ns;
}

/*
 * The device shows the time of its last count, up to one count ago: somewhere between that and the
 * end of the reading it showed exactly this, so the bracket begins a count earlier.
 */
static int sample_timer(void *context, struct discipline_sample *sample)
{
    struct timer *timer = (struct timer *)context;
    struct timer_look seen;
    int64_t now_ns = counter_clock_ns(CLOCK_MONOTONIC);
    int error = look(timer, &seen);
    if (error != TIMEBASE_OK || now_ns == INT64_MIN)
        return TIMEBASE_E_REFERENCE;
    timer->count = timer_extend(timer, seen.raw, now_ns - timer->last_ns);
    timer->last_raw = seen.raw;
    timer->last_ns = now_ns;
    *sample = (struct discipline_sample){
        .ticks_before = seen.before - timer->step_ticks,
        .ticks_after = seen.after,
        .step_ticks = 1,
        .mono_ns = (int64_t)timer_ns(timer, timer->count),
        .utc_offset_ns = timer->utc_ns,
        .suspended_ns = time_asleep(),
        .maxerror_ns = UNSYNCHRONIZED_NS,
    };
    return TIMEBASE_OK;
}

static int moment_timer(void *context, struct reference_moment *moment)
{
    (void)context;
    (void)moment;
    return TIMEBASE_E_REFERENCE;
}

static void close_timer(void *context)
{
    timer_close((struct timer *)context);
}

/* ---- beginning and end --------------------------------------------------------------------- */

static int fail(struct timer *timer, const char *reason)
{
    timer->reason = reason;
    return TIMEBASE_E_REFERENCE;
}

/* Counts and ticks over a stretch of time: a count has so many ticks, rounded up. */
static int measure_step(struct timer *timer, const struct timer_look *first, int64_t start_ns)
{
    struct timer_look last;
    uint64_t counts;
    int64_t now_ns;
    do {
        now_ns = counter_clock_ns(CLOCK_MONOTONIC);
        if (look(timer, &last) != TIMEBASE_OK || now_ns == INT64_MIN)
            return TIMEBASE_E_REFERENCE;
        counts = (last.raw - first->raw) & mask(timer->width);
        if (counts == 0 && now_ns - start_ns > STANDSTILL_NS)
            return fail(timer, "the timer stands still");
    } while (counts == 0 || now_ns - start_ns < BEGIN_NS);
    timer->step_ticks = (last.after - first->before) / counts + 1;
    return TIMEBASE_OK;
}

int timer_begin(struct timer *timer)
{
    struct timer_look first;
    int64_t start_ns = counter_clock_ns(CLOCK_MONOTONIC);
    timer->utc_ns = counter_clock_ns(CLOCK_REALTIME);
    if (start_ns == INT64_MIN || timer->utc_ns == INT64_MIN)
        return fail(timer, "the system clock cannot be read");
    int error = look(timer, &first);
    if (error != TIMEBASE_OK)
        return error;
    timer->last_raw = first.raw;
    timer->last_ns = start_ns;
    timer->count = 0;
    return measure_step(timer, &first, start_ns);
}

void timer_close(struct timer *timer)
{
    if (timer->registers != NULL)
        munmap(timer->registers, PAGE_SIZE);
    if (timer->fd >= 0)
        close(timer->fd);
    timer->registers = NULL;
    timer->fd = -1;
}

const struct reference reference_hpet = {
    .name = "hpet",
    .sample = sample_timer,
    .moment = moment_timer,
    .close = close_timer,
};

const struct reference reference_acpi_pm = {
    .name = "acpi_pm",
    .sample = sample_timer,
    .moment = moment_timer,
    .close = close_timer,
};
