/* SPDX-License-Identifier: MIT */
/*
 * sources: what the configured sources say about true UTC, asked once a second and held against
 * each other. A sample of the kernel's clocks comes in with the kernel's word about itself, and
 * goes out with what a majority of them agree on.
 */
#ifndef SOURCES_SOURCES_H
#define SOURCES_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/discipline/discipline.h"
#include "selection.h"
#include "claim.h"
#include "departure.h"
#include "config/problem.h"
#include "config/settings.h"

/* Each source is asked every second. One that has not answered for this long is lost. Its claim may
 * be older than that: a driver may be told to ask more seldom, and repeats its claim in between. */
#define SOURCES_FRESH_NS 10000000000

/* Where a source saw UTC, by its own word. */
struct source_range {
    bool is_known;
    int64_t low_ns, high_ns; /* CLOCK_REALTIME - UTC lay between these */
    uint64_t slewed_ns;      /* sources.slewed_ns then */
};

struct source {
    char name[SETTINGS_PATH];           /* "phc:/dev/ptp0" */
    const struct source_driver *driver; /* NULL: the kernel's word, from the sample */
    const char *argument;               /* in name, or NULL */
    void *context;                      /* NULL: not open */
    int64_t due_ns;                     /* ask again then, monotonic */
    int64_t answered_ns;                /* last, likewise */
    bool has_claim;
    bool is_up;          /* it answered when last asked */
    bool is_falseticker; /* by the newest agreement */
    bool has_marker;     /* it tells of disruptions */
    bool is_outdated;    /* it answers, and has measured nothing since the last disruption */
    int64_t measured_ns; /* UTC, monotonic: the newest that its answers have told */
    int error;           /* of the last attempt; 0 */
    const char *reason;  /* of that error, for people: constant text */
    struct claim claim;
    struct departure departure;
    struct source_range range; /* at the last sample in which it gave a bound */
    enum claim_notice notice; /* of its newest answer */
};

struct sources {
    struct source list[SETTINGS_SOURCES];
    unsigned count;
    uint32_t drift_ppb;
    int64_t known_since_ns;     /* claims that held earlier are about another clock */
    int64_t disrupted_ns;       /* claims measured earlier know nothing of the last disruption */
    uint64_t marker;            /* vmclock's, the newest, perhaps of the daemon before; 0: none */
    uint64_t disruptions;       /* how often it has changed, or the sources' clocks have parted */
    struct selection selection; /* the newest */
    bool is_of_bounds;          /* it was reached by sources that give bounds */
    int64_t selected_ns;        /* when it held, monotonic */
    uint64_t slewing_ppb;       /* what it ages by at most */
    uint64_t slewed_ns;         /* by how much CLOCK_REALTIME may have been slewed up to then */
    bool is_disputed;           /* the last disruption was shown by one, and not by another */
    bool is_leaping;            /* a leap second is being made, and is in the bound: set by who has
                                 * the sample. A source may make it before or after the others */
    struct slew slew;           /* how the kernel said that CLOCK_REALTIME is steered */
    struct slew (*read_slew)(void);
};

/*
 * Does each source take its argument? Opens and closes them. A source that is only missing
 * now is no fault. Returns 0; or -1, and *problem names place and argument. `file` is for messages
 * only.
 */
int sources_check(const struct settings *settings, const char *file, struct problem *problem);

/* Opens nothing yet. */
void sources_set_up(struct sources *sources, const struct settings *settings);

/*
 * Others in their place, which are not open yet. What is known of the machine stays: steps and
 * disruptions, and when a source that stays has measured. Only one thread may call it.
 */
void sources_replace(struct sources *sources, const struct settings *settings);

/* Opens what is not open, asks what is due. */
void sources_ask(struct sources *sources, int64_t mono_ns);

/*
 * The same before a sample. Some sources are asked again even if they are not due: those whose
 * claims age by what is slewed, because 100 ms at 500 ppm are 50 us, and the sample follows at
 * once; and those that tell of disruptions.
 */
void sources_ask_for_sample(struct sources *sources, int64_t mono_ns);

/* When to ask next, monotonic; INT64_MAX if there is nobody to ask. */
int64_t sources_due_ns(const struct sources *sources);

/*
 * Descriptors that become readable when a source is worth asking before it is due: how many, of
 * which the first `size` are in fds[]. The set may change with each ask. sources_hear() asks the
 * source whose descriptor became readable.
 */
unsigned sources_fds(const struct sources *sources, int *fds, unsigned size);
void sources_hear(struct sources *sources, int fd, int64_t mono_ns);

/* The most urgent that any source tells of a disruption to come. */
enum claim_notice sources_notice(const struct sources *sources);

/*
 * The clock was stepped, or may have been: what sources said before is void. They are asked at
 * once. An answer after the step is taken to know of it.
 */
void sources_forget(struct sources *sources, int64_t mono_ns);

/*
 * The machine was stopped, moved or asleep, or its counter jumped. As sources_forget(); and a
 * source is not believed again before it has measured UTC. For `disruptions` that sources have
 * seen, sources_forget() is enough.
 */
void sources_disrupted(struct sources *sources, int64_t mono_ns);

/* The newest marker of vmclock that was heard, as one number (clock/counter/marker.h); 0: none of
 * the sources tells one. */
uint64_t sources_marker(const struct sources *sources);

/*
 * The range that the sources agree on replaces the sample's own word. If none has answered yet,
 * that word stays, as an estimate: not synchronised.
 */
void sources_apply(struct sources *sources, struct discipline_sample *sample);

/* How far UTC may be from a claim's offset, aged to mono_ns; never wraps. */
uint64_t sources_error_ns(const struct sources *sources, const struct claim *claim,
                          int64_t mono_ns);

void sources_close(struct sources *sources);

#endif
