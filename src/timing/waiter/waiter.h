/* SPDX-License-Identifier: MIT */
/*
 * waiter: what is inside a struct timebase_waiter, on a boundary of 128 bytes in its storage.
 *
 * The folders around this one form layers. A file calls those of its own folder, and of those below:
 *
 *     wait         the public functions: waits, delays, a waiter's life, fine readings; which way a
 *                  delay goes (delay_soon), one that is a wait (delay_long)
 *     calibration  what a calibration learns, step by step (calibration.c): from rehearsals (_trials),
 *                  from the stamp to the event (_ends), from whole waits and delays (_calls, _delays),
 *                  what one way of delays takes (_delay), counted ones (_counted); when nobody
 *                  else uses the core (_quiet)
 *     delay        short delays: after others' code (_pause), by the loop alone (_at_once), which asks
 *                  for what the next one needs (_asks); an exact wait at its call (_near);
 *                  multiplications between readings (_counted), which may be so (counted_length), and
 *                  what these teach (_counted_lesson); by which way (_short), by runs or the loop
 *                  (_pass), what memory they need (_lines) and what they teach (_lesson)
 *     stages       one wait: sleep, poll, prepare, approach, settle (stages.c); exact at its call
 *                  (near_exact), and what that rehearses (near_rehearsal); rehearsals of others
 *                  (prepare), one of them (rehearsal); its event, what is to be
 *                  near by then (foresight), what it tells (result) and teaches (outcome)
 *     hurry        one wait without all that: when that is due (hurry), a loop (_loop), by what its event
 *                  is (_ways), and what it tells (_tell)
 *     waiter       this structure; what calibrations learn (_learnt); where its approach aims (_aim);
 *                  what a wait was asked for (asked), what is refused (target); its fine readings
 *                  (readings), and slower ones
 *
 * Three more know no waiter: ../approach, the polls and runs of each processor, and what disturbed
 * them; ../learn, numbers that follow what waits see; ../sleep.
 *
 * docs/architecture.md ("The life of a wait") has the way of a wait through them.
 *
 * Instants within a wait are doubles in ticks relative to its target, so they are small
 * and exact to a fraction of a tick. A "step" is what the counter jumps by.
 */
#ifndef WAITER_WAITER_H
#define WAITER_WAITER_H

#include <stddef.h>

#include <timebase/wait.h>

#include "timing/approach/approach.h"
#include "timing/approach/evidence.h"
#include "timing/learn/caution.h"
#include "timing/learn/choice.h"
#include "timing/learn/estimate.h"
#include "timing/learn/tempo.h"
#include "timing/learn/vernier.h"
#include "timing/sleep/sleep.h"

#include "waiter_learnt.h"

#define WAITER_MAGIC UINT64_C(0x7469636b77616974) /* "tickwait" */

#define WAITER_FLAGS 127u /* all that there are; of waits by the loop, whatever else is known: */
#define WAITER_LOOP_FLAGS (unsigned)(TIMEBASE_WAIT_PLAIN | TIMEBASE_WAIT_NEVER_EARLY)

/*
 * Of so many what is followed is the mean. The time between polls changes with the core's load; where
 * the counter's steps are fine a few polls show it.
 */
enum { WAITER_MEAN = 256, WAITER_PERIOD_MEAN = 64, WAITER_FINE_PERIOD_MEAN = 8 };

/* So soon after it was executed, code is still near. */
enum { WAITER_HOT_NS = 20000 };

/* Rehearsals begin so long before the approach. */
enum { WAITER_PREPARE_NS = 8000 };

/*
 * Where others have driven them out, the stages of a wait that rehearses nothing take 2 us beside a
 * busy neighbour. What is nearer than this is for the loop then.
 */
enum { WAITER_COLD_NS = 3000 };

/*
 * Polls in a row, of several waits and rehearsals, that agree before a run is relied on: as long as
 * most waits see no contradiction; where they do; and by code that has gone cold.
 */
enum { WAITER_EVEN_USUALLY = 8, WAITER_EVEN_SHARED = 16, WAITER_EVEN_COLD = 64 };

/*
 * Polls of an exact wait that tell how far apart they are; and where the counter's steps are fine, as
 * there a single one is as good as several.
 */
