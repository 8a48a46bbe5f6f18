/* SPDX-License-Identifier: MIT */
/* waiter_learnt: what a calibration learns of the machine, and waits follow. */
#ifndef WAITER_WAITER_LEARNT_H
#define WAITER_WAITER_LEARNT_H

#include <stdint.h>

#include "timing/learn/tempo.h"

#include "waiter_delay.h"

/* What a wait's event is: a call; or the return to the caller, without or with a result. */
enum event_way { EVENT_CALLED, EVENT_RETURNS, EVENT_TELLS, EVENT_WAYS };

/* What is enough for all but one of so many: followed by steps, and less with each that has less. */
struct waiter_need {
    double ticks, step_ticks, fade_ticks;
    int of;
};

/* Ticks unless said otherwise. */
struct waiter_learnt {
    /* What delays at once and hurried waits look at comes first: three lines, with those before. */
    double period_ns;     /* of a tick */
    int64_t near_ticks;   /* cold_ticks where a wait may end behind, else 0 */
    double at_once_ticks; /* a short delay by the loop alone, beside that; 0: there is none */
    double at_once_rest_ticks; /* ... of it, what is before its reading or behind its stamp */
    int64_t at_once_stamp_ticks; /* ... what its stamp takes; 0: all have one */
    uint64_t checked_ns;  /* the shortest delay that the counter checks */
    int64_t hot_ticks;    /* WAITER_HOT_NS */
    int64_t pause_ticks;  /* since the last event: the code has gone out of the caches meanwhile */
    int64_t last_ticks;       /* so long before its end a delay by the loop does nothing else */
    uint64_t touch_least_ns;  /* the shortest delay that has time to touch a run's code */
    double plain_bias_ticks;        /* last poll's threshold to event: of calls */
    double hurry_ticks[EVENT_WAYS]; /* ... of one in a hurry, more than that */
    uint64_t edge_ticks;            /* on an edge of the counter's step: aim_edge.h */
    double edge_steps_per_tick;     /* 0: loops do not end on edges */
    double edge_links_per_tick;
    int64_t no_rehearsal_ticks;     /* for a target that is nearer than this there is none */
    int64_t cold_ticks; /* how long the stages take after a pause; 0: not known yet */
    struct waiter_need afresh_need; /* ... from its call to its target, of one exact without them */
    int64_t load_least_ticks; /* ... the shortest that has time to load its code */
    struct waiter_need near_needs[2]; /* from its call to its target, to be exact; by code gone cold */
    int64_t cold_near_ticks; /* WAITER_COLD_NS */
    double hurry_rest_ticks[EVENT_WAYS];   /* of one in a hurry: its stamp's reading to its event */
    int64_t hurry_whole_ticks[EVENT_WAYS]; /* ... rounded */
    double half_span_ns;                   /* half of what a reading stands for */
    uint32_t hurry_gap_ticks;              /* more between two polls is a disturbance */
    double exit_ticks[2][EVENT_WAYS]; /* event of a call to this one; plain, exact */
    double unpredicted_ticks[EVENT_WAYS]; /* an exact one's is so much later if its return is that */
    struct tempo_tail tail;   /* last poll to event without a run */
    double stamp_ticks;       /* stamp to event of a call, exact */
    double bare_period_ticks; /* from poll to poll as they were then, less what is added: waiter_bare_period() */
    double usual_period_ticks; /* from poll to poll, where the counter's steps are fine; else 0 */
    /* Of the loop, to where it ends: waiter_loop_way(). */
    double plain_stamp_ticks[EVENT_WAYS]; /* stamp to event, less exit_ticks[0] */
    double never_early_rest_ticks[EVENT_WAYS]; /* of what must not be early: its last poll to its event */
    double never_early_more_ticks; /* ... of a call, more than from a stamp to its event */
    double loop_bias_ticks[EVENT_WAYS];   /* as an exact wait's end: threshold to event */
    double loop_stamp_ticks[EVENT_WAYS];  /* ... and stamp to event */
    double reading_ticks;   /* call of timebase_wait_read_fine() to its first reading */
    double usual_gap_ticks; /* ... from a reading to the next then; where steps are far 0 */
    uint32_t gap_every_ticks; /* that is followed again after so many */
    double lead_ticks;      /* polling in C ends this long before the approach begins */
    double rehearsal_ticks; /* what one takes */
    double exact_spread_ticks;
    double plain_spread_ticks;
    double delay_read_ticks[2]; /* of a delay by a wait: its reading at the call to its fine one; soon
                                 * after another, or not */
    double delay_call_ticks; /* ... and its call to that reading */
    struct waiter_need learning_need; /* as near_needs: of one that learns from the wait before */
    struct waiter_need near_exact_needs[EVENT_WAYS]; /* ... of one at its call */
    struct waiter_need near_exact_learning; /* ... that learns; */
    struct waiter_need near_exact_cold;     /* ... by code gone cold */
    struct waiter_need near_rehearsed;      /* ... from its last rehearsal at its call on */
    double near_rehearsal_ticks;            /* what one of these takes */
    struct waiter_need lead_need; /* ... of one that leads up to its approach, and rehearses once */
    int64_t near_exact_ticks; /* what is nearer may be one; 0: there are none */
    int series;              /* which of the spacings of fine readings */
    /* What short delays look at as well, up to waiter->vernier: delay_lines.h. */
    int exact;                /* 0: no approach but polling works here */
    int64_t near_delay_ticks; /* ... a delay that is shorter; 0 where the counter steps, too */
    double delay_fixed_ticks; /* of one by a run that is not checked */
    double delay_cycle_ticks; /* of a cycle, in runs of thousands */
    int64_t touch_ticks;      /* code that is not near takes longer to touch; 0: not known yet */
    struct waiter_delay delays[DELAY_WAYS][2]; /* without or with a result */
    struct waiter_delay between[2]; /* the reading between two runs, less the first of them */
};

#endif
