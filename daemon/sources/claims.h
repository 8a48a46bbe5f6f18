/* SPDX-License-Identifier: MIT */
/*
 * claims: what the configured references say about true UTC, asked once a second and held against
 * each other. A sample of the kernel's clocks comes in with the kernel's word about itself, and
 * goes out with what a majority of the references agree on.
 */
#ifndef DAEMON_CLAIMS_H
#define DAEMON_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/discipline/discipline.h"
#include "agree.h"
#include "claim.h"
#include "config/problem.h"
#include "config/settings.h"

/* Each is asked every second; one that has not answered for so long is lost. (Its claim may be
 * older: chronyd is asked every 16 s, and its driver says the same in between.) */
#define CLAIMS_FRESH_NS 10000000000

struct claims_source {
    char name[SETTINGS_PATH];              /* "phc:/dev/ptp0" */
    const struct reference_source *driver; /* NULL: the kernel's word, from the sample */
    const char *argument;                  /* in name, or NULL */
    void *context;                         /* NULL: not open */
    int64_t due_ns;                        /* ask again then, monotonic */
    int64_t answered_ns;                   /* last, likewise */
    bool has_claim;
    bool is_up;         /* it answered when last asked */
    bool is_liar;       /* by the newest agreement */
    int error;          /* of the last attempt; 0 */
    const char *reason; /* of that error, for people: constant text */
    struct reference_claim claim;
};

struct claims {
    struct claims_source sources[SETTINGS_REFERENCES];
    unsigned count;
    uint32_t drift_ppb;
    int64_t known_since_ns;     /* claims that held earlier are about another clock */
    uint64_t marker;            /* vmclock's, the newest; 0: none seen */
    uint64_t disruptions;       /* how often it has changed */
    struct agreement agreement; /* the newest */
};

/*
 * Does each reference take its argument? Opens and closes them: what is only not there now is no
 * fault. Returns 0; or -1, and *problem names place and argument. `file` is for messages only.
 */
int claims_check(const struct settings *settings, const char *file, struct problem *problem);

/* Opens nothing yet. */
void claims_set_up(struct claims *claims, const struct settings *settings);

/* Opens what is not open, asks what is due. */
void claims_ask(struct claims *claims, int64_t mono_ns);

/*
 * The same before a sample. Sources whose claims age by what others slew are asked again, due or
 * not: 100 ms of 500 ppm are 50 us, the way from here to the sample is nothing.
 */
void claims_ask_for_sample(struct claims *claims, int64_t mono_ns);

/* When to ask next, monotonic; INT64_MAX if there is nobody to ask. */
int64_t claims_due_ns(const struct claims *claims);

/* The clock was stepped, or the machine disrupted: what was said before is void. Ask at once. */
void claims_forget(struct claims *claims, int64_t mono_ns);

/*
 * The sample's own word is replaced by what the references agree on. If none has answered yet it
 * stays, as an estimate: not synchronised.
 */
void claims_apply(struct claims *claims, struct discipline_sample *sample);

/* How far UTC may be from a claim's offset, aged to mono_ns; never wraps. */
uint64_t claims_error_ns(const struct claims *claims, const struct reference_claim *claim,
                         int64_t mono_ns);

void claims_close(struct claims *claims);

#endif