enum { WAITER_LEAST_POLLS = 10, WAITER_LEAST_FINE_POLLS = 3 };

/* How an exact approach ends. */
enum approach_end { END_BY_RUN, END_BY_LOOP, END_UNPREDICTED };

/* One wait. */
struct wait {
    struct waiter *waiter;
    uint64_t (*ticks_at)(const timebase_clock *clock, int64_t ns); /* null: a target in ticks */
    int64_t ns;
    uint64_t ticks;
    double fraction; /* of a tick, added to ticks */
    double aim;      /* when the event should be, relative to ticks */
    unsigned flags;
    int exact;
    double left_ticks;        /* when its way was found, or an estimate */
    double read_ticks;        /* a delay by a wait: its fine reading, relative to entered_ticks */
    int ended_by_loop;        /* it was to be exact */
    int is_cold;              /* it is exact by code that had gone out of the caches */
    int has_learnt;           /* from the wait before it */
    int is_at_once;           /* by such code, and nothing was rehearsed */
    int was_held_up;          /* since its call: its return is not predicted */
    int is_near_exact;        /* it was exact at its call: near_exact.h */
    int is_unsteady;          /* it is polled only because that is better now: see choice.h */
    void (*function)(void *); /* null: return */
    void *argument;
    void *frame; /* not null: of approach_from() */
    struct timebase_wait_result *result;
    struct sleep_wait sleep;
    uint64_t entered_ticks; /* the counter when it was asked for */
    int prepared;
    int is_afresh;                 /* exact at its call, and no other was soon before: near_afresh.h */
    int near_rehearsals;           /* at its call: near_rehearsal.h; */
    uint64_t near_rehearsed_ticks; /* ... when the last one had ended */
    int cpu;              /* on which it began */
    uint32_t disturbance; /* while polling, before the approach */
};

/* What is left to do about a wait. */
enum unsettled { NOTHING_LEFT, LEFT_TO_LEARN, LEFT_TO_COUNT };

typedef int delay_function(struct timebase_waiter *waiter, uint64_t delay_ns, unsigned flags,
                           struct timebase_wait_result *result, uint64_t begin_ticks);

/* What the last wait in a hurry saw, and whom it tells. A line. */
struct hurry_telling {
    struct timebase_wait_result *result;
    double rest_ns;     /* from its stamp's reading to its event */
    int64_t rest_ticks; /* ... rounded */
    uint32_t gap_ticks; /* the longest between two polls */
    int8_t late, expected_late; /* 1: it is told in vain, before the event */
    int16_t never_early; /* its last poll is the stamp */
    struct evidence_marks marks;
};

