/* SPDX-License-Identifier: MIT */
/*
 * approach: the last microsecond of a wait.
 *
 *     poll the counter until `leave`
 *     take one clean sample: how long is it to the target?
 *     run = time left * cycles_per_tick - fixed_cycles
 *     enter a run of dependent instructions that lasts so many cycles of the core
 *     read the counter (the stamp), note the evidence, call event(argument)
 *
 * Each processor has its own, approach_<processor>, as a compiler would change the instructions. A
 * processor without one polls (approach_poll). All of them use this structure. It has cache lines
 * of its own: if another core wrote to one of them, it would be missing just before the event.
 */
#ifndef WAIT_APPROACH_H
#define WAIT_APPROACH_H

#include <stdint.h>

enum {
    APPROACH_LONGEST_RUN = 242, /* cycles */
    APPROACH_VERNIER = 16,      /* readings of a clean sample of a stepped counter */
    APPROACH_BRIEF = 4,         /* and where the target is near, or the core is shared */
    APPROACH_FINE = 32,         /* readings of a fine reading; the last ones are the sample's */
    APPROACH_PADS = 3,          /* spacings of the readings to choose from */
    APPROACH_POLLS = 2,         /* what asks approach_from() to poll */
};

/* An approach relies on it to change rax, rdx, rdi and the flags only. */
typedef void approach_readings(uint32_t readings[APPROACH_FINE]);

/*
 * The code of a wait in a hurry lies together. After a pause each page of it costs the look-up of a
 * translation, which a virtual machine does twice, and each cache line comes from memory.
 */
#define APPROACH_WAY __attribute__((section(".text.hot.timebase_wait")))

struct approach {
    uint64_t target_ticks; /* of the event, apart from what fixed_cycles allows for */
    uint64_t leave_ticks;  /* poll until here */
    uint64_t not_before_ticks; /* the event waits until the counter reads this */
    float cycles_per_tick;
    float fixed_cycles; /* first reading of the sample to the event, without the run */
    float step_ticks;   /* the counter's step: the sample's lower ends are no further apart */
    float slack_ticks; /* the sample's middle is at most half of this above its highest lower end */
    approach_readings *sample; /* takes the sample's readings, the last ones of a fine reading */
    void (*event)(void *);
    void *argument;
    const uint32_t *rseq;            /* this thread's struct rseq, or one that never changes */
    void *frame;                     /* for approach_leave() */
    float offsets[APPROACH_VERNIER]; /* ticks from the sample's first reading to each */
    float brief_offsets[APPROACH_BRIEF]; /* the same of a brief one */
    /* What happened. */
    uint64_t event_ticks; /* the stamp */
    float first_ticks;    /* the sample's first reading, relative to the target */
    float width_ticks;    /* its lowest upper end - highest lower end; < 0: they do not fit */
    uint32_t run;         /* cycles; without an own sample: 0 if it was past leave_ticks already */
    uint32_t gap_ticks;   /* longest time between two polls */
    uint32_t marker;      /* evidence_begin()'s mark as found at the stamp */
    uint32_t rseq_cpu;    /* the thread's cpu_id at the stamp */
    uint64_t rseq_marker; /* its rseq_cs at the stamp */
    int32_t overdue_cycles; /* > 0: the time left was this much too short even for an empty run */
    int32_t late_cycles;    /* input: more than this is late */
    uint32_t readings[APPROACH_FINE];
} __attribute__((aligned(128)));

typedef void approach_function(struct approach *approach);

/* What a processor offers. A null function: it does not offer that. */
struct approach_ways {
    approach_function *single;                /* for fine counters: one reading */
    approach_function *vernier;               /* for stepped ones: APPROACH_VERNIER readings */
    approach_function *brief;                 /* ... APPROACH_BRIEF readings */
    approach_readings *fine[APPROACH_PADS];   /* each spacing: all APPROACH_FINE readings */
    approach_readings *sample[APPROACH_PADS]; /* ... and the last APPROACH_VERNIER of them */
    approach_readings *few[APPROACH_PADS];    /* ... APPROACH_BRIEF of them */
    void (*run)(uint64_t cycles);             /* so many dependent instructions of one cycle */
    int mechanism;                            /* enum timebase_wait_mechanism */
    int leaves;                               /* approach_leave() works */
};

/* The best that this process may use. Call it once: it asks the processor. */
struct approach_ways approach_ways(void);

/* For every processor: poll until leave_ticks, stamp, event. */
void approach_poll(struct approach *approach);

/* The event of waits that return, where there is no better one. */
void approach_event_none(void *argument);

/*
 * Calls within(a, b, c, d, frame), out of which an event may return at once: approach_leave() of an
 * approach with this frame makes approach_from() return, past all functions in between. The result
 * then says whether the wait was late.
 */
typedef int approach_within(void *a, uint64_t b, uint64_t c, void *d, void *frame);
int approach_from(void *a, uint64_t b, uint64_t c, void *d, approach_within *within);
void approach_leave(void *approach);

/* The code that follows such a call; null of a null frame. */
const char *approach_returns_to(const void *frame);

/*
 * For waits by the plain loop: `within` calls this and returns APPROACH_POLLS. approach_from() with
 * this approach's frame then polls until leave_ticks and returns. It takes no stamp, and no
 * evidence beyond what the approach holds already.
 */
void approach_poll_behind(struct approach *approach);

#endif
