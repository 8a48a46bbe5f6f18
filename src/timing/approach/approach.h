/* SPDX-License-Identifier: MIT */
/*
 * approach: the last microsecond of a wait.
 *
 *     poll the counter: by all polls, how long is it to the target? In cycles of the core?
 *     until no other poll can come before it
 *     enter a run of dependent instructions that lasts so many cycles; or, where polls have
 *         contradicted each other lately, poll to the end
 *     read the counter (the stamp) and note the evidence, call event(argument)
 *
 * Each processor has its own, approach_<processor>, as a compiler would change the instructions. A
 * processor without one polls (approach_poll). All of them use this structure. It has cache lines
 * of its own: if another core wrote to one of them, it would be missing just before the event.
 */
#ifndef APPROACH_APPROACH_H
#define APPROACH_APPROACH_H

#include <stdint.h>

#include "foresee.h"

enum {
    APPROACH_LONGEST_RUN = 242, /* cycles */
    APPROACH_LONGEST_PAD = 31,  /* cycles that may be added between polls */
    APPROACH_VERNIER = 16,      /* polls that are kept; readings of an event */
    APPROACH_FINE = 32,         /* readings of a fine reading; the last ones are a series of those */
    APPROACH_PADS = 3,          /* spacings of the readings to choose from: */
    APPROACH_PAD_CYCLES = 6,    /* each so much longer than the one before */
    APPROACH_RUNS = 3,          /* pieces of code to run into */
    APPROACH_LONGEST_EDGE = 14, /* links behind a loop that ends on an edge of the counter's step */
    APPROACH_ENDS_BEHIND = 2,   /* what asks approach_from() to call approach->end() */
    APPROACH_TICK_BITS = 8,     /* of ticks' fractions */
    APPROACH_CYCLE_BITS = 24,   /* of cycles' */
    APPROACH_FARTHEST = 1 << 27, /* ticks: all that is further from its target is so far away */
};

/* Readings at a known distance, into the array; a series fills its end. */
typedef void approach_readings(uint32_t readings[APPROACH_FINE]);

/*
 * The code of a wait in a hurry lies together, and behind it that of delays. After a pause each page
 * of it costs the look-up of a translation, which a virtual machine does twice, and each cache line
 * comes from memory.
 */
#define APPROACH_WAY __attribute__((section(".text.hot.timebase_wait")))

/* Of it, a function with which a page begins; on x86-64, where the order of all of it is as measured. */
#ifdef __x86_64__
#define APPROACH_PAGE __attribute__((aligned(4096)))
#else
#define APPROACH_PAGE
#endif

/* The end of a wait: returns whether it was late. */
struct approach;
typedef int approach_function(struct approach *approach);

struct approach {
    uint64_t target_ticks; /* of the event, apart from what fixed_cycles allows for */
    uint64_t leave_ticks;  /* one by the loop polls until here; so does an exact one that ends so */
    int64_t never_early;       /* 1: one by the loop, whose last poll is its stamp */
    int64_t cycles_per_tick;   /* 2^-(CYCLE_BITS - TICK_BITS) */
    int64_t fixed_cycles;      /* last poll's reading to event, without the run; 2^-CYCLE_BITS */
    int64_t earliest_ticks;    /* from one poll to the next at least; 2^-TICK_BITS, as the next two */
    int64_t latest_ticks;      /* and at most */
    int64_t span_ticks;        /* a reading of v stands for v to v + this */
    void (*event)(void *);
    void *argument;
    const uint32_t *rseq;      /* this thread's struct rseq, or one that never changes */
    void *frame;               /* of approach_from() */
    approach_function *behind; /* the loop of a wait that ends behind approach_from(); null: it does not */
    int32_t another_cycles;    /* if more are left, there is time for another poll */
    int32_t pad_cycles;        /* between two polls */
    int32_t late_cycles;       /* more than this is late */
    /* What happened. */
    int32_t overdue_cycles; /* > 0: the time left was this much too short even for an empty run */
    uint64_t event_ticks;   /* the stamp */
    int64_t sample_ticks;   /* when the last poll read the counter, relative to the target; 2^-TICK_BITS */
    int64_t width_ticks;    /* between the earliest and the latest such instant; < 0: there was none */
    uint32_t run;           /* cycles; by the loop 0; or: */
#define APPROACH_NO_RUN UINT32_MAX /* an exact one that ended by the loop */
    uint32_t gap_ticks;     /* longest time between two polls */
    uint32_t marker;        /* evidence_begin()'s mark as found at the stamp */
    uint32_t rseq_cpu;      /* the thread's cpu_id at the stamp */
    uint64_t rseq_marker;   /* its rseq_cs at the stamp */
    uint32_t polls;         /* of an exact approach */
    int32_t poll_ticks[APPROACH_VERNIER]; /* the last ones, relative to the target: poll k at k modulo these */
    int32_t even_polls;  /* since one contradicted those before it; of all approaches, in and out */
    int32_t even_least;  /* if they are fewer, an exact approach ends by the loop */
    int32_t loop_cycles; /* ... unless fewer are left for a run */
    approach_function *end;      /* what approach_from() ends with: see approach_end_behind() */
    approach_function *way;      /* ... and of a wait that tells something then, what comes first */
    approach_foresight *foresee; /* by the loop: of what it ends with; null: not possible */
    const void *returns_to;      /* a wait with a result that ends behind approach_from() */
    /* Of waits that begin no approach. */
    uint64_t hurry_ticks;       /* until when the last one polled */
    uint64_t hurry_event_ticks; /* its stamp */
    uint32_t hurry_late;        /* how many were late */
    uint32_t hurry_way;         /* the last one's event */
    /*
     * On x86-64. Beside a neighbour a reading takes longer, and then so does the next one. So an exact
     * event comes sooner for each tick by which the last poll came later than usual behind the one
     * before; not by more or less than half of that, or if there was none before; nor by less than what
     * the steps of two readings make of it.
     */
    int32_t usual_ticks;       /* from poll to poll */
    int32_t sooner_from_ticks; /* at most half of that */
    int64_t sooner_per_tick; /* cycles; 2^-CYCLE_BITS */
    int64_t sooner_cycles;   /* of the last event; 2^-CYCLE_BITS */
    /* A loop that may be early ends so many ticks sooner, on an edge of the counter's step; see edge.h. */
    int32_t edge_sooner_ticks;
    int32_t edge_links; /* ... and passes a chain of so many before its stamp */
} __attribute__((aligned(128)));

