/* SPDX-License-Identifier: MIT */
/* Learning the tick: polls the counter and keeps the times at which that stood still. */
#include <stddef.h>

#include <timebase/counter.h>

#include "tick.h"

#define WATCH_MIN_NS 10000000
#define WATCH_MAX_NS 10000000000
/* The shortest gap that may be a tick: ten times as long as the usual poll, and this much more. */
#define GAP_MIN_NS 500
#define USUAL_POLLS 256
/* Between looks at the clock, which may take some us of its own and so is no gap. */
#define LOOK_NS 1000000

struct watch {
    const timebase_clock *clock;
    uint64_t end_ticks;
    uint64_t look_ticks; /* between two looks */
    uint64_t gap_ticks;  /* so long is a gap */
    double tick_ns;
    struct tick_gap gaps[TICK_GAPS_MAX];
    int count;
};

/* The best of three means. */
static uint64_t usual_poll(void)
{
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < 3; round++) {
        uint64_t first = timebase_ticks(), last = first;
        for (int i = 0; i < USUAL_POLLS; i++)
            last = timebase_ticks();
        uint64_t mean = (last - first) / USUAL_POLLS;
        best = mean < best ? mean : best;
    }
    return best;
}

static void note(struct watch *watch, uint64_t before, uint64_t ticks)
{
    struct tick_gap *gap = &watch->gaps[watch->count++];
    gap->start_ns = timebase_mono_at_ns(watch->clock, before);
    gap->length_ns = (int64_t)((double)ticks * watch->tick_ns);
}

/* Until the next look at the clock. */
static uint64_t poll_counter(struct watch *watch)
{
    uint64_t before = timebase_ticks(), now = before, begin = before;
    while (now - begin < watch->look_ticks && watch->count < TICK_GAPS_MAX) {
        now = timebase_ticks();
        if (now - before >= watch->gap_ticks) {
            note(watch, before, now - before);
            now = timebase_ticks();
        }
        before = now;
    }
    return now;
}

static void prepare(struct watch *watch, const timebase_clock *clock, int64_t watch_ns)
{
    int64_t now_ns = timebase_mono_ns(clock);
    uint64_t first = timebase_ticks_at_mono(clock, now_ns);
    uint64_t ticks = timebase_ticks_at_mono(clock, now_ns + watch_ns) - first;
    watch->clock = clock;
    watch->count = 0;
    watch->tick_ns = (double)watch_ns / (double)(ticks > 0 ? ticks : 1);
    watch->look_ticks = (uint64_t)(LOOK_NS / watch->tick_ns);
    watch->gap_ticks = (uint64_t)(GAP_MIN_NS / watch->tick_ns) + 10 * usual_poll();
    watch->end_ticks = timebase_ticks() + ticks;
}

TIMEBASE_API int timebase_tick_comb_learn(const timebase_clock *clock, int64_t watch_ns,
                                          struct timebase_tick_comb *out)
{
    struct watch watch;
    if (clock == NULL || out == NULL || watch_ns < WATCH_MIN_NS || watch_ns > WATCH_MAX_NS)
        return TIMEBASE_E_INVALID;
    prepare(&watch, clock, watch_ns);
    int64_t begin_ns = timebase_mono_ns(clock);
    while (watch.count < TICK_GAPS_MAX && (int64_t)(poll_counter(&watch) - watch.end_ticks) < 0)
        timebase_mono_ns(clock);
    tick_find(watch.gaps, watch.count, timebase_mono_ns(clock) - begin_ns, out);
    return TIMEBASE_OK;
}
