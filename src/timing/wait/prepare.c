/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "prepare.h"
#include "rehearsal.h"

/* The first ones fetch code from wherever it is, and say nothing about those behind them. */
enum { COLD_ONES = 2 };

enum { MOST_REHEARSALS = 200, LOOPS = 8, CODE_LINES = 4, CACHE_LINE = 64 };

/* How much longer than usual one may take: the first fetches its code from far away. */
#define COLD 4.0
#define WARM 2.0

static _Thread_local int rehearsing __attribute__((tls_model("initial-exec")));

TIMEBASE_API int timebase_wait_rehearsing(void)
{
    return rehearsing;
}

/*
 * The event's code, or that which the wait returns to, into the second level and the data cache: it
 * is not far then.
 */
static void fetch(const struct waiter *waiter, void (*function)(void *))
{
    const char *code = (const char *)(uintptr_t)function;
    if (code == NULL)
        code = approach_returns_to(waiter->last.frame);
    for (int line = 0; code != NULL && line < CODE_LINES; line++)
        __builtin_prefetch(code + line * CACHE_LINE, 0, 3);
}

static void rehearse_function(void (*function)(void *), void *argument)
{
    if (function == NULL)
        return;
    rehearsing = 1;
    function(argument);
    rehearsing = 0;
}

/* One in eight by the loop, so that both are known; every other one as the wait will end. */
static void rehearse_wait(struct waiter *waiter, unsigned flags, int returns, int is_warm)
{
    unsigned turn = waiter->rehearsals;
    int exact = waiter->learnt.exact && !(flags & TIMEBASE_WAIT_PLAIN) && turn % LOOPS != 0;
    uint64_t start = timebase_ticks();
    double *known = &waiter->learnt.rehearsal_ticks;
    struct rehearsal_plan plan = {exact ? WAY_EXACT : WAY_PLAIN,
                                  returns && turn / (exact ? 1 : LOOPS) % 2};
    if (is_warm)
        rehearsal_learn(waiter, plan);
    else
        rehearsal_near(waiter, plan);
    double took = (double)(timebase_ticks() - start);
    if (is_warm && took < 2 * *known)
        *known += (took - *known) / 16;
}

int prepare(struct waiter *waiter, uint64_t target_ticks, unsigned flags, void (*function)(void *),
            void *argument)
{
    const struct waiter_learnt *learnt = &waiter->learnt;
    double needed = waiter_coarse_ticks(waiter, 0) + learnt->plain_bias_ticks + learnt->lead_ticks;
    int turn = 0;
    fetch(waiter, function);
    waiter->first_ones_ticks = 0;
    if (flags & TIMEBASE_WAIT_REHEARSE &&
        (double)(int64_t)(target_ticks - timebase_ticks()) > needed)
        rehearse_function(function, argument);
    uint64_t start = timebase_ticks();
    for (; turn < MOST_REHEARSALS; turn++) {
        double left = (double)(int64_t)(target_ticks - timebase_ticks());
        if (left < needed + learnt->rehearsal_ticks * (turn == 0 ? COLD : WARM))
            break;
        rehearse_wait(waiter, flags, function == NULL, turn >= COLD_ONES);
        fetch(waiter, function);
        if (turn + 1 == COLD_ONES)
            waiter->first_ones_ticks = (int64_t)(timebase_ticks() - start);
    }
    return turn > 0;
}
