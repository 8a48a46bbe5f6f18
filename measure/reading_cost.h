/* SPDX-License-Identifier: MIT */
/*
 * reading_cost: what one call of each way to read the time takes.
 *
 *     timebase_bench_prepare();
 *     timebase_bench_rounds(1000, 200, ticks_per_call);   // on a thread pinned by the caller
 *
 * A round times one batch of every row, one after the other, so that a change of the machine's
 * speed affects all rows alike. The caller computes minimum, median and percentiles over rounds. A
 * batch lies between two serialised readings of the counter, whose cost is divided among its calls.
 * The empty loop is a row like the others. It is shown and not subtracted, because a processor runs
 * the loop's instructions in parallel with the measured ones.
 */
#ifndef TIMEBASE_BENCH_READING_COST_H
#define TIMEBASE_BENCH_READING_COST_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/* Rows are numbered from 0. The name is NULL for a number out of range. */
TIMEBASE_API int timebase_bench_rows(void);
TIMEBASE_API const char *timebase_bench_row_name(int row);

/* The clock that timebase's rows read; NULL: the default one, as at the start. It must outlive the
 * measurements. `page_updated_1khz` renews the default clock alone. */
TIMEBASE_API void timebase_bench_use_clock(const timebase_clock *clock);

/* To be called once before the measurements: fills what some rows read. Returns 0 or an error. */
TIMEBASE_API int timebase_bench_prepare(void);

/*
 * Ticks that one batch took. Rows that need it (page_updated_1khz) make their batches longer, and
 * start and stop a second thread around them; *calls is what was really called. 0 if row is wrong.
 */
TIMEBASE_API uint64_t timebase_bench_batch(int row, uint64_t *calls);

/* Fills ticks_per_call[round * timebase_bench_rows() + row]. */
TIMEBASE_API void timebase_bench_rounds(uint64_t calls, uint32_t rounds, double *ticks_per_call);

/* `steps` readings in a row, each with its tick, for the picture of what a clock resolves. */
struct timebase_bench_step {
    uint64_t ticks;
    uint64_t utc_ns;
    uint64_t tb_nano_ns;
};
TIMEBASE_API void timebase_bench_staircase(uint32_t steps, struct timebase_bench_step *out);

TIMEBASE_EXTERN_END

#endif
