/* SPDX-License-Identifier: MIT */
/*
 * promises: what docs/bound.md promises who reads the daemon's page, held against what is true of
 * the guest. The daemon is not asked: what happened is told here by who made it happen.
 */
#ifndef SIMULATION_PROMISES_H
#define SIMULATION_PROMISES_H

#include <stdbool.h>
#include <stdint.h>

#include "guest.h"

struct promises {
    double interval_sec; /* of the daemon */
    /* what has happened */
    bool is_parted;          /* counter, system clock or UTC have, and no sample has shown it */
    bool is_moved_unseen;    /* nobody can have told; chronyd's next measurement will */
    int64_t moved_ns;        /* true time */
    int64_t ptp_shows_ns;    /* likewise, of a move that the PTP clock has yet to show; 0 */
    bool is_rtc_unread;      /* since then: the next look at the battery clock may tell */
    int64_t void_since_ns;   /* what was measured earlier is not to be believed, true time */
    bool is_counter_parted;  /* from the system clock: the next sample shows it, if it is a jump */
    int64_t counter_parted_ns; /* true time */
    bool is_past_unknown;    /* to the daemon that has begun then, and has not published */
    int64_t begun_ns;        /* true time */
    bool must_be_unreliable; /* the next page, for the daemon has been told */
    int64_t unreliable_until_ns; /* monotonic: it may be so until then, or */
    uint64_t unreliable_until_stores;
    uint64_t begun_stores;   /* when this daemon began */
    bool is_due;             /* undisturbed for so long that UTC must be promised */
    uint64_t stores;         /* that had been made by then */
    long double stored_ticks, stored_mono_ns; /* at the newest of them */
    double stored_rate; /* of its lines: what their pace may be wrong by */
    /* what was read */
    int64_t last_mono_ns;
    uint64_t pages;
    unsigned readings, promised, unreliable;
    double tightest, tightest_true; /* errors as parts of their bounds */
    bool is_loud; /* each is told */
    unsigned wrong;
    char first_wrong[200];
};

/* What the daemon can see of a happening. */
enum promises_sight {
    PROMISES_UNSEEN, /* nothing */
    PROMISES_VOID,   /* that what sources said is void: asleep, with a counter that stood still */
    PROMISES_PARTED, /* how far counter and system clock have parted */
    PROMISES_SEEN,   /* that the counter is disrupted */
};

void promises_happened(struct promises *promises, enum promises_sight sight);

/* CLOCK_REALTIME was stepped by who knows what it was. */
void promises_stepped(struct promises *promises);

/* A daemon begins. is_past_unknown: it cannot know what befell the machine before. */
void promises_begun(struct promises *promises, bool is_past_unknown);

/* Who made something happen has found that one is broken. */
void promises_broken(struct promises *promises, const char *what);

/* Read the page as it is now. */
void promises_read(struct promises *promises);

#endif
