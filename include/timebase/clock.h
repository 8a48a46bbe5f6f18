/* SPDX-License-Identifier: MIT */
/*
 * clock: the time. A clock is a counter and a page; its handle is the page's address.
 *
 *     const timebase_clock *clock = timebase_clock_default();
 *     int64_t stamp_ns = timebase_utc_ns(clock);
 *
 *     struct timebase_instant now;
 *     timebase_now(clock, &now);
 *     if ((now.flags & (TIMEBASE_LINE_STATUS_MASK | TIMEBASE_LINE_ESTIMATE)) ==
 *         TIMEBASE_STATUS_SYNCHRONIZED)
 *         ... a promise: true UTC was within now.utc_maxerror_ns of now.utc_ns ...
 *     else
 *         ... none: SYNCHRONIZED with ESTIMATE is the kernel's word, as on the default clock ...
 *
 *     uint64_t raw = timebase_ticks();                    // now
 *     int64_t then_ns = timebase_utc_at_ns(clock, raw);   // later, elsewhere
 *
 *     timebase_clock *shared;                             // the clock that all processes share
 *     int why_not = timebase_clock_attach_or_default(&shared, NULL);
 *
 * The default clock is private to the process and keeps itself right: about every 100 ms of use one
 * reader, whoever comes first, compares it with the kernel's clock (a few µs) and publishes the
 * next lines. There is no thread, no constructor, no allocation and no lock to wait for. It may be
 * read from the first instruction of a program, in signal handlers, after fork and in a child of
 * vfork (not in one of clone with CLONE_VM and CLONE_NEWPID, docs/decisions/0011).
 *
 * If a program is linked with the static library and a plug-in brings the shared one along, the
 * process has the library twice, and two default clocks. Each is right within its bound and
 * monotonic by itself; neither order nor equality is promised between the two.
 *
 * Monotonic time tracks CLOCK_MONOTONIC and never steps: differences are slewed, at most 500 ppm.
 * UTC is monotonic time plus an offset; only a step of the system clock changes the offset, and
 * it is counted.
 *
 * An attached clock follows the page that another process publishes (docs/guide/share.md). What
 * this header says of clocks holds for both kinds, except where it names one.
 *
 * Ordering. Reads without suffix are ordered after all earlier loads: if one thread's reading
 * happens before another's, it is not later. `_unordered` reads are the cheapest, and order
 * nothing: between threads they may disagree by the depth of the processor's pipeline.
 *
 * `clock` must be a valid handle. The reads do not check it; the functions that return an error do.
 *
 * Slow path. Roughly ten times a second a reading takes some µs instead of ns. A caller
 * that cannot have this selects TIMEBASE_MAINTENANCE_MANUAL and calls timebase_clock_maintain()
 * from a housekeeping thread.
 */
#ifndef TIMEBASE_CLOCK_H
#define TIMEBASE_CLOCK_H

#include <stdint.h>

#include <timebase/attributes.h>
#include <timebase/counter.h>
#include <timebase/error.h>
#include <timebase/page.h>

TIMEBASE_EXTERN_BEGIN

typedef struct timebase_clock timebase_clock;

/* Time lies in [earliest_ns, latest_ns], nanoseconds since 1970-01-01 UTC. */
struct timebase_interval {
    int64_t earliest_ns;
    int64_t latest_ns;
};

/* The process' own clock; never NULL. Cheap, and the same each time. */
TIMEBASE_API const timebase_clock *timebase_clock_default(void) __attribute__((const));

TIMEBASE_PART const struct timebase_page *timebase_clock_page(const timebase_clock *clock)
{
    return (const struct timebase_page *)(const void *)clock;
}

/* Where the inline reads go when the page has no line for now. Not for direct use. */
TIMEBASE_API TIMEBASE_COLD int64_t timebase_mono_ns_slow(const timebase_clock *clock);
TIMEBASE_API TIMEBASE_COLD int64_t timebase_utc_ns_slow(const timebase_clock *clock);
TIMEBASE_API TIMEBASE_COLD int64_t timebase_tai_ns_slow(const timebase_clock *clock);
TIMEBASE_API TIMEBASE_COLD void timebase_now_slow(const timebase_clock *clock,
                                                  struct timebase_instant *out);
TIMEBASE_API TIMEBASE_COLD int timebase_utc_interval_slow(const timebase_clock *clock,
                                                          struct timebase_interval *out);
TIMEBASE_API TIMEBASE_COLD int timebase_realtime_interval_slow(const timebase_clock *clock,
                                                               struct timebase_interval *out);

