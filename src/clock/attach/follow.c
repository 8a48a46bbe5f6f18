/* SPDX-License-Identifier: MIT */
#include "follow.h"

#include "clock/line/lines.h"
#include "clock/page/publish.h"
#include "moment.h"
#include "view.h"

#define ATTEMPTS 1000

/* The words that a follower reads the clock by, as they were at one publication. */
struct followed {
    uint64_t seq, whole_seq; /* of the page that readers have, and of the whole lines */
    struct timebase_lines lines;
    uint64_t refresh_ticks;
    uint64_t end_ticks; /* of the lease */
    uint64_t now_ticks; /* the tick that was judged */
    bool has_parted;
};

static bool get(const struct mirror *mirror, struct followed *followed)
{
    const struct timebase_page *shown = cell_lines_page((struct clock_cell *)&mirror->cell);
    struct view view;
    followed->seq = timebase_page_seq(shown, __ATOMIC_ACQUIRE);
    followed->whole_seq = timebase_page_seq(&mirror->whole, __ATOMIC_ACQUIRE);
    followed->refresh_ticks = timebase_page_word(&mirror->whole.refresh_ticks);
    view.refresh_ticks = timebase_page_word(&shown->refresh_ticks);
    if (!publish_read_back(&mirror->whole, &followed->lines) ||
        !publish_read_back(shown, &view.lines))
        return false;
    followed->end_ticks = view_end(&view);
    return true;
}

/* Has nobody published since get(), and nobody stopped the followers? */
static bool is_still(const struct mirror *mirror, const struct followed *followed,
                     enum follow state)
{
    const struct timebase_page *shown = cell_lines_page((struct clock_cell *)&mirror->cell);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return timebase_page_seq(shown, __ATOMIC_RELAXED) == followed->seq &&
        timebase_page_seq(&mirror->whole, __ATOMIC_RELAXED) == followed->whole_seq &&
        __atomic_load_n(&mirror->follow, __ATOMIC_SEQ_CST) == (uint32_t)state;
}

/* Finds the status of the lines, and whether they can still be believed. */
static void judge(const struct mirror *mirror, struct followed *followed)
{
    struct moment moment;
    int64_t offset_ns = (int64_t)timebase_page_word(&mirror->mono_offset);
    uint64_t now = followed->now_ticks = timebase_ticks_ordered();
    bool is_outside = view_is_outside(&followed->lines, followed->refresh_ticks, now);
    view_silence(&followed->lines, now);
    followed->has_parted = is_outside && moment_look(&moment) &&
        moment_has_parted(&moment, &followed->lines, offset_ns);
}

/*
 * Notes how this thread follows, before it looks whether the lines are still the same. Returns how
 * far it may follow, or all that followers have noted. If one of them was told the kernel's time,
 * all later ones are told that too.
 */
