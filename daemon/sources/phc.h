/* SPDX-License-Identifier: MIT */
/*
 * phc: a PTP hardware clock, /dev/ptpN. The device tells a time, but not how wrong that can be. Its
 * owner has to say this (error=).
 */
#ifndef SOURCES_PHC_H
#define SOURCES_PHC_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "claim.h"

/* What the driver asks of the system; tests answer in its place. As ioctl(2), clock_gettime(2). */
struct phc_calls {
    int (*ioctl)(int fd, unsigned long request, void *argument);
    int64_t (*clock_ns)(clockid_t id); /* INT64_MIN: failed, with errno */
    bool (*tai_offset)(int64_t *sec);  /* TAI - UTC; false: nobody has told the kernel */
    int (*utc_offset)(int64_t *ns);    /* CLOCK_REALTIME - CLOCK_MONOTONIC, as reference.h has it */
};
extern const struct phc_calls phc_system_calls;

/* The device showed device_ns between these two readings of CLOCK_REALTIME. */
struct phc_reading {
    int64_t before_ns;
    int64_t device_ns;
    int64_t after_ns;
};

enum phc_method { PHC_PRECISE, PHC_EXTENDED, PHC_CLOCK };

struct phc {
    const char *reason;
    const struct phc_calls *calls;
    int fd;
    enum phc_method method; /* the best that has not been refused */
    bool is_tai;            /* it shows TAI, as PTP does; else UTC */
    bool is_vouched_for;    /* error_ns is its owner's word, not our default */
    uint64_t error_ns;
};

/*
 * Compare device and system clock. device_ns is INT64_MIN where the device shows no time that it
 * could be. Returns 0, or TIMEBASE_E_PERMISSION or _REFERENCE, and the reason.
 */
int phc_read(struct phc *phc, struct phc_reading *reading);

/* The driver's three functions, with calls given. */
int phc_open(struct phc *phc, const char *argument, const struct phc_calls *calls);
int phc_claim(struct phc *phc, struct claim *claim);
void phc_close(struct phc *phc);

#endif
