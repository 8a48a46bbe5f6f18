/* SPDX-License-Identifier: MIT */
/*
 * skew: how far the counters of two CPUs can be apart, for the bound. Here it is only measured: as
 * long as zero lies within what was measured, a correction would only move the error. correction.h
 * corrects counters that certainly differ, in a process that asks for it.
 *
 * Two threads on two CPUs throw readings to each other. What is read after something arrived was
 * read later than what was sent, whatever the counters say:
 *
 *     there sees a reading of here:  there - here >= offset      so offset <= each of these
 *     here sees one of there:        here - there >= -offset     so offset >= each of there - here
 *
 * where offset is what the counter there shows less what the counter here shows at the same time.
 *
 * Each CPU is measured against the one that it shares most with and that was measured itself, up to
 * the first: the ranges along the way add up. So neighbours, who see each other soonest, are
 * compared with each other, and the way has no more levels than the machine. All takes as many
 * rounds as it takes; each is short.
 *
 *     skew_open(&map, throws)
 *     until map.is_done:  skew_round(&map, budget_ns); ... other things ...
 *     skew_of_map(&map, &skew)
 */
#ifndef SYNC_SKEW_H
#define SYNC_SKEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of an offset, in ticks; nothing yet: INT64_MIN to INT64_MAX. */
struct skew_range {
    int64_t low_ticks, high_ticks;
};

#define SKEW_UNKNOWN ((struct skew_range){INT64_MIN, INT64_MAX})

/* One throw: sent on the CPU that it names, received on the other, each with its own counter. */
void skew_there(struct skew_range *range, uint64_t sent_here, uint64_t received_there);
void skew_here(struct skew_range *range, uint64_t sent_there, uint64_t received_here);

/* Both ends are known, and do not contradict each other. */
bool skew_is_usable(const struct skew_range *range);

/*
 * The best guess: both ways take the same at their quickest. Wrong by half their difference, and by
 * half the width at most.
 */
int64_t skew_middle(const struct skew_range *range);

/* From end to end, of a usable range. */
uint64_t skew_width(const struct skew_range *range);

/* Of c against a, from b against a and c against b; SKEW_UNKNOWN if it does not fit. */
struct skew_range skew_chain(const struct skew_range *b_against_a,
                             const struct skew_range *c_against_b);

/* By how much two of the CPUs can differ at most; begins with all 0. */
struct skew_extremes {
    bool is_any;
    int64_t lowest_ticks, highest_ticks;
    uint64_t most_ticks;
};

/* One more CPU's range against the first, which is usable. */
void skew_extend(struct skew_extremes *extremes, const struct skew_range *range);

/* ---- lists of CPUs ------------------------------------------------------------------------- */

/* As many as any kernel can be built for. */
enum { SKEW_CPUS = 8192 };

/* Those that are online, those that could be, and those that this thread may use: how many; 0:
 * nobody tells. */
unsigned skew_list_online(int cpus[SKEW_CPUS]);
unsigned skew_list_present(int cpus[SKEW_CPUS]);
unsigned skew_list_own(int cpus[SKEW_CPUS]);

/*
 * "0-3,8,10-11" as the kernel writes lists of CPUs: how many, of which the first `size` are in
 * cpus[], rising. 0: it is no such list.
 */
unsigned skew_parse_list(const char *text, int *cpus, unsigned size);

/*
 * A number that the CPU has for as long as it is online, and never again: who was away and came back
 * has another one. Its counter may have been set. 0: the kernel does not tell.
 */
uint64_t skew_life(int cpu);

enum { SKEW_RELATIVES = 4 };

/*
 * Whom this CPU shares a core, a cache and a package with, the nearest first: of each of these the
 * lowest, if that is another. How many; 0 of the first, and where the kernel does not tell.
 */
unsigned skew_relatives(int cpu, int relatives[SKEW_RELATIVES]);

/* ---- all CPUs ------------------------------------------------------------------------------ */

/* What a range was, and when by the counter of the first CPU. */
struct skew_measurement {
    uint64_t ticks;
    struct skew_range range;
};

enum { SKEW_MEASUREMENTS = 8 };

/* The last ones that are no wider than others, the oldest first; drift.h says what follows. */
struct skew_drift {
    unsigned count;
    struct skew_measurement points[SKEW_MEASUREMENTS];
};

