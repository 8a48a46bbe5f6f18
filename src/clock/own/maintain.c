/* SPDX-License-Identifier: MIT */
/*
 * maintain: where reference, discipline and publish meet. Runs in the thread that came first to
 * the slow path, or in a housekeeping thread.
 */
#include "clock/discipline/cadence.h"
#include "clock/page/publish.h"
#include "clock/cell.h"

#include <timebase/error.h>

/* How often a publication that came too late for its first tick is planned again. */
#define PLAN_ATTEMPTS 3
/* Readers follow lines unrenewed for as long again as they were meant to last. */
#define GRACE_FACTOR 2

uint64_t cell_followed_ticks(struct clock_cell *cell)
{
    struct timebase_page *page = cell_lines_page(cell);
    const struct timebase_lines *lines = &page->copy[timebase_page_word(&page->seq) & 1];
    return timebase_page_word(&lines->after.start_ticks) +
        GRACE_FACTOR * timebase_page_word(&page->refresh_ticks);
}

static void count_events(struct clock_cell *cell, unsigned events)
{
    struct timebase_statistics *statistics = &cell->statistics;
    struct timebase_page *page = cell_lines_page(cell);
    statistics->samples++;
    statistics->rate_changes += !!(events & DISCIPLINE_RATE_CHANGED);
    statistics->suspends += !!(events & DISCIPLINE_SUSPENDED);
    statistics->counter_jumps += (events & DISCIPLINE_JUMPED) && !(events & DISCIPLINE_SUSPENDED);
    statistics->counter_backwards += !!(events & DISCIPLINE_BACKWARDS);
    if (events & DISCIPLINE_UTC_STEPPED) {
        statistics->utc_steps++;
        statistics->last_utc_step_ns = cell->discipline.utc_step_ns;
        publish_count(&page->utc_step_count);
    }
    if (events & (DISCIPLINE_DISRUPTED | DISCIPLINE_SUSPENDED))
        publish_count(&page->disruption_marker);
}

/* Clock minus reference where the newest sample was taken, by the lines then in force. */
static void note_offset(struct clock_cell *cell, const struct discipline_sample *sample)
{
    struct timebase_instant instant;
    uint64_t middle = sample->ticks_before + (sample->ticks_after - sample->ticks_before) / 2;
    if (timebase_page_convert(cell_lines_page(cell), middle, &instant))
        cell->statistics.last_offset_ns = instant.mono_ns - sample->mono_ns;
}

static struct cadence cadence_of(const struct clock_cell *cell)
{
    int maintenance = __atomic_load_n(&cell->maintenance, __ATOMIC_RELAXED);
    struct cadence cadence = {cell->interval_ns, maintenance == TIMEBASE_MAINTENANCE_MANUAL};
    return cadence;
}

/* After a disruption: as far as readers may have got with the present lines. */
static uint64_t followed_until(struct clock_cell *cell, const struct schedule *schedule)
{
    uint64_t soon =
        schedule->now_ticks + estimator_ticks(cell->discipline.estimator.period, schedule->lead_ns);
    uint64_t followed = cell_followed_ticks(cell);
    return (int64_t)(soon - followed) < 0 ? soon : followed;
}

/*
 * Publish lines that hand over in the future. If the writer was held up between planning and
 * publishing, plan again with more lead; whether the last attempt was in time is looked at
 * afterwards, and counted: readers between the hand-over and the publication were on the
 * old line, at most 1,000 ppm of the lateness away.
 */
static void plan_and_publish(struct clock_cell *cell)
{
    struct timebase_page *page = cell_lines_page(cell);
    bool is_ahead = cell->discipline.has_plan && !cell->discipline.is_holding &&
        !(cell->discipline.events & DISCIPLINE_DISRUPTED);
    uint64_t deadline = 0;
    struct discipline_output output;
    struct cadence cadence = cadence_of(cell);
    bool is_urgent = cell->discipline.events & (DISCIPLINE_UTC_STEPPED | DISCIPLINE_DISRUPTED);
    for (unsigned attempt = 0; attempt < PLAN_ATTEMPTS; attempt++) {
        struct schedule schedule =
            cadence_schedule(&cadence, timebase_ticks_ordered(), is_urgent, attempt);
        output = discipline_plan(&cell->discipline, &schedule, followed_until(cell, &schedule));
        deadline = plan_deadline(&cell->discipline.plan, &output.plan, schedule.now_ticks);
        uint64_t margin = (deadline - schedule.now_ticks) / 4;
        if (!is_ahead || (int64_t)(deadline - margin - timebase_ticks_ordered()) > 0)
            break;
    }
    publish_lines(page, &output.lines, output.refresh_ticks);
    if (is_ahead && (int64_t)(timebase_ticks_ordered() - deadline) > 0) {
        cell->statistics.late_publications++;
        publish_count(&page->late_count);
    }
    discipline_commit(&cell->discipline, &output);
    cell->statistics.publications++;
}

/* Lines whose slew has not begun yet are not replaced: `before` would lie in the future. */
static bool is_too_early(const struct clock_cell *cell)
{
    const struct plan *plan = &cell->discipline.plan;
    uint64_t now = timebase_ticks_ordered();
    return cell->discipline.has_plan && (int64_t)(now - plan->slew.start_ticks) < 0 &&
        (int64_t)(now - plan->before.start_ticks) >= 0;
}

int cell_maintain(struct clock_cell *cell)
{
    struct discipline_sample sample = {0};
    if (is_too_early(cell))
        return TIMEBASE_E_BUSY;
    int error = cell->reference->sample(cell->reference_context, &sample);
    if (error != TIMEBASE_OK) {
        cell->statistics.reference_failures++;
        discipline_hold(&cell->discipline, timebase_ticks_ordered());
        if (cell->discipline.has_plan) /* the lines go on, by what is known */
            plan_and_publish(cell);
        return error;
    }
    note_offset(cell, &sample);
    unsigned events = discipline_observe(&cell->discipline, &sample);
    count_events(cell, events);
    if (events & DISCIPLINE_DISRUPTED)
        cell->interval_ns = 0; /* the rate may have changed too: look again in a millisecond */
    if (discipline_is_ready(&cell->discipline)) {
        struct cadence cadence = cadence_of(cell);
        cell->interval_ns =
            cadence_next_ns(&cadence, (uint64_t)(sample.mono_ns - cell->maintained_ns));
        plan_and_publish(cell);
    }
    cell->maintained_ns = sample.mono_ns;
    return TIMEBASE_OK;
}
