/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "clock/line/lines.h"
#include "clock/page/publish.h"
#include "moment.h"
#include "view.h"

#include <timebase/error.h>

/* In each round one follower may note that it goes on; it has waited 20 µs before. */
#define STOP_ATTEMPTS 100

static bool has_passed(uint64_t ticks, uint64_t now_ticks)
{
    return (int64_t)(now_ticks - ticks) >= 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return has_passed(a, b) ? b : a;
}

/* ---- the floor: new lines begin no lower */

struct floor {
    uint64_t start_ticks;
    int64_t mono_ns;
    struct timebase_line line; /* up to there */
    uint32_t told;             /* enum follow, up to FOLLOW_BOTH: by what others have gone on */
};

static struct floor floor_of(const struct timebase_lines *old, uint64_t ticks)
{
    struct floor floor = {ticks, lines_mono_ns(old, ticks), *lines_line(old, ticks), FOLLOW_OPEN};
    return floor;
}

/* Followers that were told the kernel's time were told no more than this. */
static void raise_to_clocks(struct floor *floor, const struct mirror *mirror,
                            const struct timebase_lines *old)
{
    struct moment moment;
    if (!moment_look(&moment))
        return;
    struct timebase_lines clocks = moment_lines(&moment, old, mirror->attachment.mono_offset_ns);
    int64_t mono_ns = lines_mono_ns(&clocks, moment.ticks_after);
    if (mono_ns > floor->mono_ns)
        floor->mono_ns = mono_ns;
}

static struct floor floor_where_they_are(const struct mirror *mirror,
                                         const struct timebase_lines *old, uint64_t end_ticks,
                                         uint32_t told)
{
    uint64_t stop = later(end_ticks + 1, timebase_ticks_ordered());
    struct floor floor = floor_of(old, told & FOLLOW_LINES ? stop : end_ticks);
    floor.start_ticks = stop;
    floor.told = told;
    if (told & FOLLOW_CLOCKS)
        raise_to_clocks(&floor, mirror, old);
    return floor;
}

/*
 * Somebody has followed the old lines. A follower notes this before it gets a time. If it does so
 * before the question, its tick is no later than the floor's; if after, the question is asked again.
 * So nobody was told the time of a later tick, or a later time.
 */
