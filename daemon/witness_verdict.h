/* SPDX-License-Identifier: MIT */
/*
 * witness_verdict: if this machine were stopped, moved or restored, would the daemon know? Where
 * the kernel's clock is made of the counter that the page is about, both stand still together, and
 * nothing inside the guest tells. A witness is a clock that may go on elsewhere; which of them tell
 * of which moves is in docs/guide/sources.md. In a guest without a witness readers are promised
 * no UTC, unless its administrator says that it is never moved.
 */
#ifndef DAEMON_WITNESS_VERDICT_H
#define DAEMON_WITNESS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/discipline/discipline.h"
#include "sources/sources.h"

/* Bits: who would tell. */
enum witness_kind {
    WITNESS_KERNEL = 1, /* the kernel's clock is not made of this counter alone: kvm-clock, HPET */
    WITNESS_SOURCE = 2, /* a source with a clock elsewhere has answered of late */
    WITNESS_MARKER = 4, /* the hypervisor's disruption marker */
    WITNESS_RTC = 8,    /* the machine's battery clock: tells of two seconds and more */
};

enum witness_verdict {
    WITNESS_NOT_NEEDED, /* no guest, as far as anybody says */
    WITNESS_PRESENT,
    WITNESS_NEVER_NEEDED, /* none, but never_moved is set */
    WITNESS_MISSING,
};

struct witness_facts {
    int is_guest;     /* 1 yes, 0 no, -1 nobody says (guest.h): taken for no */
    unsigned kinds;   /* enum witness_kind */
    bool never_moved; /* configured */
};

/* Pure. */
enum witness_verdict witness_verdict(const struct witness_facts *facts);

/* What a daemon that begins can see of the time before. */
struct witness_past {
    bool has_page;         /* one of this boot and counter is there */
    bool is_taken_up;      /* it fits: counter and kernel's clock have not parted */
    bool was_synchronized; /* its daemon promised UTC to the end, by a bound */
    bool was_disrupted;    /* it tells of a disruption: not each of the sources may have measured
                            * since, though one that has was enough for the promise */
    bool has_slept;        /* the machine, since it was started */
};

/*
 * False: this machine may have been stopped, moved, asleep or otherwise disrupted, and a source may
 * go on from what it measured before that; it is not believed before it has measured again. `kinds`
 * are those that tell of the time before: WITNESS_KERNEL. Pure.
 */
bool witness_past_is_known(const struct witness_facts *facts, const struct witness_past *past);

/* For log, status and metrics: "kernel, source"; "none". */
const char *witness_names(unsigned kinds, char *text, size_t size);

/* What follows for a sample, after the sources' word has gone into it. */
void witness_apply(enum witness_verdict verdict, struct discipline_sample *sample);

/* Those kinds of witness that the sources are: WITNESS_SOURCE, WITNESS_MARKER, both, or none. */
unsigned witness_of_sources(const struct sources *sources, int64_t mono_ns);

/* WITNESS_KERNEL, if a kernel with this clocksource has a clock that is not the counter's alone. */
unsigned witness_of_clocksource(const char *clocksource);

/* ---- the battery clock --------------------------------------------------------------------- */

struct witness_rtc {
    bool is_read;
    int64_t sec;     /* what it showed */
    int64_t mono_ns; /* then */
};

/*
 * It shows sec at mono_ns. True if it has gone on by two seconds more or less than the kernel's
 * clock since the last look: the machine has stood still. Pure; a step of it counts too.
 */
bool witness_rtc_parted(struct witness_rtc *rtc, int64_t sec, int64_t mono_ns);

/* What /sys says that it shows; false: there is none. Costs up to a millisecond. */
bool witness_rtc_read(int64_t *sec);

#endif
