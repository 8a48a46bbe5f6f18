/* SPDX-License-Identifier: MIT */
/*
 * keeper: keeps a shared page right. Each step takes a sample, and draws and stores the next lines,
 * which begin a lead later: longer than the lease for which readers may use a copy of the page
 * (TIMEBASE_PAGE_LEASE_NS). So all of them have the new lines before the first tick of these.
 *
 *     keeper_start(&keeper, &outside)      or, with a page of the daemon before:
 *     keeper_adopt(&keeper, &page)
 *     loop:
 *         result = keeper_step(&keeper)
 *         wait keeper_wait_ns(&keeper, result), or until the clock was set
 *
 * What it stands on (counter, reference, store, history) comes from outside, so that it also runs
 * in virtual time. It prints nothing and waits for nothing.
 */
#ifndef DAEMON_KEEPER_H
#define DAEMON_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/discipline/discipline.h"
#include "clock/reference/reference.h"
#include "sources/claims.h"

/* From planning to the first tick of the new lines. */
#define KEEPER_LEAD_NS 30000000

struct keeper_outside {
    uint64_t (*ticks)(void *context);
    const struct reference *reference;
    void *reference_context;
    /* The newest publication, to where readers find it. 0, or -1: they do not have it. */
    int (*store)(void *context, const struct timebase_page *page);
    /* Counts that have changed since. */
    void (*store_counts)(void *context, const struct timebase_page *page);
    /* Lines that readers have from this tick on; after a disruption, if any. */
    void (*record)(void *context, const struct timebase_lines *lines, uint64_t published_ticks,
                   bool is_disrupted);
    void *context; /* of the four above */
    struct claims *claims;
};

/* Since the daemon began. */
struct keeper_counts {
    uint64_t samples;
    uint64_t reference_failures;
    uint64_t publications;
    uint64_t late_publications; /* readers may have used the old line beyond its last tick */
    uint64_t store_failures;
    uint64_t utc_steps;
    int64_t last_utc_step_ns; /* new - old offset */
    uint64_t slews;           /* publications with more than KEEPER_SLEW_NS to correct */
    uint64_t suspends;
    uint64_t jumps; /* counter against reference */
    uint64_t backwards;
    uint64_t rate_changes;
    uint64_t disruptions; /* jumps, backwards, and what others told */
    uint64_t leaps;       /* leap seconds that the system clock has made */
};

/* What the clock is off before its correction is called a slew. */
#define KEEPER_SLEW_NS 1000

enum keeper_result {
    KEEPER_PUBLISHED,
    KEEPER_TOO_EARLY,    /* the present lines have not begun, or are about to be handed over */
    KEEPER_LEARNING,     /* not enough samples for lines */
    KEEPER_NO_REFERENCE, /* the kernel's clocks could not be read */
    KEEPER_NOT_STORED,
};

struct keeper {
    struct keeper_outside outside;
    struct discipline discipline;
    struct timebase_page page; /* as it is, or is to be, in the file */
    struct keeper_counts counts;
    uint64_t interval_ns;     /* to the next step; grows to interval_max_ns */
    uint64_t interval_max_ns; /* as configured */
    uint32_t drift_ppm;       /* the oscillator's allowance, rounded up */
    unsigned events;          /* enum discipline_event, of the newest step */
    unsigned owed;            /* disruptions seen and not yet published */
    bool is_adopted;          /* and not yet compared with the reference */
    bool is_told_disrupted;   /* keeper_disrupt() since the last step */
    bool is_mark_owed;        /* the lines recorded last are not to be drawn on */
    int64_t offset_ns;        /* clock - reference at the newest sample */
    uint64_t claims_told;     /* disruptions of the claims that were dealt with */
    int64_t published_ns;     /* reference's monotonic time of the newest publication */
};

void keeper_start(struct keeper *keeper, const struct keeper_outside *outside, uint64_t interval_ns,
                  uint32_t drift_ppb);

/*
 * Instead of beginning afresh go on with this page, which is valid and of this counter. False if
 * it does not fit the reference's time now, and nothing has changed: it is of another boot,
 * another time namespace, or another machine.
 */
bool keeper_adopt(struct keeper *keeper, const struct timebase_page *page);

enum keeper_result keeper_step(struct keeper *keeper);

/* How long to wait after a step that ended so. */
uint64_t keeper_wait_ns(const struct keeper *keeper, enum keeper_result result);

/* Somebody knows that the machine was disrupted: the next step deals with it. */
void keeper_disrupt(struct keeper *keeper);

/* For the next publication on. */
void keeper_set(struct keeper *keeper, uint64_t interval_ns, uint32_t drift_ppb);

/* The page's word about this moment; false if there are no lines yet. */
bool keeper_now(const struct keeper *keeper, struct timebase_instant *instant);

#endif
