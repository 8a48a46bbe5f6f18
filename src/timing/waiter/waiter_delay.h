/* SPDX-License-Identifier: MIT */
/* waiter_delay: what a waiter keeps of short delays. Ticks unless said otherwise. */
#ifndef WAITER_WAITER_DELAY_H
#define WAITER_WAITER_DELAY_H

#include <stdint.h>

#include "timing/learn/choice.h"
#include "timing/learn/core_rate.h"
#include "timing/learn/in_a_row.h"
#include "timing/learn/shares.h"

/*
 * How a short delay passes. After a pause it is by a run, too, if its code is near; then one by a
 * run that no reading checks, and by cold code; and counted ones.
 */
enum delay_way {
    DELAY_BY_LOOP,
    DELAY_BY_RUN,
    DELAY_BY_TWO_RUNS,
    DELAY_AFTER_PAUSE,
    DELAY_WAYS,
    DELAY_UNCHECKED = DELAY_WAYS,
    DELAY_AT_ONCE,
    DELAY_AT_ONCE_BARE,
    DELAY_COUNTED,
    DELAY_COUNTED_STAMPED
};

/* Of one way. */
struct waiter_delay {
    double fixed_ticks; /* what it takes beside what it counts */
    double after_ticks; /* from its reading at the end to its return */
    struct shares seen; /* of the cycles that are followed with it */
};

/* Runs that were contradicted, and the cycles of the last one. */
struct far_runs {
    struct in_a_row row;
    double cycles;
};

/* Of one at once that was late, or by another loop. */
enum { DELAY_ERROR_UNKNOWN = -1 };

/*
 * What a run needs is near, as one was right; asked for since it went cold; touched; none of these.
 */
enum delay_code { DELAY_CODE_HOT, DELAY_CODE_FETCHED, DELAY_CODE_NEAR, DELAY_CODE_COLD };

/* What one has to teach: learnt before the next one, as it would make this one longer. */
struct delay_lesson {
    struct waiter_delay *of; /* null: it has been learnt */
    double expected_ticks;   /* of delay_taken_ticks */
    double cycles;           /* counted; by the loop 0 */
    double slack_ticks;      /* off by less it says nothing */
    int64_t taken_ticks;     /* from the call to its end */
    enum delay_code code;
};

/* After the last pause: the code of a counted one was near; is looked at just now; was far. */
enum counted_pause { COUNTED_NEAR, COUNTED_TRIED = 1, COUNTED_FAR = 2 };

/* What all counted ones look at: a line. */
struct waiter_counted {
    uint32_t least_ns; /* the shortest */
    uint32_t span_ns;  /* what is so much longer is none; 0: there are none */
    struct core_rate rate;
    double step_ns; /* of the counter */
    double less_cycles;       /* what it takes beside what it counts, from its second reading on */
    double first_less_cycles; /* ... of two chains the first, from one reading to the next */
    unsigned only;            /* so many only count, the last with a stamp; 0: the next one learns */
    uint32_t roots_from_ns;   /* all so long begin with roots, by a counter with far steps; 0: none */
    int8_t is_worse;          /* than the loop */
    int8_t saw_clock;         /* the last one: it had two chains */
    uint16_t pause;           /* enum counted_pause */
    float way_in_ticks;       /* from the call to its second reading, usually */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct waiter_counted) == 64, "a line");

/* Square roots that hide cold code, at eight a time: delay_from_call.c. */
struct more_roots {
    double each_cycles, each_ticks; /* eight of them; by the counter, when that was calibrated */
    double eights_per_cycle;
    double beside_cycles; /* what they take besides, however many */
    double cold_cycles;   /* the first delay after a pause takes longer, followed by its stamps */
};

/* Of delays that count from their call the longer ones, by two chains with a reading between them. */
struct two_chains {
    uint64_t from_ns;
    double last_cycles; /* the second one, and what there is beside it */
    double last_ticks;  /* from the reading to the return */
    int64_t taken_ticks; /* by the last such delay, to its reading */
};

/* What those look at that have a stamp, or learn from it. */
struct counted_lesson {
    double ns;                /* how long it was to be; 0: there is nothing to learn */
    double hardly_ns;         /* what is no longer neither teaches nor learns: delay_from_call.c */
    double ticks_per_ns;
    double stamp_cycles;      /* one with a stamp, a reading of the counter at its end, takes more */
    int64_t taken_ticks;      /* by the last such one, to its stamp */
    double after_ticks;       /* from a stamp to its return */
    double usual_ns;          /* the last ones were off by, in the mean */
    int early_lessons;        /* so many come sooner, as a calibration may be wrong */
    struct choice choice;     /* by counting, or by the loop? */
    struct in_a_row far_ones; /* that took another time by much */
    struct more_roots roots;
    struct two_chains two;
};

#endif