static enum follow note(struct mirror *mirror, enum follow how)
{
    uint32_t state = __atomic_load_n(&mirror->follow, __ATOMIC_SEQ_CST);
    while (state <= FOLLOW_ASKED) {
        uint32_t told = state == FOLLOW_ASKED ? (uint32_t)how : state | (uint32_t)how;
        if (told == state || __atomic_compare_exchange_n(&mirror->follow, &state, told, false,
                                                         __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return (enum follow)told;
    }
    return (enum follow)state;
}

/* Past the limit time stands still, and the bound says for how long it has. */
static void read_to(const struct followed *followed, uint64_t limit_ticks, uint64_t now_ticks,
                    struct timebase_instant *out)
{
    uint64_t past = now_ticks - limit_ticks;
    bool is_past = (int64_t)past > 0;
    *out = lines_instant(&followed->lines, is_past ? limit_ticks : now_ticks);
    if (is_past) {
        uint64_t still_ns = lines_elapsed_ns(&followed->lines, past) + 1;
        out->ticks = now_ticks;
        out->maxerror_ns += still_ns;
        out->utc_maxerror_ns += still_ns;
        out->esterror_ns += still_ns;
    }
}

/* Monotonic time no later than where the followers were stopped. */
static void hold_below(int64_t limit_ns, struct timebase_instant *out)
{
    int64_t above_ns = out->mono_ns - limit_ns;
    if (above_ns <= 0)
        return;
    out->mono_ns = limit_ns;
    out->maxerror_ns += (uint64_t)above_ns;
}

/* What others can have been told by the lines before they had parted, as seen from the clocks. */
static int64_t told_ns(const struct followed *followed, const struct moment *moment,
                       int64_t offset_ns)
{
    int64_t lines_ns = lines_mono_ns(&followed->lines, moment->ticks_before);
    int64_t latest_ns = moment_latest_ns(moment, &followed->lines, offset_ns);
    return lines_ns < latest_ns ? lines_ns : latest_ns;
}

/* The kernel's time, and no less than the lines have shown up to their end, or told beyond it. */
static void read_clocks(const struct mirror *mirror, const struct followed *followed,
                        enum follow state, struct timebase_instant *out)
{
    struct moment moment;
    int64_t offset_ns = (int64_t)timebase_page_word(&mirror->mono_offset);
    int64_t floor_ns = lines_mono_ns(&followed->lines, followed->end_ticks);
    if (!moment_look(&moment)) {
        cell_unknown(timebase_ticks_ordered(), out);
        return;
    }
    struct timebase_lines clocks = moment_lines(&moment, &followed->lines, offset_ns);
    int64_t lines_ns = told_ns(followed, &moment, offset_ns);
    *out = lines_instant(&clocks, moment.ticks_before);
    if (state != FOLLOW_CLOCKS && floor_ns < lines_ns)
        floor_ns = lines_ns;
    if (out->mono_ns < floor_ns) {
        out->maxerror_ns += (uint64_t)floor_ns - (uint64_t)out->mono_ns;
        out->mono_ns = floor_ns;
    }
}

static void read_by(const struct mirror *mirror, const struct followed *followed,
                    enum follow state, struct timebase_instant *out)
{
    bool is_told_clocks = state <= FOLLOW_BOTH && state & FOLLOW_CLOCKS;
    uint64_t limit = followed->now_ticks;
    if (state == FOLLOW_TO_END)
        limit = followed->end_ticks;
    if (state == FOLLOW_TO_STOP)
        limit = timebase_page_word(&mirror->stop_ticks);
    if (followed->has_parted || is_told_clocks)
        read_clocks(mirror, followed, state, out);
    else
        read_to(followed, limit, followed->now_ticks, out);
    if (state == FOLLOW_TO_END)
        hold_below(lines_mono_ns(&followed->lines, limit), out);
    if (state == FOLLOW_TO_STOP)
        hold_below((int64_t)timebase_page_word(&mirror->stop_mono_ns), out);
}

void follow_lines(struct mirror *mirror, struct timebase_instant *out)
{
    struct followed followed;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (cell_read_current(&mirror->cell, out))
            return;
        if (!get(mirror, &followed)) {
            /* Nothing was copied, or the first lines are not shown yet. */
            cell_unknown(timebase_ticks_ordered(), out);
            return;
        }
        judge(mirror, &followed);
        enum follow state = note(mirror, followed.has_parted ? FOLLOW_CLOCKS : FOLLOW_LINES);
        read_by(mirror, &followed, state, out);
        if (is_still(mirror, &followed, state))
            return;
    }
}

bool follow_judge(struct mirror *mirror, struct timebase_page *page)
{
    struct followed followed;
    struct moment moment;
    int64_t offset_ns = (int64_t)timebase_page_word(&mirror->mono_offset);
    bool is_whole = false;
    for (int attempt = 0; attempt < ATTEMPTS && !is_whole; attempt++) {
        if (!get(mirror, &followed))
            return false;
        judge(mirror, &followed);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        is_whole = timebase_page_seq(&mirror->whole, __ATOMIC_RELAXED) == followed.whole_seq;
    }
    if (followed.has_parted && moment_look(&moment))
        followed.lines = moment_lines(&moment, &followed.lines, offset_ns);
    publish_begin(page, timebase_counter_id());
    publish_lines(page, &followed.lines, 0);
    return is_whole;
}
