/* SPDX-License-Identifier: MIT */
/*
 * calendar: elemental units of work, each begun at its time.
 *
 * The Maruti operating system ran its real-time tasks from a calendar: a table, made beforehand, of
 * units that are not preempted, each with a ready time and a deadline. This is its dispatcher as a
 * library.
 *
 *     static const struct timebase_unit units[] = {
 *         {.name = "sample", .action = sample, .period_ns = 1000000, .duration_ns = 20000},
 *         {.name = "send", .action = send, .ready_ns = 500000, .period_ns = 1000000,
 *          .duration_ns = 50000, .deadline_ns = 100000},
 *     };
 *     struct timebase_calendar calendar = {.units = units, .unit_count = 2, .stop = &stop};
 *     struct timebase_calendar_problem problems[8];
 *     struct timebase_unit_result results[2];
 *     int n = timebase_calendar_admit(&calendar, &waiter, problems, 8); // before anything starts
 *     timebase_calendar_run(&calendar, &waiter, results);               // until done or stopped
 *
 * Releases. Release k of a unit (k = 0, 1, ...) is ready at start + ready_ns + k * period_ns. Each
 * time is computed from k, so no rounding adds up. Units run one after the other on the calling
 * thread, in the order of their ready times; of those ready at the same time, in the order in which
 * they are declared. There are no other priorities. Each begins by an exact wait (wait.h) at its
 * ready time, or as soon as the units before it have ended.
 *
 * What can go wrong with a release, counted and logged:
 *
 *     late       the unit before it, or a wake-up, left no time for an exact wait
 *     overrun    it ran longer than duration_ns
 *     missed     it ended after its deadline
 *     timed out  it ran into its time-out and was stopped there
 *     skipped    its deadline had passed before it could begin: it was not run, so that one long
 *                unit does not make all later ones late
 *     disturbed  the wait has evidence of an interrupt or the like; the error is counted too
 *
 * Stopping. *stop is looked at before each release and at least every 50 ms; a signal
 * handler may set it, and its signal ends a sleep. A release that is less than 30 ms away when
 * *stop is set may still take place. A unit that is running is not interrupted by it.
 *
 * Time-outs. A unit that still runs timeout_ns after its target is stopped by a signal and
 * siglongjmp(), as Maruti's time-out interrupt did. So the units after it in the calendar keep
 * their time, even if this one began late. If it is known before the last approach that the unit
 * is late, its timeout_ns count from that moment. If the unit has not begun when its time is over,
 * it gets timeout_ns anew.
 *
 * So a unit with a time-out must hold no lock and leave nothing half-done: no allocation, no stdio,
 * no C++ objects with destructors, nothing of a language runtime (Python, Go, Java), which all hold
 * locks of their own. A time-out does not stop what a unit has started elsewhere (threads,
 * processes). It stops a unit that blocks all signals only when the unit no longer does, and a unit
 * in a system call that cannot be interrupted only when the call returns. The signal is a real-time
 * signal that nobody handles when the run begins; its handling and the signal mask are restored at
 * the end. When a unit was stopped, the signal mask from before it is restored too. Units without
 * timeout_ns are never interrupted. The event of a unit with a time-out is the call of a function
 * of the dispatcher, which calls setjmp() and then the unit: the unit begins a few ns later.
 *
 * One thread runs one calendar; several threads may each run one (with time-outs only one of them).
 * A run may be ended by pthread_cancel() of its thread, which gives its signal back to the next run
 * with time-outs. It must not be left by longjmp(): its timer would jump back into it.
 * timebase_calendar_admit() may be called anywhere, by any thread. Both need 64 KiB of stack. A
 * calendar has a life of 2^60 ns, 36 years: there are no releases after that.
 */
#ifndef TIMEBASE_CALENDAR_H
#define TIMEBASE_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#include <timebase/attributes.h>
#include <timebase/clock.h>
#include <timebase/error.h>
#include <timebase/wait.h>