struct waiter {
    struct approach approach;
    struct hurry_telling telling;
    /* A wait in a hurry or a short delay whose code has gone cold looks at these and at the first
     * lines of what was learnt. */
    uint64_t magic;
    uint64_t delay_called_ticks; /* the counter at the last delay's call */
    struct caution contradicted_run; /* of short delays */
    struct caution far_code;         /* of what loads its code after a pause */
    uint16_t delay_fetched; /* steps towards a run since its code went cold: delay_lines.h */
    int16_t is_calibrating;
    struct caution cold;             /* of exact waits by code that has gone out of the caches */
    int32_t delay_error_ticks; /* of the last one at once: its stamp less its end; or unknown */
    uint64_t uses;  /* of the approach and its evidence, and waits in a hurry; measured delays, too */
    uint64_t waits;
    struct caution far_stages;   /* of near waits that come by them once others drove them out */
    struct caution uneven;       /* of exact waits while polls contradict each other */
    uint64_t hurried_ticks; /* the target of the last wait in a hurry */
    struct waiter_learnt learnt;
    int64_t delay_touched_ticks; /* from the call of one whose code is touched to that */
    uint64_t delay_taken_ticks;  /* from the reading of a short one to its last */
    struct delay_lesson lesson;  /* of the last short one */
    struct far_runs far_ends, far_firsts; /* of short ones: their ends, and the first of two runs */
    struct tempo tempo;
    struct approach_ways ways;
    struct vernier vernier;
    struct waiter_counted counted;
    struct counted_lesson counted_lesson;
    int cpu;
    enum unsettled unsettled; /* of the last wait */
    uint32_t disturbance;     /* of it, once it has been counted */
    int is_in_event;          /* a wait's function has been called and has not returned */
    struct evidence evidence;
    uint64_t late, disturbed;
    struct caution tried_cold;   /* of near ones that are tried all the same */
    struct caution afresh;       /* of exact ones that no other was soon before */
    uint32_t found; /* what disturbed the last wait's rehearsals */
    struct wait last;
    const timebase_clock *clock;
    uint32_t delay_readings[APPROACH_FINE]; /* a long one's, right behind that at its call */
    delay_function *delay; /* timebase_delay_ns_from(): calibration calls it as everybody does */
    struct estimate spacing; /* of a fine reading's readings, cycles */
    unsigned bad_readings;   /* fine ones, in a row */
    struct estimate reading_gap; /* from a reading to the next, where one is enough, ticks */
    uint32_t gap_ticks;          /* the counter when that was seen last */
    int32_t reading_later; /* than usual a fine reading comes; APPROACH_TICK_BITS behind the point */
    struct estimate period;  /* from poll to poll, ticks */
    struct choice choice;
    double uneven_share;             /* of exact waits, lately: whose polls contradicted each other */
    int32_t even_before;             /* the approach's even_polls before the last exact one */
    struct sleeper sleeper;
    double calibration_ns;
    int calibrations;
    unsigned rehearsals;
    uint64_t tried_ticks;     /* ... of the last one of tried_cold; 0: there is none to judge */
    uint64_t exact_ticks;     /* the target of the last exact approach */
    uint64_t learning_uses;   /* the uses when a wait was learnt from last */
    uint64_t rehearsed_ticks; /* when the last one was that taught something */
    int64_t first_ones_ticks; /* what the last wait's first rehearsals took; 0: there was no time */
    uint32_t dice;
    enum delay_way calibrated_way;
    enum approach_end calibrated_end;
};

/* Where it lies in the storage. */
static inline struct waiter *waiter_within(struct timebase_waiter *waiter)
{
    uintptr_t start = (uintptr_t)waiter->storage;
    return (struct waiter *)((start + 127) & ~(uintptr_t)127);
}

_Static_assert(sizeof(struct waiter) + 127 <= sizeof(struct timebase_waiter), "storage too small");

/* As a user calls: those calls are a part of what a delay or a reading takes. */
static inline struct timebase_waiter *waiter_public(struct waiter *waiter)
{
    return (struct timebase_waiter *)(void *)waiter;
}

/* Those in a hurry are counted by the approach. */
static inline uint64_t waiter_late(const struct waiter *waiter)
{
    return waiter->late + waiter->approach.hurry_late;
}

/*
 * The counter, without the word that says whether it is readable, which is far away after a pause:
 * where waits may end behind it is.
 */
static inline int waiter_may_read(const struct waiter *waiter)
{
#ifdef __x86_64__
    return waiter->learnt.near_ticks != 0;
#else
    (void)waiter;
    return 0;
#endif
}

static inline uint64_t waiter_read_at_once(const struct waiter *waiter)
{
    return waiter_may_read(waiter) ? timebase_arch_ticks() : timebase_ticks();
}

/* The same behind the end of a loop, for which it waits; meanwhile what follows is fetched. */
static inline uint64_t waiter_stamp_at_once(const struct waiter *waiter)
{
    return waiter_may_read(waiter) ? timebase_arch_ticks_ordered() : timebase_ticks_ordered();
}

/* Null if it is none that was initialised. */
static inline struct waiter *waiter_checked(const struct timebase_waiter *public)
{
    if (public == NULL)
        return NULL;
    struct waiter *waiter = waiter_within((struct timebase_waiter *)(uintptr_t) public);
    return waiter->magic == WAITER_MAGIC ? waiter : NULL;
}

/* ... or if there are no such flags. */
static inline struct waiter *waiter_for(const struct timebase_waiter *public, unsigned flags)
{
    return (flags & ~WAITER_FLAGS) == 0 ? waiter_checked(public) : NULL;
}

static inline int64_t waiter_ticks_of_ns(const struct waiter *waiter, double ns)
{
    return (int64_t)(ns / waiter->learnt.period_ns);
}

