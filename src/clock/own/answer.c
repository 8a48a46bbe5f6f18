/* SPDX-License-Identifier: MIT */
/*
 * answer: the slow path of a clock of one's own. It tries in this order: to read the page, which
 * another thread may have renewed; to renew it, if no other thread does; to follow the present
 * lines a little longer; to give the reference's own time, for a clock without lines or after a
 * disruption.
 *
 * Time does not go back from one of these answers to another: lines join without a gap; the first
 * line begins above any time the reference itself can have given (next_plan.c); a disrupted
 * clock's new line begins above all that its old lines can have given (servo_followed_ticks).
 */
#include "own.h"

#include <timebase/error.h>

enum outcome { READ_DONE, READ_OVERDUE, READ_NO_LINES };

/* Reads by the present lines. Overdue ones are good up to servo_followed_ticks(). */
static enum outcome read_lines(struct clock_cell *cell, struct timebase_instant *out)
{
    struct timebase_page *page = cell_lines_page(cell);
    if (cell_read_current(cell, out))
        return READ_DONE;
    uint64_t seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
    uint64_t ticks = timebase_ticks_ordered();
    if (seq == 0)
        return READ_NO_LINES;
    uint64_t after = timebase_page_word(&page->copy[seq & 1].after.start_ticks);
    uint64_t followed = servo_followed_ticks(page);
    if ((int64_t)(ticks - after) < 0 || (int64_t)(followed - ticks) < 0)
        return READ_OVERDUE;
    return timebase_page_convert(page, ticks, out) ? READ_DONE : READ_OVERDUE;
}

/* Renews the lines, if that is possible without waiting. */
static void renew(struct clock_cell *cell)
{
    struct clock_hold hold;
    if (!cell_try_lock(cell, &hold))
        return;
    if (__atomic_load_n(&cell->maintenance, __ATOMIC_RELAXED) == TIMEBASE_MAINTENANCE_MANUAL &&
        own_of(cell)->servo.discipline.has_plan)
        cell->statistics.rescues++;
    own_maintain(cell);
    cell_unlock(cell, &hold);
}

static void from_moment(const struct reference_moment *moment, uint64_t ticks,
                        struct timebase_instant *out)
{
    out->ticks = ticks;
    out->mono_ns = moment->mono_ns;
    out->utc_ns = moment->mono_ns + moment->utc_offset_ns;
    out->maxerror_ns = moment->error_ns;
    out->utc_maxerror_ns = moment->error_ns + (uint64_t)moment->maxerror_ns;
    out->esterror_ns = moment->error_ns;
    out->flags = moment->flags | TIMEBASE_STATUS_INITIALIZING;
}

/* The reference's moment, and the counter before and after it. */
struct look {
    bool is_known;
    struct reference_moment moment;
    uint64_t before, after;
};

static struct look look_at_reference(struct clock_cell *cell)
{
    const struct own_clock *own = own_of(cell);
    struct look look;
    look.before = timebase_ticks_ordered();
    look.is_known = own->reference->moment(own->reference_context, &look.moment) == TIMEBASE_OK;
    look.after = timebase_ticks_ordered();
    return look;
}

/* Do the lines disagree with the reference by more than slewing explains? */
static bool is_disrupted(const struct timebase_page *page, const struct look *look,
                         const struct timebase_instant *followed)
{
    struct timebase_instant before, after;
    if (!look->is_known || !timebase_page_convert(page, look->before, &before) ||
        !timebase_page_convert(page, look->after, &after))
        return false;
    int64_t mono_ns = look->moment.mono_ns;
    int64_t elapsed_ns = mono_ns > followed->mono_ns ? mono_ns - followed->mono_ns : 0;
    if (mono_ns < before.mono_ns)
        return estimator_is_jump(before.mono_ns - mono_ns, elapsed_ns);
    return mono_ns > after.mono_ns && estimator_is_jump(mono_ns - after.mono_ns, elapsed_ns);
}

/* Lift an instant to a floor of monotonic time, and say how far. */
static void lift(struct timebase_instant *instant, int64_t floor_ns)
{
    int64_t lift_ns = floor_ns - instant->mono_ns;
    if (lift_ns <= 0)
        return;
    instant->mono_ns += lift_ns;
    instant->utc_ns += lift_ns;
    instant->maxerror_ns += (uint64_t)lift_ns;
    instant->utc_maxerror_ns += (uint64_t)lift_ns;
    instant->esterror_ns += (uint64_t)lift_ns;
}

/*
 * There are lines, but nobody has renewed them for long, and the thread that has the lock has not
 * finished. The lines still hold, with the bound they have grown, unless the reference shows a
 * disruption. After one, that thread will start new lines at the reference. So the answer is the
 * reference's time, but never less than the old lines have given.
 */
static bool read_overdue(struct clock_cell *cell, const struct look *look,
                         struct timebase_instant *out)
{
    struct timebase_page *page = cell_lines_page(cell);
    struct timebase_instant followed;
    if (!timebase_page_convert(page, timebase_ticks_ordered(), out) ||
        !timebase_page_convert(page, servo_followed_ticks(page), &followed))
        return false;
    if (!is_disrupted(page, look, &followed))
        return true;
    from_moment(&look->moment, look->before, out);
    lift(out, followed.mono_ns);
    return true;
}

/* The lines are not current, and another thread has the lock. */
static void read_without_lines(struct clock_cell *cell, struct timebase_instant *out)
{
    struct look look = look_at_reference(cell);
    /* Prefer lines that came while the reference was read: they may be ahead of it. */
    enum outcome outcome = read_lines(cell, out);
    if (outcome == READ_DONE)
        return;
    if (outcome == READ_OVERDUE && read_overdue(cell, &look, out))
        return;
    if (look.is_known)
        from_moment(&look.moment, look.before, out);
    else
        cell_unknown(timebase_ticks_ordered(), out);
}

void own_read(struct clock_cell *cell, struct timebase_instant *out)
{
    if (cell_read_current(cell, out))
        return;
    if (!guard_is_taken(&cell->lock))
        renew(cell);
    if (read_lines(cell, out) == READ_DONE)
        return;
    cell_await_unlock(cell);
    if (guard_is_taken(&cell->lock))
        renew(cell); /* its owner may be gone */
    read_without_lines(cell, out);
}