/* Nanoseconds since boot, suspend not counted: follows CLOCK_MONOTONIC, never steps. */
TIMEBASE_INLINE int64_t timebase_mono_ns(const timebase_clock *clock)
{
    struct timebase_instant now;
    if (timebase_page_read(timebase_clock_page(clock), 1, TIMEBASE_WANT_MONO, &now))
        return now.mono_ns;
    return timebase_mono_ns_slow(clock);
}

TIMEBASE_INLINE int64_t timebase_mono_ns_unordered(const timebase_clock *clock)
{
    struct timebase_instant now;
    if (timebase_page_read(timebase_clock_page(clock), 0, TIMEBASE_WANT_MONO, &now))
        return now.mono_ns;
    return timebase_mono_ns_slow(clock);
}

/* Nanoseconds since 1970-01-01 00:00:00 UTC, as CLOCK_REALTIME counts them (leap seconds not). */
TIMEBASE_INLINE int64_t timebase_utc_ns(const timebase_clock *clock)
{
    struct timebase_instant now;
    if (timebase_page_read(timebase_clock_page(clock), 1, TIMEBASE_WANT_UTC, &now))
        return now.utc_ns;
    return timebase_utc_ns_slow(clock);
}

TIMEBASE_INLINE int64_t timebase_utc_ns_unordered(const timebase_clock *clock)
{
    struct timebase_instant now;
    if (timebase_page_read(timebase_clock_page(clock), 0, TIMEBASE_WANT_UTC, &now))
        return now.utc_ns;
    return timebase_utc_ns_slow(clock);
}

/* Milliseconds, rounded down: for those who print or compare coarse times. */
TIMEBASE_PART int64_t timebase_ms_from_ns(int64_t ns)
{
    return ns / 1000000 - (ns % 1000000 < 0);
}

TIMEBASE_INLINE int64_t timebase_utc_ms(const timebase_clock *clock)
{
    return timebase_ms_from_ns(timebase_utc_ns(clock));
}

TIMEBASE_INLINE int64_t timebase_mono_ms(const timebase_clock *clock)
{
    return timebase_ms_from_ns(timebase_mono_ns(clock));
}

/* UTC plus the offset in the upper half of a line's flags. */
TIMEBASE_PART int64_t timebase_tai_from_utc(int64_t utc_ns, uint32_t flags)
{
    int16_t offset_sec = (int16_t)(flags >> TIMEBASE_LINE_TAI_SHIFT);
    return (int64_t)((uint64_t)utc_ns + (uint64_t)((int64_t)offset_sec * 1000000000));
}

/*
 * International Atomic Time, nanoseconds since 1970-01-01 00:00:00 TAI, as CLOCK_TAI. Equal to
 * UTC until somebody tells the kernel the difference; from then on timebase_now() flags TAI_VALID.
 */
TIMEBASE_INLINE int64_t timebase_tai_ns(const timebase_clock *clock)
{
    struct timebase_instant now;
    if (timebase_page_read(timebase_clock_page(clock), 1, TIMEBASE_WANT_UTC | TIMEBASE_WANT_FLAGS,
                           &now))
        return timebase_tai_from_utc(now.utc_ns, now.flags);
    return timebase_tai_ns_slow(clock);
}

TIMEBASE_INLINE int64_t timebase_tai_ms(const timebase_clock *clock)
{
    return timebase_ms_from_ns(timebase_tai_ns(clock));
}

TIMEBASE_INLINE int64_t timebase_tai_ns_unordered(const timebase_clock *clock)
{
    struct timebase_instant now;
    if (timebase_page_read(timebase_clock_page(clock), 0, TIMEBASE_WANT_UTC | TIMEBASE_WANT_FLAGS,
                           &now))
        return timebase_tai_from_utc(now.utc_ns, now.flags);
    return timebase_tai_ns_slow(clock);
}

/* One tick, and everything it says. Ordered. */
TIMEBASE_INLINE void timebase_now(const timebase_clock *clock, struct timebase_instant *out)
{
    struct timebase_instant now;
    if (timebase_page_read(timebase_clock_page(clock), 1, TIMEBASE_WANT_ALL, &now))
        *out = now;
    else
        timebase_now_slow(clock, out);
}

/* What may leave 64 bits is cut off at their ends. */
static TIMEBASE_COLD __attribute__((unused)) void
timebase_interval_set_far(struct timebase_interval *out, int64_t ns, uint64_t error_ns)
{
    if (__builtin_sub_overflow(ns, error_ns, &out->earliest_ns))
        out->earliest_ns = INT64_MIN;
    if (__builtin_add_overflow(ns, error_ns, &out->latest_ns))
        out->latest_ns = INT64_MAX;
}

