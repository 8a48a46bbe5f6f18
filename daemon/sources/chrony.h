/* SPDX-License-Identifier: MIT */
/*
 * chrony: what chronyd knows of CLOCK_REALTIME, asked of chronyd itself by its command protocol,
 * version 6 (chrony 2 to 4), as chronyc asks it.
 *
 *     chrony_message  the question and the answer, as bytes     pure, trusts nothing
 *     chrony_bound    numbers -> claim                          pure
 *     chrony_socket   one question, one answer, no waiting      sockets
 *     chrony          the driver: whom to ask and when, how old an answer is
 */
#ifndef SOURCES_CHRONY_H
#define SOURCES_CHRONY_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "claim.h"

enum chrony_leap {
    CHRONY_LEAP_NORMAL,
    CHRONY_LEAP_INSERT,
    CHRONY_LEAP_DELETE,
    CHRONY_LEAP_UNSYNCHRONISED,
};

/* chronyd's seconds as ns, its ppm as ppb. */
struct chrony_tracking {
    uint32_t reference_id;
    unsigned stratum;           /* 0 to 16 */
    int64_t reference_time_ns;  /* UTC of the last measurement */
    int64_t correction_ns;      /* what is to be added to CLOCK_REALTIME: UTC - CLOCK_REALTIME */
    int64_t last_offset_ns;     /* of the last update of chronyd's clock */
    int64_t rms_offset_ns;      /* long-term average of these; not negative */
    int64_t frequency_ppb;      /* either sign */
    int64_t residual_ppb;       /* frequency of the source less what is used; either sign */
    int64_t skew_ppb;           /* error of the frequency; not negative, as all below */
    int64_t root_delay_ns;      /* to the stratum-1 computer and back */
    int64_t root_dispersion_ns; /* as far as chronyd knows, when it answered */
    int64_t update_interval_ns; /* between the last two updates */
    enum chrony_leap leap;
};

/* ---- messages ------------------------------------------------------------------------------ */

/* Both have this size: chronyd answers no question that is shorter than its answer. */
enum { CHRONY_MESSAGE_SIZE = 104 };

/* The question for tracking. */
void chrony_request(uint32_t sequence, unsigned char bytes[CHRONY_MESSAGE_SIZE]);

/*
 * Returns 0; TIMEBASE_E_BUSY: the answer to another question; TIMEBASE_E_PERMISSION: chronyd
 * refuses; TIMEBASE_E_UNSUPPORTED: it speaks another version; TIMEBASE_E_FORMAT: no such answer,
 * from the first to the last byte.
 */
int chrony_parse(const unsigned char *bytes, size_t length, uint32_t sequence,
                 struct chrony_tracking *out);

/*
 * The claim that follows, for an answer that was given between two monotonic times. `before`: the
 * answer before, or null.
 */
struct claim chrony_claim(const struct chrony_tracking *tracking,
                          const struct chrony_tracking *before, int64_t asked_ns,
                          int64_t answered_ns);

/*
 * CLOCK_MONOTONIC of the last measurement that the answer rests on, or earlier. utc_offset_ns:
 * CLOCK_REALTIME - CLOCK_MONOTONIC.
 */
int64_t chrony_measured_ns(const struct chrony_tracking *tracking, int64_t answered_ns,
                           int64_t utc_offset_ns);

/* ---- the socket ---------------------------------------------------------------------------- */

enum { CHRONY_PLACE_SIZE = sizeof(((struct sockaddr_un *)0)->sun_path), CHRONY_PORT = 323 };

/* Where chronyd listens. */
struct chrony_place {
    socklen_t length; /* of the address */
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    } address;
};

/* "127.0.0.1", "::1", "localhost" or "/socket". False: it is no such place. */
bool chrony_place(struct chrony_place *place, const char *host, uint16_t port);

struct chrony_socket {
    int fd;                      /* -1: closed */
    uint32_t sequence;           /* of the question that is out */
    char own[CHRONY_PLACE_SIZE]; /* our end of a local socket, to be removed; "": none */
};

/*
 * Ask. Returns 0 or an error: TIMEBASE_E_PERMISSION, TIMEBASE_E_REFERENCE. A local socket's own end
 * is made in the folder of chronyd's, where chronyd finds it, as chronyc does.
 */
int chrony_socket_ask(struct chrony_socket *socket, const struct chrony_place *place);

/* Has it answered? TIMEBASE_E_BUSY: not yet. Else as chrony_parse(), or TIMEBASE_E_REFERENCE. */
int chrony_socket_hear(struct chrony_socket *socket, struct chrony_tracking *tracking);

/* Waits for an answer, but not longer than this. */
void chrony_socket_wait(const struct chrony_socket *socket, int64_t ns);

void chrony_socket_close(struct chrony_socket *socket);

#endif
