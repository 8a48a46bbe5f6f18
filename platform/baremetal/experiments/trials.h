/* SPDX-License-Identifier: MIT */
/* trials: errors of an experiment, and the line that shows them. */
#ifndef EXPERIMENTS_TRIALS_H
#define EXPERIMENTS_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TRIALS_MAX = 256,
    PLACES = 64,       /* where the first byte of a loop's code may lie in a line of the cache */
    PLACE_TRIALS = 64, /* at each */
};

struct trials {
    int32_t ticks[TRIALS_MAX]; /* event - target */
    int count;
};

void trials_add(struct trials *trials, int64_t error_ticks);

struct trials_summary {
    int32_t low, median, high;
};

struct trials_summary trials_summary(const struct trials *trials);

/* The error that this share of them, in thousandths, do not exceed; there are some. */
int32_t trials_quantile(const struct trials *trials, int thousandths);

/* On the screen: a line with the 5th percentile, the median and the 95th. */
void trials_show(const char *what, const char *more, const struct trials *trials);

/* "errors_ticks": all of them. Within a line. */
void trials_print(const struct trials *trials);

/* "lows_ticks", "medians_ticks", "highs_ticks": of a loop's code at each place. Within a line. */
void trials_print_places(const struct trials_summary places[PLACES]);

/* "cache": "on" or "off"; and "shown": false where an emulator cannot show the effect. */
void trials_print_cache(bool is_on, bool is_emulated);

#endif