/*
 * A time from 1970 on has an earliest end with any error below 2^63, so one overflow is left to be
 * looked for. To choose both ends by comparisons would cost a bounded reading 3 % (GCC) to 10 %
 * (Clang) on Zen 4.
 */
TIMEBASE_PART void timebase_interval_set(struct timebase_interval *out, int64_t ns,
                                         uint64_t error_ns)
{
    int64_t latest_ns;
    if (TIMEBASE_UNLIKELY(__builtin_add_overflow(ns, (int64_t)error_ns, &latest_ns)) ||
        TIMEBASE_UNLIKELY((int64_t)((uint64_t)ns | error_ns) < 0)) {
        timebase_interval_set_far(out, ns, error_ns);
    } else {
        out->latest_ns = latest_ns;
        out->earliest_ns = ns - (int64_t)error_ns;
    }
}

/* All moments within error_ns of ns; at the ends of the range of int64_t it is cut off there. */
TIMEBASE_INLINE struct timebase_interval timebase_interval_around(int64_t ns, uint64_t error_ns)
{
    struct timebase_interval around;
    timebase_interval_set(&around, ns, error_ns);
    return around;
}

/*
 * Where true UTC is, if the reference is right about its own error. The half-width adds up the
 * kernel's maxerror, the error of following its clock, and what these have grown since. Ordered;
 * the interval contains the instant at which the counter was read.
 *
 * Returns an enum timebase_status. The interval is a promise only with
 * TIMEBASE_STATUS_SYNCHRONIZED, and only where timebase_now() does not flag ESTIMATE. If the
 * kernel's clock is not synchronised, its maxerror is 16 s, and the interval is that wide either
 * way: FREERUNNING. If it is synchronised, its maxerror is an estimate (docs/bound.md) and flagged
 * as one; where a guest's kernel makes its clock of the same counter, this maxerror does not know
 * that the guest was stopped or moved. An attached clock has the claim of the daemon's sources
 * instead, and the flag only if no source has a bound.
 */
TIMEBASE_INLINE int timebase_utc_interval(const timebase_clock *clock,
                                          struct timebase_interval *out)
{
    struct timebase_instant now;
    if (!timebase_page_read(timebase_clock_page(clock), 1,
                            TIMEBASE_WANT_UTC | TIMEBASE_WANT_FLAGS | TIMEBASE_WANT_UTC_MAXERROR,
                            &now))
        return timebase_utc_interval_slow(clock, out);
    timebase_interval_set(out, now.utc_ns, now.utc_maxerror_ns);
    return (int)(now.flags & TIMEBASE_LINE_STATUS_MASK);
}

/*
 * Where CLOCK_REALTIME is; the interval contains only the error of following it. Holds while nobody
 * steps or slews the system clock by more than 500 ppm; a step is noticed within about 100 ms of
 * use. The promise does not hold if the result is UNKNOWN, or UNRELIABLE: the counter misbehaved a
 * moment ago, or the kernel does not trust it.
 */
TIMEBASE_INLINE int timebase_realtime_interval(const timebase_clock *clock,
                                               struct timebase_interval *out)
{
    struct timebase_instant now;
    if (!timebase_page_read(timebase_clock_page(clock), 1,
                            TIMEBASE_WANT_UTC | TIMEBASE_WANT_FLAGS | TIMEBASE_WANT_MAXERROR, &now))
        return timebase_realtime_interval_slow(clock, out);
    timebase_interval_set(out, now.utc_ns, now.maxerror_ns);
    return (int)(now.flags & TIMEBASE_LINE_STATUS_MASK);
}

/*
 * Convert a tick read at another moment. Exact for the ticks that the page's lines cover (the last
 * 60 to 160 ms of a clock in use); for older and future ones the nearest line is drawn on.
 * timebase_at() tells the bound and, if the page has expired by then, the status. A tick by which
 * the lines want renewal renews them, as a reading does. The very first conversion of a process may
 * take 1 ms to learn the rate.
 */
TIMEBASE_API int64_t timebase_utc_at_ns(const timebase_clock *clock, uint64_t ticks);
TIMEBASE_API int64_t timebase_mono_at_ns(const timebase_clock *clock, uint64_t ticks);
TIMEBASE_API int64_t timebase_tai_at_ns(const timebase_clock *clock, uint64_t ticks);
TIMEBASE_API void timebase_at(const timebase_clock *clock, uint64_t ticks,
                              struct timebase_instant *out);

