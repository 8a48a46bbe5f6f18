/* SPDX-License-Identifier: MIT */
/* The tick: the units that stay on the kernel's tick after moving, and what to do about them. */
#include "admission.h"

static void warn_avoidable(struct admission *admission, uint32_t unit)
{
    const struct timebase_tick_comb *comb = admission->calendar->comb;
    const struct timebase_unit *of = admission_unit(admission, unit);
    struct refusal_place place = {unit, unit, of->ready_ns};
    const char *advice = admission->calendar->avoid_tick
        ? "others or its deadline keep it there: move it"
        : "move it or set avoid_tick";
    refusal_warning(&admission->list, TIMEBASE_CALENDAR_ON_TICK, place,
                    REFUSAL_NAME " falls on the kernel's tick, %s wide, every %s; %s", of->name,
                    time_text(comb->width_ns).text, time_text(comb->period_ns).text, advice);
}

static void warn_unavoidable(struct admission *admission, uint32_t unit)
{
    const struct timebase_tick_comb *comb = admission->calendar->comb;
    const struct timebase_unit *of = admission_unit(admission, unit);
    struct refusal_place place = {unit, unit, of->ready_ns};
    int64_t hit_ns = comb->width_ns + PLACEMENT_APPROACH_NS;
    refusal_warning(&admission->list, TIMEBASE_CALENDAR_ON_TICK, place,
                    REFUSAL_NAME ": one in %lld releases falls on the kernel's tick; a period that "
                                 "divides %s, or is a multiple, avoids it",
                    of->name,
                    (long long)(comb->period_ns / hit_ns > 0 ? comb->period_ns / hit_ns : 1),
                    time_text(comb->period_ns).text);
}

void admission_check_tick(struct admission *admission)
{
    for (uint32_t i = 0; i < admission->calendar->unit_count; i++) {
        enum placement_tick tick = placement_of(&admission->placement, admission->calendar, i);
        if (tick == PLACEMENT_ON_TICK)
            warn_avoidable(admission, i);
        else if (tick == PLACEMENT_ON_AND_OFF)
            warn_unavoidable(admission, i);
    }
}
