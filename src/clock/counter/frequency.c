/* SPDX-License-Identifier: MIT */
/*
 * The frequency, counted against CLOCK_MONOTONIC_RAW for about 4 ms.
 *
 *     tick, clock, tick       a bracket: the clock was read between two ticks, so its reading
 *                             belongs to their middle +/- half of their distance
 *     ... 4 ms ...
 *     tick, clock, tick
 *
 * At each end the narrowest of several brackets counts: an interrupt makes one wide, not wrong.
 * The wait between is a loop and no sleep, for a counter may stop while the processor sleeps.
 *
 * The bound assumes that both ends read the same counter, or synchronised ones. Whether this
 * machine's counters are synchronised is measured elsewhere (src/sync).
 */
#include <time.h>

#include "probe.h"
#include "readable.h"

enum {
    WINDOW_NS = 4000000,
    BRACKETS = 32,
    QUANTUM_STEPS = 32,
    CLOCK_READS_MAX = 1 << 20, /* a clock that stands still must not hold us for ever */
};

struct raw_bracket {
    uint64_t before, after; /* ticks */
    int64_t clock_ns;
};

static int64_t read_clock(void)
{
    return counter_clock_ns(CLOCK_MONOTONIC_RAW);
}

static struct raw_bracket read_bracket(void)
{
    struct raw_bracket bracket;
    bracket.before = timebase_ticks_ordered();
    bracket.clock_ns = read_clock();
    bracket.after = timebase_ticks_ordered();
    return bracket;
}

static uint64_t width_ticks(const struct raw_bracket *bracket)
{
    return bracket->after - bracket->before; /* huge if the counter went back: never chosen */
}

static struct raw_bracket narrowest_bracket(void)
{
    struct raw_bracket best = read_bracket();
    for (int i = 1; i < BRACKETS; i++) {
        struct raw_bracket next = read_bracket();
        if (width_ticks(&next) < width_ticks(&best))
            best = next;
    }
    return best;
}

/*
 * How far behind the true time a reading of the clock can be: no more than its smallest step.
 * 1 ns is the least, the unit of what clock_gettime() returns; a clock made of HPET ticks steps
 * by 70 ns, one of jiffies by milliseconds, whatever clock_getres() says. Never more than
 * INT64_MAX; that is for a clock that was not seen to move.
 */
static uint64_t clock_quantum_ns(void)
{
    int64_t smallest = INT64_MAX, last = read_clock();
    for (int i = 0, steps = 0; i < CLOCK_READS_MAX && steps < QUANTUM_STEPS; i++) {
        int64_t now = read_clock();
        if (now > last) {
            steps++;
            smallest = now - last < smallest ? now - last : smallest;
        }
        last = now;
    }
    return (uint64_t)smallest;
}

static void wait_until(int64_t end_ns)
{
    for (int i = 0; i < CLOCK_READS_MAX && read_clock() < end_ns; i++)
        timebase_arch_relax();
}

/*
 * ticks * 10^9 / ns, rounded down. Numbers too long for the product lose digits beyond the 32nd;
 * a result too long, which only a window of no length gives, is the largest there is.
 */
static uint64_t quotient_hz(uint64_t ticks, uint64_t ns)
{
    while (ns >> 33) {
        ns >>= 1;
        ticks >>= 1;
    }
    if (ticks / ns >= UINT64_MAX / 1000000000)
        return UINT64_MAX;
    return ticks / ns * 1000000000 + ticks % ns * 1000000000 / ns;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct counter_measurement counter_rate(uint64_t ticks, uint64_t ticks_error, uint64_t ns,
                                        uint64_t ns_error)
{
    struct counter_measurement unknown = {1000000000, UINT64_MAX};
    if (ns <= ns_error || ticks <= ticks_error)
        return unknown;
    uint64_t hz = quotient_hz(ticks, ns);
    if (hz == 0)
        return unknown;
    uint64_t highest = quotient_hz(ticks + ticks_error, ns - ns_error);
    uint64_t lowest = quotient_hz(ticks - ticks_error, ns + ns_error);
    /* + 1: the quotients are rounded down. */
    struct counter_measurement measured = {hz, larger(highest - hz, hz - lowest) + 1};
    return measured;
}

/*
 * Each end is known to half its width. A counter that reads n may stand just before its next step,
 * and a clock likewise: differences are wrong by a step of either. + 1: halves are rounded down.
 */
static struct counter_measurement rate_between(const struct raw_bracket *first,
                                               const struct raw_bracket *last, uint64_t step_ticks,
                                               uint64_t quantum_ns)
{
    uint64_t width_first = width_ticks(first), width_last = width_ticks(last);
    uint64_t ticks = (last->before - first->before) + width_last / 2 - width_first / 2;
    uint64_t ticks_error = (width_first + width_last) / 2 + 1 + step_ticks;
    int64_t ns = last->clock_ns - first->clock_ns;
    if (ns < 0 || (int64_t)ticks < 0 || (width_first | width_last) >> 62)
        return counter_rate(0, 0, 0, 0);
    return counter_rate(ticks, ticks_error, (uint64_t)ns, quantum_ns);
}

/*
 * A counter in even steps has their divisor; one in uneven steps (62 and 63, of QEMU's Arm
 * counter, which is 62.5 MHz looked at once a microsecond) has the smallest one, rounded down.
 */
uint64_t counter_largest_step(const struct timebase_counter *counter)
{
    return larger(counter->granularity_ticks, counter->smallest_step_ticks + 1);
}

struct counter_measurement counter_measure_frequency(uint64_t step_ticks)
{
    uint64_t quantum_ns = clock_quantum_ns();
    struct raw_bracket first = narrowest_bracket();
    wait_until(first.clock_ns + WINDOW_NS);
    struct raw_bracket last = narrowest_bracket();
    return rate_between(&first, &last, step_ticks, quantum_ns);
}
