/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "prepare.h"
#include "track.h"

enum { DRY_RUNS = 4, DRY_RUN_NS = 1200, CODE_LINES = 4, CACHE_LINE = 64 };

static _Thread_local int rehearsing __attribute__((tls_model("initial-exec")));

TIMEBASE_API int timebase_wait_rehearsing(void)
{
    return rehearsing;
}

static int64_t left_ns(const struct waiter *waiter, uint64_t target_ticks)
{
    return (int64_t)((double)(int64_t)(target_ticks - timebase_ticks()) * waiter->learnt.period_ns);
}

/* Into the data cache at least; the dry runs fetch the code of the approach. */
static void fetch(const struct waiter *waiter, void (*function)(void *))
{
    const char *code = (const char *)(uintptr_t)function;
    for (int line = 0; function != NULL && line < CODE_LINES; line++)
        __builtin_prefetch(code + line * CACHE_LINE, 0, 3);
    for (unsigned i = 0; i < sizeof(waiter->table); i += CACHE_LINE)
        __builtin_prefetch(&waiter->table[i], 0, 3);
}

static void rehearse(void (*function)(void *), void *argument)
{
    if (function == NULL)
        return;
    rehearsing = 1;
    function(argument);
    rehearsing = 0;
}

/* An approach without an event. It shows the speed of the core clock, too. */
static void run_dry(struct waiter *waiter)
{
    struct approach *a = &waiter->approach;
    uint64_t target = timebase_ticks() + (uint64_t)waiter->learnt.coarse_ticks + 64;
    waiter_aim(waiter, target, 0, 1);
    a->not_before_ticks = target - (UINT64_C(1) << 62);
    a->event = approach_event_none;
    waiter->best(a);
    waiter->can_track = a->marker == 1;
    waiter_track(waiter);
}

int prepare(struct waiter *waiter, uint64_t target_ticks, unsigned flags, void (*function)(void *),
            void *argument)
{
    int64_t needed = (int64_t)(waiter->learnt.coarse_ticks * waiter->learnt.period_ns) + DRY_RUN_NS;
    int runs = 0;
    fetch(waiter, function);
    int is_in_time = left_ns(waiter, target_ticks) > needed;
    if (flags & TIMEBASE_WAIT_REHEARSE && is_in_time)
        rehearse(function, argument);
    if (!waiter->learnt.exact)
        return is_in_time;
    for (; runs < DRY_RUNS && left_ns(waiter, target_ticks) > needed; runs++)
        run_dry(waiter);
    return runs > 0;
}
