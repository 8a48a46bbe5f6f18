/* SPDX-License-Identifier: MIT */
/*
 * chrony: what chronyd knows of CLOCK_REALTIME, asked of chronyd's own client.
 *
 *     chrony_parse   the client's text -> numbers          pure, trusts nothing
 *     chrony_bound   numbers -> claim                      pure
 *     chrony_client  runs the client, without waiting      processes and pipes
 *     chrony         the driver: when to ask, how old an answer is
 */
#ifndef REFERENCE_CHRONY_H
#define REFERENCE_CHRONY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "claim.h"

enum chrony_leap {
    CHRONY_LEAP_NORMAL,
    CHRONY_LEAP_INSERT,
    CHRONY_LEAP_DELETE,
    CHRONY_LEAP_UNSYNCHRONISED,
};

/* One line of `chronyc -n -c tracking`. Its seconds as ns, its ppm as ppb. */
struct chrony_tracking {
    uint32_t reference_id;
    unsigned stratum;           /* 0 to 16 */
    int64_t reference_time_ns;  /* UTC of the last measurement */
    int64_t correction_ns;      /* what is to be added to CLOCK_REALTIME: UTC - CLOCK_REALTIME */
    int64_t last_offset_ns;     /* of the last update of chronyd's clock */
    int64_t rms_offset_ns;      /* long-term average of these; not negative, as all below but */
    int64_t frequency_ppb;      /* this */
    int64_t residual_ppb;       /* and this: frequency of the source less what is used */
    int64_t skew_ppb;           /* error of the frequency */
    int64_t root_delay_ns;      /* to the stratum-1 computer and back */
    int64_t root_dispersion_ns; /* as far as chronyd knows, when it answered */
    int64_t update_interval_ns; /* between the last two updates */
    enum chrony_leap leap;
};

/* Returns 0, or TIMEBASE_E_FORMAT: not such a line, from the first to the last character. */
int chrony_parse(const char *text, size_t length, struct chrony_tracking *out);

/* The claim that follows, for an answer that was given not before mono_ns. */
struct reference_claim chrony_claim(const struct chrony_tracking *tracking, int64_t mono_ns);

/* ---- the client ---------------------------------------------------------------------------- */

enum { CHRONY_TEXT_SIZE = 512, CHRONY_HOST_SIZE = 108, CHRONY_PORT_SIZE = 6 };

struct chrony_client {
    pid_t pid;     /* 0: none is running */
    pid_t dying;   /* one that was killed and is not gone yet; 0: none */
    int fd;        /* its output; -1: closed */
    size_t length; /* of text */
    char text[CHRONY_TEXT_SIZE];
};

/* Where to look for the client, null at the end. Not copied. For tests. */
void chrony_set_programs(const char *const *paths);

/*
 * Start the client; host and port: "" for its own defaults. Returns 0, TIMEBASE_E_UNSUPPORTED:
 * there is no such program, TIMEBASE_E_PERMISSION: it may not be run, TIMEBASE_E_REFERENCE.
 * Takes as long as vfork and exec do, 0.8 ms; where others want the CPU, as long as these have it.
 */
int chrony_client_start(struct chrony_client *client, const char *host, const char *port);

/*
 * Has it ended? TIMEBASE_E_BUSY: no. Else its text is there (0), or TIMEBASE_E_REFERENCE: it failed
 * or was killed, TIMEBASE_E_UNSUPPORTED: it could not be run after all, TIMEBASE_E_FORMAT: it did
 * not stop talking; and it is gone.
 */
int chrony_client_poll(struct chrony_client *client);

/* Kill it, if it is running, with all that it has started. */
void chrony_client_stop(struct chrony_client *client);

#endif