/* The two narrowest of all ranges, in ticks, whatever the counter did; UINT64_MAX: none yet. */
struct skew_narrowest {
    uint64_t first_ticks, second_ticks;
    uint64_t doubted_ticks; /* the last one that was refused since */
};

#define SKEW_NARROWEST_UNKNOWN ((struct skew_narrowest){UINT64_MAX, UINT64_MAX, UINT64_MAX})

/*
 * False: this one is refused, and is no measurement. A counter that is set while it is measured moves
 * one end of the range alone: it becomes narrower than the ways take, and no offset lies in it for
 * certain. So one that is less than half of two that agree is believed when another one agrees with
 * it: then those two were held up alike, or the ways have become quicker.
 */
bool skew_narrow(struct skew_narrowest *narrowest, uint64_t width_ticks);

/*
 * Two that agree were hardly held up both: they show what the ways there and back take at their quickest.
 * Beside much load no two agree.
 */
bool skew_is_settled(const struct skew_narrowest *narrowest);

struct skew_cpu {
    int number;
    uint64_t life;           /* what is known is of this one */
    int against;             /* whom it was measured against */
    bool is_measured;        /* and that one too, up to the first */
    bool is_refused;         /* no thread of ours may run there */
    bool is_contradictory;   /* no constant offset fits what was seen */
    unsigned attempts;       /* in this round of all */
    unsigned jumps;          /* how often no steady drift fitted: it was set, or stood still */
    int64_t measured_ns;     /* monotonic time of the last measurement */
    struct skew_range pair;  /* the counter here - that of `against` */
    struct skew_range range; /* against the first; of that itself 0 */
    struct skew_drift drift; /* of range */
    struct skew_narrowest narrowest;
};

struct skew_map {
    struct skew_cpu *cpus; /* all that the kernel says are online, rising */
    unsigned count;
    uint32_t throws; /* of each pair, each way */
    unsigned next;   /* to be tried */
    bool is_done;  /* each was measured, or tried often enough */
};

/*
 * List the CPUs that are online, whether or not this process may run on them. What was measured of
 * those that have been there since is kept. A pair exchanges so many throws, if there is time. Returns
 * 0, or TIMEBASE_E_UNSUPPORTED: the kernel does not tell, and they are those of this thread's
 * affinity; nothing at all: count is 0.
 */
int skew_open(struct skew_map *map, uint32_t throws);
void skew_close(struct skew_map *map);

/* Are other CPUs online than in the map, or has one been away? A file of a few bytes is read, and each
 * CPU's folder looked up. */
bool skew_is_outdated(const struct skew_map *map);

/* All, or those not known yet, are tried again; what is known stays until it is replaced. */
void skew_again(struct skew_map *map, bool only_unknown);

/* The machine may be another one: nothing is known any more, and all are tried again. */
void skew_forget(struct skew_map *map);

/* Of this CPU nothing is known any more; has_jumped: its counter was set, or stood still. */
void skew_doubt(struct skew_cpu *cpu, bool has_jumped);

/*
 * Measure for so long, and some milliseconds at most longer. Two threads for each pair are started
 * and ended, and run for tens of microseconds. Returns whether anything has become known.
 */
bool skew_round(struct skew_map *map, int64_t budget_ns);

struct skew {
    uint64_t ticks; /* two measured CPUs' counters differ by no more */
    unsigned cpus;  /* online */
    unsigned
        measured_cpus;     /* with the first of them among these; one alone has nothing to differ */
    unsigned refused_cpus; /* hidden by a cpuset, or refused by a sandbox */
    bool excludes_zero;    /* of some pair of CPUs the counters certainly differ */
    bool is_inconsistent;  /* of some pair the inequalities contradict: no constant offset */
};

/* The index of the CPU with this number; 0, the first, if there is none. Pure. */
unsigned skew_find(const struct skew_map *map, int number);

/* Whatever else is not known yet. Pure. */
static inline bool skew_is_certain(const struct skew *skew)
{
    return skew->excludes_zero || skew->is_inconsistent;
}

/* What is known so far. Pure. */
void skew_of_map(const struct skew_map *map, struct skew *skew);

/*
 * By how much more two measured CPUs may differ after so many ticks, as those that certainly drift
 * have drifted since they were measured first. Pure.
 */
uint64_t skew_growth(const struct skew_map *map, uint64_t ticks);

#endif