/* The first tick at which the clock will show, or showed, this time or a later one. */
TIMEBASE_API uint64_t timebase_ticks_at_utc(const timebase_clock *clock, int64_t utc_ns);
TIMEBASE_API uint64_t timebase_ticks_at_mono(const timebase_clock *clock, int64_t mono_ns);

/*
 * Who keeps the clock right. A reader of an attached clock renews it from its page, which takes
 * some 300 ns every 20 ms of use. A program that chooses MANUAL for an attached clock calls
 * timebase_clock_maintain() every 10 ms; then readers seldom have to renew it.
 */
enum timebase_maintenance {
    TIMEBASE_MAINTENANCE_AUTOMATIC = 0, /* readers, about every 100 ms of use */
    TIMEBASE_MAINTENANCE_MANUAL = 1,    /* whoever calls timebase_clock_maintain() */
};

/*
 * Choose who keeps the clock right. With MANUAL, call timebase_clock_maintain() at least once a
 * second (every 100 ms keeps the usual accuracy). If nobody does, a reader renews the lines after
 * all, and the statistics count the rescue. The choice holds from the next publication on: call
 * timebase_clock_maintain() once after this. Returns 0 or TIMEBASE_E_INVALID.
 */
TIMEBASE_API int timebase_clock_set_maintenance(const timebase_clock *clock, int maintenance);

/*
 * Compare with the reference and publish the next lines. A few µs; never waits for another
 * thread. Returns 0; TIMEBASE_E_BUSY if another thread is at it or the last lines have only just
 * been published; TIMEBASE_E_REFERENCE; TIMEBASE_E_INVALID if clock is null.
 */
TIMEBASE_API int timebase_clock_maintain(const timebase_clock *clock);

/*
 * Forget all lines and start afresh, as after timebase_counter_select(). Monotonic time may step by
 * the clock's error, so call it before other threads read. Returns 0, TIMEBASE_E_INVALID, or
 * TIMEBASE_E_BUSY if another thread is maintaining the clock.
 */
TIMEBASE_API int timebase_clock_restart(const timebase_clock *clock);

/*
 * Attach to the page that another process publishes, the daemon timebased as a rule. NULL is
 * TIMEBASE_PAGE_PATH. Readings then mean the same to all processes that are attached: a tick
 * is the same nanosecond in each.
 *
 * The file is read, never mapped, and what was read is used for no longer than
 * TIMEBASE_PAGE_LEASE_NS; so reads go on, whatever becomes of the file. The library opens it, and
 * looks for it again whenever the writer seems gone, under these conditions:
 *
 *     its path has no symbolic link; each folder on it belongs to root or this user, and nobody
 *     else may write there, except in sticky folders such as /tmp
 *     neither the file nor a folder on its path, except the first, is on a file system in user
 *     space
 *     it is a regular file of TIMEBASE_PAGE_SIZE bytes or more, owned by root or this user, and
 *     nobody else may write it; in TIMEBASE_PAGE_FOLDER, the folder's owner counts as root
 *     it passes timebase_page_validate(), and its counter is this process' counter; or this
 *     counter corrected by CPU, and the corrections lie behind the page
 *     its lines have begun, and agree with this machine's CLOCK_REALTIME, and with its
 *     CLOCK_MONOTONIC apart from the offset of this process' time namespace
 *
 * A page whose writer no longer renews it goes on with a bound that grows, until it expires at the
 * ticks that it names: its status becomes FREERUNNING, and at last UNKNOWN. If another writer's
 * lines lie lower, monotonic time does not go back: it goes on more slowly, until the lines have
 * overtaken it.
 *
 * Where CPUs' counters differ, a page's ticks are corrected by CPU (cpus.h). To attach to such a
 * page corrects this process' counter, for all threads and clocks, and begins the default clock
 * anew; to give back the last clock that was attached so ends that. So a program does both while
 * no other thread reads a clock. Clocks that were attached to another page before lose their
 * lines, and say UNKNOWN.
 *
 * Takes one private mapping of memory and one file descriptor, which fork hands on and exec closes.
 * Returns 0, and the clock in *out; else *out is NULL, and it returns
 *     TIMEBASE_E_INVALID      out is null, or the path is empty or too long
 *     TIMEBASE_E_NOT_FOUND    no such file: no daemon, or another path
 *     TIMEBASE_E_PERMISSION   file or folder may not be opened, or no memory or descriptor is left
 *     TIMEBASE_E_UNTRUSTED    the path is not as above, or others may write there
 *     TIMEBASE_E_FORMAT       not a page of this version, or it has impossible lines
 *     TIMEBASE_E_UNSUPPORTED  the page is over another counter than this process reads, or has a
 *                             feature that this library does not know; or its ticks are corrected
 *                             by CPU, and this process corrects its counter by itself, or cannot
 *     TIMEBASE_E_DISRUPTED    its corrections are by another CPU than those that are in force
 *     TIMEBASE_E_STALE        no lines yet, or those of another boot, machine or namespace
 *     TIMEBASE_E_TORN         never seen: 8 publications fell into 8 attempts
 * `timebase status --page=PATH` names the one cause, and what to do.
 * Not for signal handlers; the clock that it makes may be read in them.
 */