/* What a reading stands for begins with it, and this is its half. */
static inline double waiter_half_span(const struct waiter *waiter)
{
    return (double)waiter->approach.span_ticks / (2 << APPROACH_TICK_BITS);
}

/* The instant that a reading of the last approach stands for. */
static inline double waiter_middle(const struct waiter *waiter, uint64_t ticks, uint64_t base)
{
    return (double)(int64_t)(ticks - base) + waiter_half_span(waiter);
}

/* Does the counter step so far that several readings say more than one? */
static inline int waiter_has_vernier(const struct waiter *waiter)
{
    return waiter->vernier.readings > 1;
}

/*
 * What was learnt can be true. A calibration that was held up can find that the event comes before
 * the last poll; and one that is emulated, that polls take no time, as it came too late for any.
 */
static inline int waiter_takes_time(const struct waiter *waiter)
{
    return waiter->tempo.cycle_ticks > 0 && waiter->learnt.tail.cycles > 0 &&
        waiter->period.value > 0;
}

/* From the last poll of an exact approach to its event at least. */
static inline double waiter_tail_ticks(const struct waiter *waiter)
{
    return waiter->learnt.tail.cycles * waiter->tempo.cycle_ticks;
}

/* From the beginning of an exact approach to its event: what it needs at least. */
static inline double waiter_coarse_ticks(const struct waiter *waiter)
{
    return waiter->period.value + waiter_tail_ticks(waiter);
}

/* Where there are no exact waits it is their time that counts: polls are slow there. */
static inline int waiter_least_polls(const struct waiter *waiter)
{
    int is_enough = !waiter_has_vernier(waiter) && waiter->learnt.exact;
    return is_enough ? WAITER_LEAST_FINE_POLLS : WAITER_LEAST_POLLS;
}

/* For the polls that an exact wait is better with, and that teach how far apart they are. */
static inline double waiter_polls_ticks(const struct waiter *waiter)
{
    return waiter_least_polls(waiter) * waiter->period.value;
}

static inline int64_t waiter_rounded(double value)
{
    return (int64_t)(value + __builtin_copysign(0.5, value));
}

/* With so many bits behind the point. */
static inline int64_t waiter_scaled(double value, int bits)
{
    return (int64_t)(value * (double)(INT64_C(1) << bits));
}

/* From 0 to so much. */
static inline double waiter_throw_dice(struct waiter *waiter, uint32_t most)
{
    waiter->dice = waiter->dice * 1664525 + 1013904223;
    return (double)((uint64_t)waiter->dice * most >> 32);
}

/* A tick that has passed, whatever comes. */
static inline uint64_t waiter_long_before(uint64_t ticks)
{
    return ticks - (UINT64_C(1) << 62);
}

/* Set the approach up for an event at target + aim. */
void waiter_aim(struct waiter *waiter, uint64_t target_ticks, double aim_ticks, int exact);

/*
 * Where an exact approach ends by the loop, if its polls contradict each other: for an event so
 * long after a tick. There is so much more time than it needs.
 */
void waiter_aim_loop(struct waiter *waiter, uint64_t base_ticks, double ticks, double spare_ticks);

/* May waits that return end behind all that they called? */
static inline int waiter_ends_behind(const struct waiter *waiter)
{
    return waiter->ways.poll_bare != NULL;
}

/* Does nothing come between the last poll of the loop and the return? */
static inline int waiter_is_bare(const struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    const struct approach_ways *ways = &waiter->ways;
    return a->behind != NULL && (a->behind == ways->poll_bare || a->behind == ways->poll_never_early);
}

/* The event that the loop's own times are to: where it ends within, that of a call. */
static inline enum event_way waiter_loop_way(const struct waiter *waiter)
{
    return waiter->approach.behind == NULL ? EVENT_CALLED
        : waiter_is_bare(waiter)           ? EVENT_RETURNS
                                           : EVENT_TELLS;
}

/* Marks for evidence, where the approach looks at them. */
void waiter_mark(struct waiter *waiter, int exact);

/* How far apart its polls are; and where its run ends. */
void waiter_aim_polls(struct waiter *waiter);
void waiter_aim_run(struct waiter *waiter, double aim_ticks);