/* Further from any target than a poll can be. */
#define APPROACH_NEVER (INT64_C(1) << 50)

/*
 * Passes so many cycles from when `link` is known, and ends by a fence. Returns 0. A wrong prediction
 * costs nothing if `link` is known late enough.
 */
typedef int approach_counting(uint64_t cycles, uint64_t link);

/* What a processor offers. A null function: it does not offer that. */
struct approach_ways {
    approach_function *exact;
    approach_function *exact_hot; /* the same where what follows is near; null: there is no other */
    /* Where there are these, an exact approach's polls are equally far apart, too. */
    approach_readings *fine[APPROACH_PADS];   /* each spacing: all APPROACH_FINE readings */
    approach_readings *series[APPROACH_PADS]; /* ... and the last APPROACH_VERNIER of them */
    void (*run)(uint64_t cycles);             /* so many dependent instructions of one cycle */
    void (*forget_returns)(void);             /* as interrupts do; null: not possible */
    approach_counting *count;                 /* null: not possible */
    approach_foresight *foresee;              /* null: not possible */
    approach_foresight_of_return *foresee_return; /* ... nor is this */
    const void *runs[APPROACH_RUNS];          /* of an exact approach: what to foresee */
    const void *returning_runs[APPROACH_RUNS]; /* ... of one that only returns */
    int mechanism;                            /* enum timebase_wait_mechanism */
    approach_function *poll_bare;             /* approach_poll_bare(); null: waits end within */
    approach_function *poll_never_early;      /* approach_poll_never_early(); as that */
};

/* The best that this process may use. Call it once: it asks the processor. */
struct approach_ways approach_ways(void);

/* For every processor: poll until leave_ticks, stamp, event. */
approach_function approach_poll;

/* The same for one that has begun: its gap_ticks are looked at, too. */
approach_function approach_poll_to_event;

/*
 * The same without an event, for one that has begun: its gap_ticks are looked at, too. While there is
 * time, for the last time half a microsecond before the end, `fetch` is called, and does as what
 * follows will.
 */
typedef void approach_fetching(struct approach *approach);
void approach_poll_on(struct approach *approach, approach_fetching *fetch);

/* The event of waits that return: nothing. */
void approach_event_none(void *argument);

/*
 * Returns what within(a, b, c, d, frame) does. Unless that is APPROACH_ENDS_BEHIND, and it has called
 * approach_end_behind() for an approach with this frame: then what end(approach) returns. All calls
 * before that have returned, and there is one more return, which is predicted rightly.
 */
typedef int approach_within(void *a, uint64_t b, uint64_t c, void *d, void *frame);
int approach_from(void *a, uint64_t b, uint64_t c, void *d, approach_within *within);

/* In line: it would lie on a page that is used for nothing else. Not where there is no frame. */
static inline void approach_end_behind(struct approach *approach, approach_function *end)
{
    approach->end = end;
    ((struct approach **)approach->frame)[-1] = approach;
}

/* The code that follows such a call: above the registers that it saves. Null of a null frame. */
static inline const char *approach_returns_to(const void *frame)
{
    enum { SAVED = 6 };
    return frame != 0 ? ((const char *const *)frame)[SAVED] : 0;
}

/*
 * One that polls until leave_ticks and returns. It takes no evidence beyond what the approach holds
 * already.
 */
approach_function approach_poll_bare;

/* The same, of one that must not be early: its last poll is its stamp. */
approach_function approach_poll_never_early;

/*
 * Polls until hurry_ticks and returns, on x86-64. It begins no approach: what another has to tell
 * remains.
 */
approach_function approach_hurry;

/* The same, and near its end it foresees what follows: not where that may be far away. */
approach_function approach_hurry_and_look;

/* Of one that must not be early: its last poll is its stamp. */
approach_function approach_hurry_never_early;
approach_function approach_hurry_never_early_and_look;

#endif