#define TIMEBASE_PAGE_FOLDER "/run/timebase"
#define TIMEBASE_PAGE_PATH TIMEBASE_PAGE_FOLDER "/page"
TIMEBASE_API int timebase_clock_attach(timebase_clock **out, const char *path);

/* As timebase_clock_attach(). If that fails, *out is the default clock and the result says why. */
TIMEBASE_API int timebase_clock_attach_or_default(timebase_clock **out, const char *path);

/*
 * Give an attached clock back; no thread may use it any more. Ignores NULL and the default clock.
 */
TIMEBASE_API void timebase_clock_detach(timebase_clock *clock);

enum timebase_attachment_state {
    TIMEBASE_ATTACHMENT_PRIVATE = 0, /* the process' own clock: attached to nothing */
    TIMEBASE_ATTACHMENT_CURRENT = 1,
    TIMEBASE_ATTACHMENT_SILENT = 2,  /* not renewed up to its silent_ticks: FREERUNNING */
    TIMEBASE_ATTACHMENT_EXPIRED = 3, /* nor up to its void_ticks: UNKNOWN */
};

/* How an attached clock stands with its page. Counts since it was attached. */
struct timebase_attachment {
    int32_t state;          /* enum timebase_attachment_state */
    int32_t error;          /* why the page cannot be followed just now; 0: it can */
    uint64_t seq;           /* number of the publication that is followed */
    uint64_t age_ns;        /* since its newest line began; 0: it has not begun */
    int64_t mono_offset_ns; /* CLOCK_MONOTONIC here - the page's: time namespaces, else 0 */
    uint64_t renewals;      /* looks at the page */
    uint64_t publications;  /* looks that found a new publication */
    uint64_t openings;      /* times that the file was another one and was opened again */
    uint64_t refusals;      /* looks that found no page, or none to be trusted */
    uint64_t joins;         /* lines that lay below what had been shown */
};

/*
 * Looks at the page, and says how things stand. Returns 0, TIMEBASE_E_INVALID, or TIMEBASE_E_BUSY
 * after bounded attempts.
 */
TIMEBASE_API int timebase_clock_attachment(const timebase_clock *clock,
                                           struct timebase_attachment *out);

/* Counts of what happened to the clock. A forked child goes on from its parent's numbers. */
struct timebase_statistics {
    uint64_t samples; /* comparisons with the reference */
    uint64_t publications;
    uint64_t late_publications;   /* published after their first tick: bounded, see page.h */
    uint64_t utc_steps;           /* the system clock was stepped */
    int64_t last_utc_step_ns;     /* new - old offset of the latest step */
    uint64_t suspends;            /* the machine slept */
    uint64_t counter_jumps;       /* counter and reference disagree beyond any slew */
    uint64_t counter_backwards;   /* the counter went back */
    uint64_t rate_changes;        /* the reference changed its rate: history dropped */
    uint64_t reference_failures;  /* the reference could not be read */
    uint64_t rescues;             /* manual maintenance was overdue */
    int64_t last_offset_ns;       /* clock - reference at the latest comparison */
    uint64_t bracket_ns;          /* half-width of the latest comparison */
    uint64_t frequency_hz;        /* the reference's rate, in ticks per second of its time */
    uint64_t frequency_error_ppb; /* and how wrong that can be */
    int32_t counter_id;           /* enum timebase_counter_id */
    int32_t status;               /* of a reading now: enum timebase_status */
};

/*
 * Lines that want renewal are renewed first, as by a reading; a clock that was never read stays
 * UNKNOWN. Returns 0, TIMEBASE_E_INVALID, or TIMEBASE_E_BUSY after bounded attempts. An attached
 * clock takes no samples: looks at its page count instead, steps and late publications are the
 * page's counts, disruptions count as counter_jumps, and what it cannot know is 0.
 */
TIMEBASE_API int timebase_clock_statistics(const timebase_clock *clock,
                                           struct timebase_statistics *out);

/* Names for people: "SYNCHRONIZED". Constant text, never NULL. */
TIMEBASE_API const char *timebase_status_name(int status);

TIMEBASE_EXTERN_END

#endif
