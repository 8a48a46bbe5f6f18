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
 *
 * Whether the clock is disrupted the thread that renews the lines decides by its own look, and perhaps
 * otherwise than another one that asks meanwhile. It goes on by the lines, or begins anew at the
 * reference, no lower than the old lines can have been followed. So an answer in between is the lesser
 * of lines and reference, and no less than those. Where that is the lines, but the reference is ahead
 * of them by more than any slew, it is the reference: then the other thread finds the same.
 */
#include "own.h"

#include <timebase/error.h>

/* Lines came while the overdue ones were read: these are new for longer than one attempt takes. */
#define ATTEMPTS 8

enum outcome { READ_DONE, READ_OVERDUE, READ_NO_LINES };

/*
 * Reads by the present lines. Overdue ones are good up to servo_followed_ticks(). `seq` is the
 * publication that has been judged: the number is read first, so that whoever goes on with overdue
 * lines can tell that new ones have come meanwhile.
 */
static enum outcome read_lines(struct clock_cell *cell, uint64_t *seq, struct timebase_instant *out)
{
    struct timebase_page *page = cell_lines_page(cell);
    *seq = timebase_page_seq(page, __ATOMIC_ACQUIRE);
    if (cell_read_current(cell, out))
        return READ_DONE;
    uint64_t ticks = timebase_ticks_ordered();
    if (*seq == 0)
        return READ_NO_LINES;
    uint64_t after = timebase_page_word(&page->copy[*seq & 1].after.start_ticks);
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
    struct look look = {0};
    look.before = timebase_ticks_ordered();
    look.is_known = own->reference->moment(own->reference_context, &look.moment) == TIMEBASE_OK;
    look.after = timebase_ticks_ordered();
    return look;
}

/* Has the machine slept since the sample that these lines are drawn by? */
static bool has_slept(const struct own_clock *own, uint64_t seq, const struct look *look)
{
    int64_t then_ns = (int64_t)timebase_page_word(&own->suspended_ns[seq & 1]);
    return discipline_was_asleep(then_ns, look->moment.suspended_ns);
}

/*
 * Do the lines disagree with the reference by more than their error and slewing explain? The lines
 * begin before the sample that they are drawn by, so the estimator allows no more for either
 * (estimator_observe). In a sleep the counter may have gone on, and nothing was slewed.
 */
static bool is_disrupted(const struct timebase_lines *lines, const struct look *look,
                         const struct timebase_instant *before,
                         const struct timebase_instant *after, bool has_slept)
{
    int64_t mono_ns = look->moment.mono_ns;
    int64_t begin_ns = (int64_t)timebase_page_word(&lines->before.mono_ns);
    int64_t elapsed_ns = mono_ns > begin_ns && !has_slept ? mono_ns - begin_ns : 0;
    int64_t apart_ns = mono_ns < before->mono_ns ? before->mono_ns - mono_ns
                                                 : mono_ns - after->mono_ns;
    return apart_ns > (int64_t)after->maxerror_ns &&
        estimator_is_jump(apart_ns - (int64_t)after->maxerror_ns, elapsed_ns);
}

/* Another monotonic time, with the bounds that it needs. */
static void move_to(struct timebase_instant *instant, int64_t mono_ns)
{
    int64_t by_ns = mono_ns - instant->mono_ns;
    uint64_t size_ns = (uint64_t)(by_ns < 0 ? -by_ns : by_ns);
    instant->mono_ns += by_ns;
    instant->utc_ns += by_ns;
    instant->maxerror_ns += size_ns;
    instant->utc_maxerror_ns += size_ns;
    instant->esterror_ns += size_ns;
}

/*
 * There are lines, but nobody has renewed them for long, and the thread that has the lock has not
 * finished. The lines still hold, with the bound they have grown, unless the reference shows a
 * disruption. They are read at the tick before the look: the machine may have slept since. False if
 * there are other lines by now than those that read_lines() judged: the end of new ones, below which
 * the result must not be, is still to come.
 */
static bool read_overdue(struct clock_cell *cell, const struct look *look, uint64_t seq,
                         struct timebase_instant *out)
{
    struct timebase_page *page = cell_lines_page(cell);
    struct timebase_instant followed, after;
    const struct timebase_lines *lines = &page->copy[seq & 1];
    if (!timebase_page_convert(page, look->before, out) ||
        !timebase_page_convert(page, look->after, &after) ||
        !timebase_page_convert(page, servo_followed_ticks(page), &followed))
        return false;
    if (look->is_known) {
        bool slept = has_slept(own_of(cell), seq, look);
        if (is_disrupted(lines, look, out, &after, slept))
            from_moment(&look->moment, look->before, out);
        else if (look->moment.mono_ns < out->mono_ns)
            move_to(out, look->moment.mono_ns);
    }
    if (out->mono_ns < followed.mono_ns)
        move_to(out, followed.mono_ns);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return timebase_page_seq(page, __ATOMIC_RELAXED) == seq;
}

/* The lines are not current, and another thread has the lock. */
static void read_without_lines(struct clock_cell *cell, struct timebase_instant *out)
{
    struct look look;
    uint64_t seq;
    enum outcome outcome = READ_OVERDUE;
    for (int attempt = 0; attempt < ATTEMPTS && outcome == READ_OVERDUE; attempt++) {
        look = look_at_reference(cell);
        /* Prefer lines that came while the reference was read: they may be ahead of it. */
        outcome = read_lines(cell, &seq, out);
        if (outcome == READ_DONE ||
            (outcome == READ_OVERDUE && read_overdue(cell, &look, seq, out)))
            return;
    }
    if (look.is_known)
        from_moment(&look.moment, look.before, out);
    else
        cell_unknown(timebase_ticks_ordered(), out);
}

void own_read(struct clock_cell *cell, struct timebase_instant *out)
{
    uint64_t seq;
    if (cell_read_current(cell, out))
        return;
    if (!guard_is_taken(&cell->lock))
        renew(cell);
    if (read_lines(cell, &seq, out) == READ_DONE)
        return;
    cell_await_unlock(cell);
    if (guard_is_taken(&cell->lock))
        renew(cell); /* its owner may be gone */
    read_without_lines(cell, out);
}