TIMEBASE_EXTERN_BEGIN

/* The most units of one calendar: what the dispatcher knows of each is on its stack. */
#define TIMEBASE_CALENDAR_UNITS 512

/* One elemental unit. Times in ns, each 0 or more and at most 2^60, 36 years. */
struct timebase_unit {
    const char *name;       /* for people; not null */
    void (*action)(void *); /* called at each release; not null */
    void *argument;
    int64_t ready_ns;    /* the first release, after the calendar's start */
    int64_t period_ns;   /* between releases; 0: released once */
    int64_t duration_ns; /* worst-case execution time (WCET) of one run; > 0 */
    int64_t deadline_ns; /* done within this of its release; 0: the period, or none if once */
    int64_t timeout_ns;  /* stopped this long after its target, see above; 0: never */
    uint64_t releases;   /* how many; 0: for as long as the calendar runs (1 without a period) */
    uint32_t flags;      /* enum timebase_wait_flag */
    uint32_t unused;     /* 0 */
};

/* How a release went: 0, or the sum of these. */
enum timebase_release_bit {
    TIMEBASE_RELEASE_LATE = 1,       /* no time for the last approach: the wait said so */
    TIMEBASE_RELEASE_OVERRUN = 2,    /* ran longer than duration_ns */
    TIMEBASE_RELEASE_MISSED = 4,     /* ended after its deadline */
    TIMEBASE_RELEASE_TIMED_OUT = 8,  /* stopped */
    TIMEBASE_RELEASE_SKIPPED = 16,   /* not run: its deadline had passed */
    TIMEBASE_RELEASE_DISTURBED = 32, /* the wait has evidence of a disturbance */
};

/* One release; or, if skipped, count of them in a row. */
struct timebase_release {
    uint32_t unit;        /* index */
    uint32_t outcome;     /* enum timebase_release_bit */
    uint64_t number;      /* of the unit's releases, from 0; the first one of those skipped */
    uint64_t count;       /* 1, or how many were skipped together */
    int64_t target_ns;    /* when it should begin, monotonic: ready time and moved_ns */
    int64_t end_ns;       /* when it was over, monotonic; 0 if skipped */
    float error_ns;       /* begin - target; 0 if skipped */
    uint32_t disturbance; /* enum timebase_wait_disturbance */
};

/*
 * Where releases go, if wanted: a ring of capacity entries, a power of two up to 2^31, written by
 * the dispatcher and read by one other thread, or after the run. Zero it before use. written and
 * read count on and wrap at 2^32: entry i % capacity is valid while i is in [read, written), i. e.
 * i - read < written - read in 32 bits. The dispatcher stores written with release order; the
 * reader loads it with acquire order, copies, and stores read with release order. If the ring is
 * full the new release is dropped and counted in lost (relaxed; stops at 2^32 - 1). The words have
 * 32 bits, as not every processor has atomic words of 64.
 */
struct timebase_release_log {
    struct timebase_release *entries;
    uint32_t capacity;
    uint32_t written;
    uint32_t read;
    uint32_t lost;
};

/*
 * Where the kernel's tick falls on a CPU: on all times t of CLOCK_MONOTONIC with
 * |(t - phase_ns) mod period_ns| <= width_ns / 2.
 */
struct timebase_tick_comb {
    int64_t period_ns;  /* 0: no comb (tickless, too noisy, or not watched for long enough) */
    int64_t phase_ns;   /* in [0, period_ns): the middle of the gaps */
    int64_t width_ns;   /* the tick's gaps lie within +/- half of this around it */
    double share;       /* of all gaps seen, those of the comb */
    uint64_t gaps;      /* seen */
    int64_t longest_ns; /* gap */
};

