/* SPDX-License-Identifier: MIT */
/*
 * convert: ticks to time and back, by a clock. The only thing that can be missing is lines, in the
 * first millisecond of a clock's life; then they are waited for, or drawn for this call alone.
 */
#include <stddef.h>

#include "clock/page/publish.h"
#include "cell.h"

#include <timebase/error.h>

/* Two samples so far apart give a slope; see BASELINE_MIN_NS of the estimator. */
#define WAIT_NS 600000
/* Usually one wait is enough; where every sample is interrupted, many are needed. */
#define WAITS 200
#define LOCKED_OUT_MAX 2
/* A bound on the wait in case the reference stands still. */
#define WAIT_ROUNDS 10000

static void wait_by_reference(const struct clock_cell *cell)
{
    struct reference_moment start, now;
    if (cell->reference->moment(cell->reference_context, &start) != TIMEBASE_OK)
        return;
    for (int i = 0; i < WAIT_ROUNDS; i++) {
        timebase_arch_relax();
        if (cell->reference->moment(cell->reference_context, &now) != TIMEBASE_OK ||
            now.mono_ns - start.mono_ns >= WAIT_NS)
            return;
    }
}

static bool has_lines(struct clock_cell *cell)
{
    return timebase_page_seq(cell_lines_page(cell), __ATOMIC_ACQUIRE) != 0;
}

/*
 * The page to convert by; with lines unless the thread that maintains the clock does not get on
 * with it, perhaps because we are a signal handler in its midst.
 */
struct timebase_page *cell_own_lines(struct clock_cell *cell)
{
    int locked_out = 0;
    for (int round = 0; round < WAITS && locked_out < LOCKED_OUT_MAX && !has_lines(cell); round++) {
        if (round > 0)
            wait_by_reference(cell);
        locked_out += timebase_clock_maintain(cell_handle(cell)) == TIMEBASE_E_BUSY;
    }
    return cell_lines_page(cell);
}

/* A page for one call: samples of the reference, private to it. */
static void draw(struct clock_cell *cell, struct timebase_page *page)
{
    struct discipline discipline = {0};
    struct schedule schedule = {0};
    struct discipline_sample sample = {0};
    /* The shared driver context may be in use by the thread we interrupted: a copy of its own. */
    struct reference_kernel own = {0};
    if (cell->reference == NULL)
        return; /* attached, and the page it was attached to has gone */
    void *context = cell->reference == &reference_kernel ? (void *)&own : cell->reference_context;
    for (int round = 0; round < WAITS && !discipline_is_ready(&discipline); round++) {
        if (round > 0)
            wait_by_reference(cell);
        if (cell->reference->sample(context, &sample) == TIMEBASE_OK)
            discipline_observe(&discipline, &sample);
    }
    if (!discipline_is_ready(&discipline))
        return;
    publish_begin(page, timebase_counter_id());
    schedule.now_ticks = timebase_ticks_ordered();
    struct discipline_output output = discipline_plan(&discipline, &schedule, schedule.now_ticks);
    publish_lines(page, &output.lines, output.refresh_ticks);
}

/* Nobody has renewed these lines in time for a tick. A hint: they may be changing. */
static bool is_silent_at(const struct timebase_page *page, uint64_t ticks)
{
    uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
    const struct timebase_lines *lines = &page->copy[seq & 1];
    uint64_t d = ticks - timebase_page_word(&lines->after.start_ticks);
    return seq != 0 && (int64_t)d >= 0 && d >= timebase_page_word(&lines->validity.silent_ticks);
}

/* A process that reads ticks alone, and no time, has a page that expires: it is renewed here. */
static struct timebase_page *kept_lines(struct clock_cell *cell, uint64_t ticks)
{
    struct timebase_page *page = cell->kind->lines(cell);
    if (is_silent_at(page, ticks) && is_silent_at(page, timebase_ticks_ordered()))
        timebase_clock_maintain(cell_handle(cell));
    return page;
}

TIMEBASE_API void timebase_at(const timebase_clock *clock, uint64_t ticks,
                              struct timebase_instant *out)
{
    struct clock_cell *cell = cell_of(clock);
    if (timebase_page_convert(kept_lines(cell, ticks), ticks, out))
        return;
    struct timebase_page page = {0};
    draw(cell, &page);
    if (!timebase_page_convert(&page, ticks, out))
        cell_unknown(ticks, out);
}

TIMEBASE_API int64_t timebase_utc_at_ns(const timebase_clock *clock, uint64_t ticks)
{
    struct timebase_instant instant;
    timebase_at(clock, ticks, &instant);
    return instant.utc_ns;
}

TIMEBASE_API int64_t timebase_mono_at_ns(const timebase_clock *clock, uint64_t ticks)
{
    struct timebase_instant instant;
    timebase_at(clock, ticks, &instant);
    return instant.mono_ns;
}

TIMEBASE_API int64_t timebase_tai_at_ns(const timebase_clock *clock, uint64_t ticks)
{
    struct timebase_instant instant;
    timebase_at(clock, ticks, &instant);
    return timebase_tai_from_utc(instant.utc_ns, instant.flags);
}

TIMEBASE_API uint64_t timebase_ticks_at_utc(const timebase_clock *clock, int64_t utc_ns)
{
    struct clock_cell *cell = cell_of(clock);
    struct timebase_page page = {0};
    uint64_t ticks = 0;
    if (timebase_page_ticks_at_utc(cell->kind->lines(cell), utc_ns, &ticks))
        return ticks;
    draw(cell, &page);
    timebase_page_ticks_at_utc(&page, utc_ns, &ticks);
    return ticks;
}

TIMEBASE_API uint64_t timebase_ticks_at_mono(const timebase_clock *clock, int64_t mono_ns)
{
    struct clock_cell *cell = cell_of(clock);
    struct timebase_page page = {0};
    uint64_t ticks = 0;
    if (timebase_page_ticks_at_mono(cell->kind->lines(cell), mono_ns, &ticks))
        return ticks;
    draw(cell, &page);
    timebase_page_ticks_at_mono(&page, mono_ns, &ticks);
    return ticks;
}
