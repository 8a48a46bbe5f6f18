/* SPDX-License-Identifier: MIT */
#include "placement.h"

#include "overlap.h"

/* The teeth of the comb: a unit that begins at a phase from -before to +after is hit. */
struct teeth {
    int64_t period_ns;
    int64_t before_ns;
    int64_t after_ns;
};

static bool teeth_of(const struct timebase_calendar *calendar, struct teeth *teeth)
{
    const struct timebase_tick_comb *comb = calendar->comb;
    if (comb == NULL || comb->period_ns == 0)
        return false;
    teeth->period_ns = comb->period_ns;
    teeth->before_ns = comb->width_ns / 2;
    teeth->after_ns = comb->width_ns / 2 + PLACEMENT_APPROACH_NS;
    return true;
}

/* How far apart the phases of a unit's releases are; of a single release, a whole tick. */
static int64_t spacing(const struct teeth *teeth, const struct timebase_unit *unit)
{
    if (unit->period_ns == 0 || unit->releases == 1)
        return teeth->period_ns;
    return pattern_gcd(unit->period_ns, teeth->period_ns);
}

static bool is_avoidable(const struct teeth *teeth, int64_t spacing_ns)
{
    return spacing_ns > teeth->before_ns + teeth->after_ns;
}

/* How far a beginning of this phase has to move to be off the teeth; 0 if it is. */
static int64_t move_needed(const struct teeth *teeth, int64_t spacing_ns, int64_t phase_ns)
{
    int64_t rest = phase_ns % spacing_ns;
    if (rest <= teeth->after_ns)
        return teeth->after_ns + 1 - rest;
    if (rest >= spacing_ns - teeth->before_ns)
        return spacing_ns - rest + teeth->after_ns + 1;
    return 0;
}

static int64_t phase_of(const struct placement *placement, const struct teeth *teeth,
                        const struct timebase_calendar *calendar, uint32_t unit)
{
    return (placement->start_phase_ns + calendar->units[unit].ready_ns % teeth->period_ns +
            placement->moved_ns[unit] % teeth->period_ns) %
        teeth->period_ns;
}

enum placement_tick placement_of(const struct placement *placement,
                                 const struct timebase_calendar *calendar, uint32_t unit)
{
    struct teeth teeth;
    if (!teeth_of(calendar, &teeth))
        return PLACEMENT_OFF_TICK;
    int64_t spacing_ns = spacing(&teeth, &calendar->units[unit]);
    if (!is_avoidable(&teeth, spacing_ns))
        return PLACEMENT_ON_AND_OFF;
    if (!placement->is_known)
        return PLACEMENT_OFF_TICK;
    int64_t phase_ns = phase_of(placement, &teeth, calendar, unit);
    return move_needed(&teeth, spacing_ns, phase_ns) > 0 ? PLACEMENT_ON_TICK : PLACEMENT_OFF_TICK;
}

static uint32_t count_on_tick(const struct placement *placement,
                              const struct timebase_calendar *calendar)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < calendar->unit_count; i++)
        count += placement_of(placement, calendar, i) == PLACEMENT_ON_TICK;
    return count;
}

/* How much later the whole calendar could begin before a unit that is off the teeth is hit. */
static int64_t room_behind(const struct placement *placement, const struct teeth *teeth,
                           const struct timebase_calendar *calendar)
{
    int64_t room_ns = teeth->period_ns;
    for (uint32_t i = 0; i < calendar->unit_count; i++) {
        int64_t spacing_ns = spacing(teeth, &calendar->units[i]);
        int64_t rest_ns = phase_of(placement, teeth, calendar, i) % spacing_ns;
        int64_t left_ns = spacing_ns - teeth->before_ns - 1 - rest_ns;
        if (placement_of(placement, calendar, i) == PLACEMENT_OFF_TICK && left_ns < room_ns)
            room_ns = left_ns;
    }
    return room_ns;
}

/*
 * Chooses a start that leaves the fewest units on the teeth. At the earliest such start some unit
 * begins right behind a tooth. So only starts of this kind are tried; of equally good ones the
 * first is taken. The calendar is then moved to the middle of the room behind that start, because a
 * unit's wake-up comes before its beginning and should be off the teeth as well.
 */
