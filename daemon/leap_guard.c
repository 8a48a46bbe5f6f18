/* SPDX-License-Identifier: MIT */
#include "leap_guard.h"

#define SECOND_NS 1000000000LL
#define DAY_NS (86400 * SECOND_NS)
/* Lines in force at the leap were published at most so long before: 2 s of interval, and slack. */
#define AHEAD_NS (3 * SECOND_NS)
/* A kernel that has not stepped by so long after does not mean to. */
#define PATIENCE_NS (2 * SECOND_NS)

/* An inserted second begins where the day ends, one left out is the last of the day. */
static void announce(struct leap_guard *guard, const struct discipline_sample *sample)
{
    bool is_insert = sample->flags & TIMEBASE_LINE_LEAP_INSERT;
    int64_t utc_ns = sample->mono_ns + sample->utc_offset_ns;
    int64_t midnight_ns = (utc_ns / DAY_NS + 1) * DAY_NS;
    guard->step_ns = is_insert ? -SECOND_NS : SECOND_NS;
    guard->at_utc_ns = is_insert ? midnight_ns : midnight_ns - SECOND_NS;
    guard->at_mono_ns = guard->at_utc_ns - sample->utc_offset_ns;
    guard->utc_offset_ns = sample->utc_offset_ns;
    guard->until_mono_ns = INT64_MAX;
    guard->is_open = guard->at_mono_ns - sample->mono_ns <= AHEAD_NS;
}

/* Nearer to the new offset than to the old: the clock may be stepped otherwise at the same time. */
static bool has_stepped(const struct leap_guard *guard, const struct discipline_sample *sample)
{
    int64_t moved_ns = sample->utc_offset_ns - guard->utc_offset_ns;
    return guard->step_ns < 0 ? moved_ns <= guard->step_ns / 2 : moved_ns >= guard->step_ns / 2;
}

static void follow(struct leap_guard *guard, const struct discipline_sample *sample)
{
    if (guard->until_mono_ns == INT64_MAX && has_stepped(guard, sample)) {
        /* During an inserted second the clock repeats the one before: UTC has no number for it. */
        int64_t end_ns = guard->at_mono_ns + (guard->step_ns < 0 ? SECOND_NS : 0);
        guard->until_mono_ns = end_ns > sample->mono_ns ? end_ns : sample->mono_ns;
    }
    bool is_over = sample->mono_ns > guard->until_mono_ns;
    bool is_dropped =
        guard->until_mono_ns == INT64_MAX && sample->mono_ns > guard->at_mono_ns + PATIENCE_NS;
    if (is_over || is_dropped)
        guard->is_open = false;
}

bool leap_guard_apply(struct leap_guard *guard, struct discipline_sample *sample)
{
    uint32_t pending = sample->flags & (TIMEBASE_LINE_LEAP_INSERT | TIMEBASE_LINE_LEAP_DELETE);
    if (guard->is_open)
        follow(guard, sample);
    else if (pending != 0)
        announce(guard, sample);
    if (!guard->is_open)
        return false;
    sample->maxerror_ns += SECOND_NS;
    sample->is_synchronized = false;
    return true;
}