/* By what was seen of both ways; and what was seen of exact ones counts less and less. */
int waiter_prefers_exact(const struct waiter *waiter, unsigned flags);
int waiter_may_be_exact(const struct waiter *waiter, uint64_t ticks); /* as far as its code goes */
void waiter_fade_choice(struct waiter *waiter, unsigned flags);

/* Run it. Returns 0; or APPROACH_ENDS_BEHIND: return this at once, to approach_from(). */
int waiter_approach(struct waiter *waiter, int exact);

/* The last exact approach's last poll to its event, in cycles. */
static inline double waiter_cycles(const struct waiter *waiter)
{
    return waiter->learnt.tail.cycles + waiter->approach.run;
}

/* From poll to poll, less the cycles that are added for the vernier. */
static inline double waiter_bare_period(const struct waiter *waiter)
{
    return waiter->period.value - waiter->approach.pad_cycles * waiter->tempo.cycle_ticks;
}

/* Did no poll of the last exact approach contradict those before it? */
static inline int waiter_polls_agreed(const struct waiter *waiter)
{
    const struct approach *a = &waiter->approach;
    return a->even_polls - waiter->even_before == (int32_t)a->polls;
}

/* Do the polls of most waits contradict each other, lately? */
static inline int waiter_is_often_uneven(const struct waiter *waiter)
{
    return waiter->uneven_share >= 0.5;
}

/* So many polls in a row have to agree before the core is relied on. */
static inline int32_t waiter_even_needed(const struct waiter *waiter)
{
    return waiter_is_often_uneven(waiter) ? WAITER_EVEN_SHARED : WAITER_EVEN_USUALLY;
}

/* Polls that are cold are uneven by that, and say nothing of who else uses the core. */
static inline void waiter_forget_polls(struct waiter *waiter)
{
    waiter->approach.even_polls = waiter->even_before;
}

/* Did the last exact approach end by the loop? */
static inline int waiter_ended_by_loop(const struct waiter *waiter)
{
    return waiter->approach.run == APPROACH_NO_RUN;
}

/* When that poll read the counter, relative to the target. */
static inline double waiter_sample_ticks(const struct waiter *waiter)
{
    return (double)waiter->approach.sample_ticks / (1 << APPROACH_TICK_BITS);
}

/* From a fine reading, where there is a vernier: its last ones, as the first may have been cold. */
void waiter_learn_spacing(struct waiter *waiter, const uint32_t readings[APPROACH_FINE]);

/* The last exact approach's last polls in their order, and how many; 0 if there were too few. */
int waiter_last_polls(const struct waiter *waiter, uint32_t polls[APPROACH_VERNIER]);

/* From these polls. */
void waiter_learn_period(struct waiter *waiter);

/* The code of waits has not gone out of the caches yet. */
static inline int waiter_is_hot(const struct waiter *waiter, uint64_t ticks)
{
    return (int64_t)(ticks - waiter->approach.event_ticks) <= waiter->learnt.hot_ticks;
}

/* The code of exact approaches has not gone out of the caches yet. */
static inline int waiter_is_exact_hot(const struct waiter *waiter, uint64_t ticks)
{
    return (int64_t)(ticks - waiter->exact_ticks) < waiter->learnt.hot_ticks;
}

/*
 * By what rehearsals and waits have seen of both ways: is it to be exact? Where its code has gone
 * out of the caches, and no rehearsals fetch it, by what became of such waits.
 */
int wait_is_exact_better(const struct wait *wait);

/* Rehearsals see errors better than waits see their own. */
static inline int waiter_has_rehearsed(const struct waiter *waiter, uint64_t ticks)
{
    enum { LATELY_NS = 1000000 };
    return (int64_t)(ticks - waiter->rehearsed_ticks) < waiter_ticks_of_ns(waiter, LATELY_NS);
}

/* Hands the believed length of a cycle to the approach, with all that follows from it. */
void waiter_publish_tempo(struct waiter *waiter);

/* The last exact approach took so many ticks from its last poll on, known to +/- bound_ticks. */
void waiter_learn_tempo(struct waiter *waiter, double ticks, double bound_ticks);

/* Where it ends by the loop, so long after a tick, if it is exact and its event set. */
void wait_aim_loop(const struct wait *wait, uint64_t base_ticks, double ticks);

#endif
