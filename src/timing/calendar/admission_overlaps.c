/* SPDX-License-Identifier: MIT */
/* Overlaps: each unit with itself and with each other. */
#include "admission.h"
#include "overlap.h"

/* Until when the unit runs that is running at at_ns. */
static int64_t claimed_until(const struct pattern *pattern, int64_t at_ns)
{
    uint64_t number = (uint64_t)((at_ns - pattern->ready_ns) / pattern->period_ns);
    if (number > pattern->count - 1)
        number = pattern->count - 1;
    return pattern_ready(pattern, number) + pattern->wcet_ns;
}

static void report(struct admission *admission, struct refusal_place place, int64_t until_ns)
{
    bool may = admission->calendar->may_overlap;
    const char *unit = admission_unit(admission, place.unit)->name;
    const char *other = admission_unit(admission, place.other)->name;
    struct time_text at = time_text(place.at_ns), until = time_text(until_ns);
    if (may)
        refusal_warning(&admission->list, TIMEBASE_CALENDAR_OVERLAP, place,
                        REFUSAL_NAME ", ready at %s, may wait for " REFUSAL_NAME " until %s", unit,
                        at.text, other, until.text);
    else
        refusal_fault(&admission->list, TIMEBASE_CALENDAR_OVERLAP, place,
                      REFUSAL_NAME ", ready at %s, overlaps " REFUSAL_NAME
                                   ", which runs until %s; move one, or set may_overlap",
                      unit, at.text, other, until.text);
}

static bool check_itself(struct admission *admission, uint32_t unit)
{
    const struct pattern *pattern = &admission->patterns[unit];
    if (pattern->count < 2 || pattern->wcet_ns <= pattern->period_ns)
        return false;
    struct refusal_place place = {unit, unit, pattern_ready(pattern, 1)};
    report(admission, place, pattern->ready_ns + pattern->wcet_ns);
    return true;
}

static bool check_pair(struct admission *admission, uint32_t i, uint32_t j)
{
    const struct pattern *a = &admission->patterns[i], *b = &admission->patterns[j];
    struct refusal_place place = {j, i, 0};
    if (!overlap_first(a, b, &place.at_ns))
        return false;
    /* The unit that would have to wait is named first. Of two that are ready at once, it is the one
     * that was declared later. */
    bool b_begins = place.at_ns >= b->ready_ns && (place.at_ns - b->ready_ns) % b->period_ns == 0;
    if (!b_begins) {
        place.unit = i;
        place.other = j;
    }
    report(admission, place, claimed_until(&admission->patterns[place.other], place.at_ns));
    return true;
}

bool admission_check_overlaps(struct admission *admission)
{
    bool found = false;
    for (uint32_t i = 0; i < admission->calendar->unit_count; i++) {
        found |= check_itself(admission, i);
        for (uint32_t j = i + 1; j < admission->calendar->unit_count; j++)
            found |= check_pair(admission, i, j);
    }
    return found;
}
