/* SPDX-License-Identifier: MIT */
/* background: what the processor does until an interrupt comes. */
#ifndef EXPERIMENTS_BACKGROUND_H
#define EXPERIMENTS_BACKGROUND_H

#include <stdint.h>

struct background {
    const char *name;
    /* Until timer_count is no longer `count`. Interrupts are off before and after. */
    void (*run)(uint32_t count);
};

enum { BACKGROUNDS = 6 };

/* The report's two first: no-operations and CPUID. */
extern const struct background backgrounds[BACKGROUNDS];

#endif
