/* SPDX-License-Identifier: MIT */
/*
 * delay_lines: what a delay by a run needs, by lines of memory: its code, that of a run, and what
 * it looks at in the waiter. To ask for more or less of them changes nothing but the time.
 */
#ifndef DELAY_DELAY_LINES_H
#define DELAY_DELAY_LINES_H

#include "delay_lesson.h"
#include "delay_pass.h"
#include "delay_short.h"

/* As GCC compiles them for x86-64. */
enum {
    DELAY_LINES_OF_PASS = 23,
    DELAY_LINES_OF_ENTRY = 8,
    DELAY_LINES_TO_RUN = DELAY_LINES_OF_PASS + DELAY_LINES_OF_ENTRY, /* one that does not learn */
    DELAY_LINES_OF_LEARNING = 6,
    DELAY_LINES_OF_FOLLOWING = 20,
    DELAY_LINES_OF_CODE = DELAY_LINES_TO_RUN + DELAY_LINES_OF_LEARNING + DELAY_LINES_OF_FOLLOWING,
    DELAY_LINES_OF_RUN = 6,
    DELAY_LINES_AT_CALL = 3, /* of the waiter: these, and others behind them */
    DELAY_LINES_OF_DATA = 15,
};

/* All of it is asked for in so many steps: some of its code in each, and some of the rest. */
enum {
    DELAY_ASKED = 11, /* waiter->delay_fetched: that has been done */
    DELAY_STEP_OF_CODE = 6,
    DELAY_STEP_OF_REST = 2,
};

_Static_assert(DELAY_ASKED * DELAY_STEP_OF_CODE >= DELAY_LINES_OF_CODE &&
                   DELAY_ASKED * DELAY_STEP_OF_REST >= DELAY_LINES_OF_DATA + DELAY_LINES_OF_RUN,
               "all of it");

/* waiter->delay_fetched: one that was tried was right, or so many were not; see delay_pass.h. */
enum { DELAY_TRIES = 4, DELAY_RAN = DELAY_ASKED + DELAY_TRIES };

static inline const char *delay_line_of(uintptr_t first, unsigned line)
{
    return (const char *)first + line * APPROACH_LINE;
}

static inline const char *delay_code_line(unsigned line)
{
    if (line < DELAY_LINES_OF_PASS)
        return delay_line_of((uintptr_t)delay_pass, line);
    line -= DELAY_LINES_OF_PASS;
    if (line < DELAY_LINES_OF_ENTRY)
        return delay_line_of((uintptr_t)delay_short, line);
    line -= DELAY_LINES_OF_ENTRY;
    if (line < DELAY_LINES_OF_LEARNING)
        return delay_line_of((uintptr_t)delay_learn, line);
    return delay_line_of((uintptr_t)delay_follow, line - DELAY_LINES_OF_LEARNING);
}

static inline const char *delay_run_line(const struct waiter *waiter, unsigned line)
{
    return delay_line_of((uintptr_t)waiter->ways.run, line);
}

static inline const char *delay_data_line(const struct waiter *waiter, unsigned line)
{
    if (line < DELAY_LINES_AT_CALL)
        return delay_line_of((uintptr_t)&waiter->magic, line);
    return delay_line_of((uintptr_t)&waiter->learnt.near_delay_ticks, line - DELAY_LINES_AT_CALL);
}

/* Beside its code, from the last line of the waiter on, which tells where the run lies. */
static inline const char *delay_rest_line(const struct waiter *waiter, unsigned line)
{
    return line < DELAY_LINES_OF_DATA ? delay_data_line(waiter, DELAY_LINES_OF_DATA - 1 - line)
                                      : delay_run_line(waiter, line - DELAY_LINES_OF_DATA);
}

/* A line of each page. */
static inline void delay_look_up_pages(const struct waiter *waiter)
{
    approach_fetch(delay_rest_line(waiter, 0));
    approach_fetch_code((const char *)(uintptr_t)delay_pass);
    approach_fetch_code((const char *)(uintptr_t)delay_short);
    approach_fetch_code((const char *)(uintptr_t)delay_learn);
    approach_fetch_code((const char *)(uintptr_t)delay_follow);
}

#endif
