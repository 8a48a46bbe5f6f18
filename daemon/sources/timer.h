/* SPDX-License-Identifier: MIT */
/*
 * timer: a device that counts up at a known rate and wraps, as a reference: nanoseconds since it
 * was opened. For machines whose kernel has fallen back from the processor's counter to such a
 * device itself: it tells the counter's rate and phase, not UTC.
 *
 * Samples have the kernel's UTC as it was at opening; steps of CLOCK_REALTIME are not followed.
 * They come from one thread, and there are no moments: the wraps that were counted are its own.
 */
#ifndef SOURCES_TIMER_H
#define SOURCES_TIMER_H

#include <stddef.h>
#include <stdint.h>

#include "clock/reference/reference.h"

struct timer {
    const char *reason; /* as in claim.h */
    /* The device: fills *raw. Returns 0 or an error, with its reason. */
    int (*read)(struct timer *timer, uint64_t *raw);
    /* ns of a count: numerator / denominator; numerator up to 10^9, denominator up to 10^7 */
    uint64_t numerator, denominator;
    unsigned width; /* bits of raw: 24 to 64 */
    int fd;
    void *registers;     /* HPET: the mapped page */
    uint64_t port;       /* ACPI: in /dev/port */
    uint64_t step_ticks; /* of the processor's counter in one count, rounded up */
    uint64_t last_raw;   /* of the newest reading */
    uint64_t count;      /* then, since opening */
    int64_t last_ns;     /* then, CLOCK_MONOTONIC */
    int64_t utc_ns;      /* CLOCK_REALTIME at opening */
};

/* count + what raw has advanced since last_raw, whole wraps included: elapsed_ns says how many. */
uint64_t timer_extend(const struct timer *timer, uint64_t raw, int64_t elapsed_ns);

/* ns of so many counts, rounded down. */
uint64_t timer_ns(const struct timer *timer, uint64_t count);

/*
 * With everything down to `width` and the device set: begins to count. Takes a millisecond or two,
 * in which it must be seen to run. Returns 0 or TIMEBASE_E_REFERENCE.
 */
int timer_begin(struct timer *timer);

/* The middle of three readings in a row is good if they rise, and lie close together. */
int timer_middle(const uint64_t raw[3], unsigned width, uint64_t *middle);

/* The port and width of the ACPI PM timer in a FADT; 0, or TIMEBASE_E_FORMAT, _UNSUPPORTED. */
int timer_parse_fadt(const unsigned char *table, size_t length, uint64_t *port, unsigned *width);

/*
 * Open the HPET (null: /dev/hpet) or the ACPI PM timer (null: the machine's table, and /dev/port).
 * Returns 0, TIMEBASE_E_PERMISSION, TIMEBASE_E_REFERENCE: there is none, TIMEBASE_E_UNSUPPORTED, or
 * TIMEBASE_E_FORMAT; timer->reason says more.
 */
int timer_open_hpet(struct timer *timer, const char *device);
int timer_open_acpi_pm(struct timer *timer, const char *table, const char *ports);
void timer_close(struct timer *timer);

/* Context: struct timer, opened. */
extern const struct reference reference_hpet;
extern const struct reference reference_acpi_pm;

#endif
