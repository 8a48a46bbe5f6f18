/* SPDX-License-Identifier: MIT
 *
 * What each way to wait shows to the driver. One that cannot be had here says why, and the others
 * run without it.
 */
#ifndef WAITS_PEER_H
#define WAITS_PEER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An instant, in ticks and as CLOCK_MONOTONIC will show it, and what is to begin then. */
struct appointment {
    uint64_t ticks;
    int64_t mono_ns;
    void (*event)(void *argument);
    void *argument;
};

struct peer {
    const char *name;           /* as in catalogue.py; NULL ends a list */
    void (*delay)(uint64_t ns); /* from the call to the return; NULL: it has none */
    uint64_t least_ns;          /* the shortest delay that it can be asked for */
    void (*until)(const struct appointment *appointment); /* calls the event; NULL: it has none */
};

/* Called once, on the thread that will wait; NULL, or the reason why these peers cannot run. */
struct group {
    const char *title;
    const char *(*open)(int cpu);
    const struct peer *peers;
};

/* By timebase's clock, before the first round: what delays are turned into ticks by. */
extern double assumed_ticks_per_ns;

extern const struct group timebase_group, kernel_group, chrono_group, dpdk_group, rust_group;

#ifdef __cplusplus
}
#endif
#endif
