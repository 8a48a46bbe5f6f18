/* SPDX-License-Identifier: MIT */
/* sample: what many measurements of offsets were like. */
#ifndef GUEST_SAMPLE_H
#define GUEST_SAMPLE_H

#include <stdint.h>

/* In ticks: how far each estimate was from the truth, and half of its range. */
struct sample {
    unsigned count;
    uint64_t *off, *half;
};

/* For so many at most, kept until the program ends. */
struct sample sample_of(unsigned size);
uint64_t *sample_room(unsigned size);

void sample_note(struct sample *sample, uint64_t off, uint64_t half);

/* "half-widths: p50 78, p90 91, p99 117, most 130 of 200". Sorts them. */
void sample_show_quantiles(const char *name, uint64_t *ticks, unsigned count);
void sample_show(const struct sample *sample);

#endif
