/* SPDX-License-Identifier: MIT */
/*
 * corrected_world: counters corrected by CPU on a host that holds everybody up, in virtual time. Three
 * CPUs: the reference, one with an offset and a drift, and one of which nothing is ever known. The
 * thread that renews the table can be stopped at each of its steps, for longer than any lead, while
 * others read: its own process, and another one by copies of the table, of whatever age.
 */
#ifndef SIMULATION_CORRECTED_WORLD_H
#define SIMULATION_CORRECTED_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/cpus.h>

#include "../unit/dice.h"
#include "sync/handle.h"

enum { CPUS = 3, MEASURED = 2, SKIPPED = 77 };
/* Calls in a world. */
enum { RENEWALS = 60 };
/* A tick of the reference is a nanosecond. */
#define MS 1000000
#define SECOND (1000 * (uint64_t)MS)

struct corrected_world {
    struct dice dice;
    uint64_t now;
    unsigned reader;       /* this CPU reads; the renewing thread is on the reference */
    uint64_t offset[CPUS];
    double rate[CPUS];
    uint64_t os_free;      /* when the last CPU at the kernel's timer was through with it */
    uint64_t highest;      /* that anybody has read */
    uint64_t held_up_most; /* in one step of a renewal */
    uint64_t late_most;    /* from one renewal to the next, beyond what was asked for */
    bool is_handed_on;     /* readings of the kernel's clock */
    bool is_shared;      /* half of the readings are another process' */
    bool is_reading;
    bool is_broken;      /* CPU 1's counter was set, and nobody has looked since */
    bool was_away;       /* so it was, offline */
    uint64_t back, most, readings, by_lines, by_copy, back_while_broken, set;
};

extern struct corrected_world world;
extern struct timebase_cpus cpus;

/* No processor of this kind: 77, and a word about it; else 0. */
int world_is_skipped(void);

/* All is 0, and the dice are as they are each time. */
void world_begin_all(void);
/* So many of them: TIMEBASE_TEST_WORLDS. */
unsigned long worlds(void);
/* Another machine, later. */
void world_begin(void);
/* Nothing is known of it: as a process that begins. */
void world_measure_anew(void);

/* Others read in this time. */
void world_pass(uint64_t ticks);
uint64_t world_below(uint64_t limit);
/* CPU 1, by the table in force: a counter that is set may have passed the end of its lines. */
bool world_has_lines(void);
/* No leak: tables are never freed, for readers may hold them. */
void world_keep(struct by_cpu_table *table);

#endif
