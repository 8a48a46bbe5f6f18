/* SPDX-License-Identifier: MIT */
#include "pattern.h"

/* How many of ready, ready + period, ... are below end. */
static uint64_t count_before(int64_t end_ns, int64_t ready_ns, int64_t period_ns)
{
    return ready_ns < end_ns ? (uint64_t)((end_ns - 1 - ready_ns) / period_ns) + 1 : 0;
}

static uint64_t releases_wanted(const struct timebase_unit *unit)
{
    if (unit->period_ns == 0)
        return 1;
    return unit->releases > 0 ? unit->releases : UINT64_MAX;
}

struct pattern pattern_of(const struct timebase_calendar *calendar, uint32_t unit, int64_t moved_ns)
{
    const struct timebase_unit *of = &calendar->units[unit];
    int64_t end_ns = calendar->length_ns > 0 ? calendar->length_ns : PATTERN_LIFE_NS + 1;
    int64_t deadline_ns = of->deadline_ns > 0 ? of->deadline_ns : of->period_ns;
    struct pattern pattern;
    pattern.ready_ns = of->ready_ns + moved_ns;
    pattern.period_ns = of->period_ns > 0 ? of->period_ns : PATTERN_LIFE_NS;
    pattern.wcet_ns = of->duration_ns;
    pattern.deadline_ns = deadline_ns > 0 ? deadline_ns - moved_ns : PATTERN_NO_DEADLINE;
    uint64_t within = count_before(end_ns, of->ready_ns, pattern.period_ns);
    uint64_t wanted = releases_wanted(of);
    pattern.count = wanted < within ? wanted : within;
    pattern.is_endless = wanted == UINT64_MAX;
    return pattern;
}

int64_t pattern_ready(const struct pattern *pattern, uint64_t number)
{
    return pattern->ready_ns + (int64_t)number * pattern->period_ns;
}

int64_t pattern_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t pattern_lcm(int64_t a, int64_t b)
{
    int64_t multiple;
    if (a == INT64_MAX || b == INT64_MAX ||
        __builtin_mul_overflow(a / pattern_gcd(a, b), b, &multiple))
        return INT64_MAX;
    return multiple;
}
