/* SPDX-License-Identifier: MIT */
/*
 * device: a timer of this machine that counts up at a rate of its own and wraps. It is a witness of
 * the counter's rate, for it has another crystal than the kernel's calibration of the counter, or
 * that calibration's own.
 *
 * device_rate.h measures one; timers.h says which there are.
 */
#ifndef TIMEBASE_BENCH_DEVICE_H
#define TIMEBASE_BENCH_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <timebase.h>

struct device {
    const char *reason; /* why the last call failed, for people: constant text */
    /* Fills *raw. Returns 0 or an error, with its reason. */
    int (*read)(struct device *device, uint64_t *raw);
    void (*release)(struct device *device); /* what close() does not give back; or null */
    double hz;      /* what it says of itself: counts in a second */
    unsigned width; /* bits of raw: 24 to 64; those above are 0 */
    int fd;
    void *registers; /* HPET: the mapped page */
    uint64_t port;   /* ACPI: of the machine's input and output ports */
};

/*
 * Each opens a device for this thread, until device_close(): in its usual place if the path is null.
 * Returns 0; TIMEBASE_E_NOT_FOUND: there is none; TIMEBASE_E_PERMISSION; TIMEBASE_E_UNSUPPORTED: the
 * kernel or the machine is not made so; TIMEBASE_E_REFERENCE: it is off, or cannot be read;
 * TIMEBASE_E_FORMAT: it is something else.
 */
int device_open_hpet(struct device *device, const char *path);
int device_open_acpi_pm(struct device *device, const char *table, const char *ports);
int device_open_rtc(struct device *device, const char *path);
int device_open_kernel(struct device *device);
void device_close(struct device *device);

/* The error, with its reason: for those who open and read. */
int device_fail(struct device *device, int error, const char *reason);

/* device->fd of a file that is only read. */
int device_open_file(struct device *device, const char *path, const char *absent,
                     const char *refused);

/* All ones, as many as a reading has bits. */
uint64_t device_mask(unsigned width);

/* The middle of three readings in a row is good if they rise, and lie close together. */
int device_middle(const uint64_t raw[3], unsigned width, uint64_t *middle);

/* The port and width of the ACPI PM timer in a FADT; 0, or TIMEBASE_E_FORMAT, _UNSUPPORTED. */
int device_parse_fadt(const unsigned char *table, size_t length, uint64_t *port, unsigned *width);

#endif