static struct floor stop_where_they_are(struct mirror *mirror, const struct timebase_lines *old,
                                        uint64_t end_ticks)
{
    struct floor floor = floor_of(old, end_ticks);
    uint32_t told = FOLLOW_OPEN;
    for (int attempt = 0; attempt < STOP_ATTEMPTS; attempt++) {
        uint32_t asked = FOLLOW_ASKED;
        told |= __atomic_exchange_n(&mirror->follow, FOLLOW_ASKED, __ATOMIC_SEQ_CST) & FOLLOW_BOTH;
        floor = floor_where_they_are(mirror, old, end_ticks, told);
        publish_word(&mirror->stop_ticks, floor.start_ticks);
        publish_word(&mirror->stop_mono_ns, (uint64_t)floor.mono_ns);
        if (__atomic_compare_exchange_n(&mirror->follow, &asked, FOLLOW_TO_STOP, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            break;
    }
    __atomic_store_n(&mirror->follow, FOLLOW_TO_STOP, __ATOMIC_SEQ_CST);
    return floor;
}

/* After this the old lines tell nobody a later time than that of the floor. */
static struct floor stop_followers(struct mirror *mirror, const struct timebase_lines *old,
                                   uint64_t end_ticks, uint64_t now_ticks)
{
    uint32_t open = FOLLOW_OPEN;
    if (!__atomic_compare_exchange_n(&mirror->follow, &open, FOLLOW_TO_END, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED))
        return stop_where_they_are(mirror, old, end_ticks);
    struct floor floor = floor_of(old, end_ticks);
    floor.start_ticks = later(end_ticks + 1, now_ticks);
    return floor;
}

static void let_follow(struct mirror *mirror, enum follow how)
{
    __atomic_store_n(&mirror->follow, how, __ATOMIC_RELEASE);
}

/* ---- publishing */

/*
 * `due_ticks`: when the writer's lines want renewal; followers judge by it. The followers are let
 * go between the two publications. Before the new lines are there, nobody may follow the old ones
 * any further. Once the shown line is there, readers are told later times than those at which
 * stopped followers stand. This thread may lose its CPU for longer than a lease at each step. After
 * the followers are let go, their notes are about the new lines.
 */
static void publish(struct mirror *mirror, const struct timebase_lines *lines,
                    const struct view *view, uint64_t due_ticks)
{
    uint64_t start = lines->after.start_ticks;
    publish_lines(&mirror->whole, lines, has_passed(start, due_ticks) ? due_ticks - start : 0);
    let_follow(mirror, FOLLOW_OPEN);
    publish_lines(cell_lines_page(&mirror->cell), &view->lines, view->refresh_ticks);
}

static bool get_shown(struct mirror *mirror, struct view *shown)
{
    const struct timebase_page *page = cell_lines_page(&mirror->cell);
    shown->refresh_ticks = timebase_page_word(&page->refresh_ticks);
    return publish_read_back(page, &shown->lines);
}

static bool is_below(const struct timebase_lines *lines, const struct timebase_lines *old,
                     uint64_t ticks)
{
    return lines_mono_ns(lines, ticks) < lines_mono_ns(old, ticks);
}

/* For when the line that readers had has ended, and nobody was told a later time than the floor. */
static void publish_above(struct mirror *mirror, const struct timebase_lines *lines,
                          const struct floor *floor, uint64_t now_ticks, uint64_t due_ticks)
{
    struct view view;
    bool is_bridge =
        view_above(lines, &floor->line, floor->start_ticks, floor->mono_ns, now_ticks, &view);
    mirror->attachment.joins += is_bridge;
    publish(mirror, is_bridge ? &view.lines : lines, &view, due_ticks);
}

/* Readers follow what is shown to its end, so what takes its place sooner must not lie below it. */
static int publish_within(struct mirror *mirror, const struct timebase_lines *lines,
                          const struct timebase_lines *old, uint64_t end_ticks, uint64_t now_ticks,
                          uint64_t due_ticks)
{
    struct view view = view_at(lines, now_ticks);
    if (is_below(lines, old, now_ticks) || is_below(lines, old, end_ticks))
        return TIMEBASE_E_BUSY;
    publish(mirror, lines, &view, due_ticks);
    return TIMEBASE_OK;
}

/*
 * Stops the followers first, and then asks whether the shown line has ended. If the counter went
 * back to before that line, it will not come to the line's end; but nobody was told a later time
 * than the line has there.
 */
static int replace(struct mirror *mirror, const struct timebase_lines *lines,
                   const struct view *shown, uint64_t now_ticks, uint64_t due_ticks)
{
    struct timebase_lines old;
    uint64_t end = view_end(shown);
    int error = TIMEBASE_OK;
    publish_read_back(&mirror->whole, &old);
    struct floor floor = stop_followers(mirror, &old, end, now_ticks);
    bool has_gone_back = !line_has_begun(&shown->lines.before, now_ticks);
    if (has_gone_back)
        floor.start_ticks = now_ticks;
    if (has_gone_back || has_passed(end + 1, timebase_ticks_ordered()))
        publish_above(mirror, lines, &floor, now_ticks, due_ticks);
    else
        error = publish_within(mirror, lines, &old, end, now_ticks, due_ticks);
    if (error != TIMEBASE_OK) /* the old lines stay, and so do the followers' notes */
        let_follow(mirror, (enum follow)floor.told);
    return error;
}

/* ---- overdue lines */

/* The kernel no longer uses the counter. A line that was drawn a while ago cannot tell what the
 * counter has done since. */
static bool is_distrusted(const struct timebase_lines *lines)
{
    return lines->after.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED;
}

/*
 * If overdue lines have parted from the kernel's clocks, or the kernel distrusts the counter, puts
 * a line of the reader's own on these clocks.
 */
static int hold_against_clocks(const struct mirror *mirror, struct timebase_lines *lines,
                               uint64_t *now_ticks)
{
    struct moment moment;
    int64_t offset_ns = mirror->attachment.mono_offset_ns;
    if (!moment_look(&moment))
        return TIMEBASE_OK;
    bool has_parted = moment_has_parted(&moment, lines, offset_ns);
    if (!has_parted && !is_distrusted(lines))
        return TIMEBASE_OK;
    *lines = moment_lines(&moment, lines, offset_ns);
    *now_ticks = moment.ticks_before;
    return has_parted ? TIMEBASE_E_DISRUPTED : TIMEBASE_OK;
}

int show_lines(struct mirror *mirror, const struct timebase_lines *writers, uint64_t refresh_ticks,
               uint64_t now_ticks)
{
    struct timebase_lines lines = *writers;
    uint64_t due_ticks = view_due(&lines, refresh_ticks);
    struct view shown;
    int parted = TIMEBASE_OK;
    mirror->attachment.state = view_silence(&lines, now_ticks);
    if (view_is_outside(&lines, refresh_ticks, now_ticks) || is_distrusted(&lines))
        parted = hold_against_clocks(mirror, &lines, &now_ticks);
    if (!get_shown(mirror, &shown)) {
        struct view view = view_at(&lines, now_ticks);
        publish(mirror, &lines, &view, due_ticks);
        return parted;
    }
    /* Readers must hear that the lines have parted, also if the present line stays. */
    int error = replace(mirror, &lines, &shown, now_ticks, due_ticks);
    return parted != TIMEBASE_OK ? parted : error;
}
