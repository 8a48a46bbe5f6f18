/* SPDX-License-Identifier: MIT */
/* coverage: what share of true errors is within some multiples of esterror. */
#ifndef SIMULATION_COVERAGE_H
#define SIMULATION_COVERAGE_H

#include <stddef.h>
#include <stdio.h>

#define COVERAGE_MULTIPLES 5

static const double coverage_multiples[COVERAGE_MULTIPLES] = {0.25, 0.5, 1, 2, 4};

struct coverage {
    unsigned long count;
    unsigned long within[COVERAGE_MULTIPLES];
};

static inline void coverage_add(struct coverage *coverage, double error_ns, double esterror_ns)
{
    double size_ns = error_ns < 0 ? -error_ns : error_ns;
    coverage->count++;
    for (int i = 0; i < COVERAGE_MULTIPLES; i++)
        coverage->within[i] += size_ns <= esterror_ns * coverage_multiples[i];
}

static inline double coverage_share(const struct coverage *coverage, int multiple)
{
    return coverage->count == 0 ? 1 : (double)coverage->within[multiple] / (double)coverage->count;
}

/* "5.000 26.914 99.993 100.000 100.000 %", for the multiples in turn. */
static inline const char *coverage_text(const struct coverage *coverage, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < COVERAGE_MULTIPLES && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%.3f ", 100 * coverage_share(coverage, i));
    if (used < size)
        snprintf(text + used, size - used, "%%");
    return text;
}

#endif