struct timebase_calendar {
    const struct timebase_unit *units;
    uint32_t unit_count;  /* 1 to TIMEBASE_CALENDAR_UNITS */
    uint32_t may_overlap; /* 1: units may have to wait for each other as long as all deadlines are
                           * met: an overlap is a warning then */
    uint32_t avoid_tick;  /* 1: keep units off the kernel's tick as below; needs comb */
    uint32_t unused;      /* 0 */
    const struct timebase_tick_comb *comb; /* where the tick falls; or null: not known */
    int64_t start_ns;   /* monotonic, some ms ahead; 0: as soon as possible, about 1 ms */
    int64_t length_ns;  /* only releases ready before start + length; 0: no such end */
    double utilisation; /* highest admissible sum of duration / period, (0, 1]; 0 means 1 */
    struct timebase_release_log *log; /* or null */
    const int *stop;                  /* non-zero ends the run; read atomically, acquire; or null */
};

/*
 * The tick. A unit is on it if its beginning, or the 5 us of approach before, falls into the comb.
 * If the unit has period p and the tick T, the releases of the unit fall on phases of the tick that
 * are gcd(p, T) apart, on each of these phases in turn.
 *
 *     If gcd(p, T) is more than the width and the approach, all releases of the unit are on the
 *     tick or none is, and moving the unit helps. With avoid_tick it is moved: later, by as little
 *     as possible, if it then ends within its deadline when it does not have to wait, and overlaps
 *     no unit that it did not overlap before. If may_overlap is set, the check of the deadlines,
 *     with all that units wait for each other, comes after the move. moved_ns says how far;
 *     deadlines still count from the ready time. If start_ns is 0, the start is chosen first,
 *     within one tick from the earliest possible: so that as few units as possible have to be
 *     moved, in the middle of the room that this leaves.
 *
 *     If it is less, a fixed share of the releases is hit, wherever the unit is.
 *
 * A unit that stays on the tick gets a warning (ON_TICK). Without avoid_tick, units of the first
 * kind are judged only if start_ns is given: otherwise nobody knows where they fall. Only
 * beginnings are kept off the tick. It interrupts long units all the same; their duration_ns should
 * allow for it.
 */

/* Why a calendar is not admitted, or is doubtful. */
enum timebase_calendar_problem_kind {
    TIMEBASE_CALENDAR_BAD_UNIT = 1,     /* a field out of range: text says which. A warning if the
                                         * time-out is below the duration, the deadline above
                                         * the period, or length_ns ends before the first release */
    TIMEBASE_CALENDAR_OVERLAP = 2,      /* two units claim the same time; see may_overlap */
    TIMEBASE_CALENDAR_UTILISATION = 3,  /* more work than time */
    TIMEBASE_CALENDAR_DEADLINE = 4,     /* duration > deadline, or others delay it too long */
    TIMEBASE_CALENDAR_TOO_SHORT = 5,    /* period below what this machine can wait for; only a
                                         * warning if not the period but the gap before the unit
                                         * is too short */
    TIMEBASE_CALENDAR_ON_TICK = 6,      /* warning: placed on the kernel's tick */
    TIMEBASE_CALENDAR_CANNOT_SLEEP = 7, /* warning: the gap is shorter than the wake-up margin */
    TIMEBASE_CALENDAR_TOO_LONG = 8,     /* warning: the pattern repeats too late for its deadlines
                                         * to be checked as a whole; checked up to at_ns */
    TIMEBASE_CALENDAR_BAD_CALENDAR = 9, /* a field of the calendar itself out of range */
};

struct timebase_calendar_problem {
    int32_t kind;    /* enum timebase_calendar_problem_kind */
    int32_t warning; /* 1: may run all the same */
    uint32_t unit;   /* index of the unit at fault; 0 for BAD_CALENDAR */
    uint32_t other;  /* the other one of an overlap or short gap, else the same */
    int64_t at_ns;   /* where, after the calendar's start; 0 if everywhere */
    char text[160];  /* what is wrong and what to do; cut off if names are long */
};

