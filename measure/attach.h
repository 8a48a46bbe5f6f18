/* SPDX-License-Identifier: MIT */
/* attach: what it takes to attach to a shared page, up to the first reading. */
#ifndef BENCH_ATTACH_H
#define BENCH_ATTACH_H

#include <stdint.h>

#include <timebase/attributes.h>

/*
 * Attach, read UTC, detach, `rounds` times; ns of each, up to the reading, in elapsed_ns. Returns
 * 0, or why it cannot be attached.
 */
TIMEBASE_API int timebase_bench_attach(const char *path, uint32_t rounds, double *elapsed_ns);

#endif
