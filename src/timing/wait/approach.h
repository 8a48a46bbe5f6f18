/* SPDX-License-Identifier: MIT */
/*
 * approach: the last microsecond of a wait.
 *
 *     poll the counter until `leave`
 *     take one clean sample: how long is it to the target?
 *     table[time left] = how many dependent instructions fill it
 *     enter the run of them that far from its end
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
    APPROACH_TABLE_ENTRIES = 512, /* a quarter of a tick each */
    APPROACH_LONGEST_RUN = 248,   /* instructions; fits the table's bytes */
    APPROACH_LONGER = 100,        /* instructions, where the table ends before the target */
    APPROACH_VERNIER = 16,        /* readings of a clean sample of a stepped counter */
    APPROACH_FINE = 24,           /* readings of a fine reading */
};

struct approach {
    uint64_t target_ticks; /* where the stamp should fall */
    uint64_t leave_ticks;  /* poll until here */
    int32_t base_256;      /* entry 0 of the table is for: the middle of the first reading's
                            * possible instants + this = the target; 256ths of a tick */
    int32_t step_256; /* of the counter, less one: lower ends of one sample are no farther apart */
    const uint8_t *table;
    void (*event)(void *);
    void *argument;
    /* What happened. */
    uint64_t event_ticks; /* the stamp */
    int32_t middle_256;   /* middle of the first reading's lower ends, relative to the target */
    int32_t width_256;    /* lowest - highest lower end; the sample is known to this + one step */
    uint32_t run;         /* instructions; without them: 0 if it was past leave_ticks already */
    uint32_t gap_ticks;   /* longest time between two polls */
    uint32_t marker;      /* evidence_begin()'s mark as found at the stamp */
    int32_t allowed_256;  /* < 0: some early readings of the sample do not fit the later ones */
    const uint32_t *rseq; /* this thread's struct rseq, or one that never changes */
    uint32_t rseq_cpu;    /* its cpu_id at the stamp */
    uint32_t unused;
    uint64_t rseq_marker;      /* its rseq_cs at the stamp */
    uint64_t not_before_ticks; /* input: the event waits until the counter reads this */
    int32_t longer_quarters;   /* input: of APPROACH_LONGER instructions; quarters of a tick */
    uint32_t polls;            /* readings of the loop, and how long it ran; 0: not counted */
    uint64_t polled_ticks;
    uint32_t readings[APPROACH_FINE];
    int32_t offsets_256[APPROACH_FINE]; /* of the readings after the first */
} __attribute__((aligned(128)));

typedef void approach_function(struct approach *approach);

/* What a processor offers. A null function: it does not offer that. */
struct approach_ways {
    approach_function *single;  /* for fine counters: one reading */
    approach_function *vernier; /* for stepped ones: APPROACH_VERNIER readings */
    void (*read_fine)(uint32_t readings[APPROACH_FINE]);
    void (*run)(uint64_t instructions); /* so many dependent instructions */
    int mechanism;                      /* enum timebase_wait_mechanism */
};

/* The best that this process may use. Call it once: it asks the processor. */
struct approach_ways approach_ways(void);

/* For every processor: poll until leave_ticks, stamp, event. */
void approach_poll(struct approach *approach);

/* The event of waits that return. */
void approach_event_none(void *argument);

#endif