/*
 * Check a calendar before it starts. Up to capacity problems are stored, faults of a kind in the
 * order of the units; the rest are only counted. Returns how many there are (0: admitted without
 * doubt), or TIMEBASE_E_INVALID if calendar or its units are null, or if problems is null and
 * capacity is not 0. If waiter is null, nothing is said about what the machine can do; if it is
 * given, it must be the calling thread's. No clock is read, nothing is changed.
 *
 * Fields are checked first; if one is out of range, nothing else is. Overlaps are exact, over the
 * whole life of the calendar, however long its pattern: the first one of each pair of units is
 * reported, with its place. Deadlines under may_overlap are found by running through the pattern
 * with all units at their worst: two hyperperiods, but no more than a million releases (TOO_LONG
 * says if that was not all). Short gaps and the tick are found in the same way.
 */
TIMEBASE_API int timebase_calendar_admit(const struct timebase_calendar *calendar,
                                         const struct timebase_waiter *waiter,
                                         struct timebase_calendar_problem *problems, int capacity);

/*
 * Errors of begin - target are counted by their size: bucket i holds |error| from
 * timebase_calendar_bucket_ns(i) to below that of i + 1; a factor of 2^(1/4) each, from 1/8 ns to
 * some 2 minutes. The first also holds all below, the last all above.
 */
#define TIMEBASE_CALENDAR_BUCKETS 160

struct timebase_unit_result {
    uint64_t released; /* run; with skipped: all */
    uint64_t late, overruns, missed, timed_out, skipped, disturbed;
    double error_min_ns, error_max_ns, error_sum_ns; /* begin - target, signed */
    int64_t longest_ns;                              /* longest run */
    int64_t total_ns;                                /* of all runs */
    int64_t moved_ns;                                /* how far avoid_tick moved it */
    uint64_t errors[TIMEBASE_CALENDAR_BUCKETS];
};

/* The lower end of a bucket; 160 gives the last one's upper end; others the nearest. */
TIMEBASE_API double timebase_calendar_bucket_ns(int bucket);

/*
 * Run on the calling thread, which should be pinned and real-time (realtime.h). results has one
 * entry per unit, begun afresh. Returns
 *   0                      all releases are done, the length is over, or stopped
 *   1                      not admitted (there are problems that are no warnings): nothing was run
 *   TIMEBASE_E_INVALID     a null calendar, units, waiter or results; a waiter not initialised.
 *                          Or a unit waited with the run's waiter instead of a waiter of its own:
 *                          the results tell how far the run came
 *   TIMEBASE_E_STALE       start_ns has passed: nothing was run
 *   TIMEBASE_E_BUSY        another thread of this process is running a calendar with time-outs,
 *                          which need a signal of their own: nothing was run
 *   TIMEBASE_E_UNSUPPORTED no signal is free or no timer to be had for time-outs: nothing was run;
 *                          or time became unknown: the results tell how far the run came
 */
TIMEBASE_API int timebase_calendar_run(const struct timebase_calendar *calendar,
                                       struct timebase_waiter *waiter,
                                       struct timebase_unit_result *results);

/* Names for people: "overlap", "timed out". Constant text, never NULL. */
TIMEBASE_API const char *timebase_calendar_problem_name(int kind);
TIMEBASE_API const char *timebase_release_name(int outcome_bit);

/*
 * Learn where the tick falls on this CPU: pin the thread first. Watches for gaps while polling, for
 * watch_ns, 10 ms to 10 s; ends earlier once there are enough of them. Gaps that share a phase of
 * one of the kernel's usual periods, at least 5 of them and far more than chance explains, are the
 * tick's: a second finds that of any kernel. Returns 0 (also if there is no comb: period_ns 0) or
 * TIMEBASE_E_INVALID.
 */
TIMEBASE_API int timebase_tick_comb_learn(const timebase_clock *clock, int64_t watch_ns,
                                          struct timebase_tick_comb *out);

TIMEBASE_EXTERN_END

#endif