static void choose_start(struct placement *placement, const struct teeth *teeth,
                         const struct timebase_calendar *calendar)
{
    int64_t best_ns = 0;
    uint32_t fewest = UINT32_MAX;
    for (uint32_t i = 0; i < calendar->unit_count && fewest > 0; i++) {
        int64_t ready_ns = calendar->units[i].ready_ns % teeth->period_ns;
        placement->start_phase_ns =
            (teeth->after_ns + 1 + teeth->period_ns - ready_ns) % teeth->period_ns;
        uint32_t count = count_on_tick(placement, calendar);
        if (count < fewest) {
            fewest = count;
            best_ns = placement->start_phase_ns;
        }
    }
    placement->start_phase_ns = best_ns;
    int64_t half_ns = room_behind(placement, teeth, calendar) / 2;
    placement->start_phase_ns = (best_ns + half_ns) % teeth->period_ns;
}

/*
 * Without may_overlap no two units overlap. With it, those that do wait for each other; whoever came
 * to overlap another by a move might make it miss a deadline that it keeps.
 */
static bool overlaps_more(const struct placement *placement,
                          const struct timebase_calendar *calendar, uint32_t unit, int64_t moved_ns)
{
    struct pattern present = pattern_of(calendar, unit, placement->moved_ns[unit]);
    struct pattern moved = pattern_of(calendar, unit, moved_ns);
    int64_t at_ns;
    for (uint32_t i = 0; i < calendar->unit_count; i++) {
        struct pattern other = pattern_of(calendar, i, placement->moved_ns[i]);
        if (i != unit && overlap_first(&moved, &other, &at_ns) &&
            !overlap_first(&present, &other, &at_ns))
            return true;
    }
    return false;
}

static void move(struct placement *placement, const struct teeth *teeth,
                 const struct timebase_calendar *calendar, uint32_t unit)
{
    if (placement_of(placement, calendar, unit) != PLACEMENT_ON_TICK)
        return;
    int64_t by_ns = move_needed(teeth, spacing(teeth, &calendar->units[unit]),
                                phase_of(placement, teeth, calendar, unit));
    struct pattern moved = pattern_of(calendar, unit, by_ns);
    bool is_in_time =
        moved.deadline_ns == PATTERN_NO_DEADLINE || moved.wcet_ns <= moved.deadline_ns;
    if (is_in_time && !overlaps_more(placement, calendar, unit, by_ns))
        placement->moved_ns[unit] = by_ns;
}

void placement_make(struct placement *placement, const struct timebase_calendar *calendar)
{
    struct teeth teeth;
    for (uint32_t i = 0; i < calendar->unit_count; i++)
        placement->moved_ns[i] = 0;
    placement->start_phase_ns = 0;
    placement->is_known = false;
    if (!teeth_of(calendar, &teeth))
        return;
    placement->is_known = calendar->start_ns > 0 || calendar->avoid_tick;
    if (calendar->start_ns > 0)
        placement->start_phase_ns =
            (calendar->start_ns - calendar->comb->phase_ns % teeth.period_ns + teeth.period_ns) %
            teeth.period_ns;
    else if (calendar->avoid_tick)
        choose_start(placement, &teeth, calendar);
    for (uint32_t i = 0; i < calendar->unit_count && calendar->avoid_tick; i++)
        move(placement, &teeth, calendar, i);
}

int64_t placement_start(const struct placement *placement, const struct timebase_calendar *calendar,
                        int64_t earliest_ns)
{
    if (calendar->start_ns > 0)
        return calendar->start_ns;
    if (!placement->is_known)
        return earliest_ns;
    int64_t period_ns = calendar->comb->period_ns;
    int64_t phase_ns = (placement->start_phase_ns + calendar->comb->phase_ns) % period_ns;
    int64_t ahead_ns = (phase_ns - earliest_ns % period_ns + period_ns) % period_ns;
    return earliest_ns + ahead_ns;
}
