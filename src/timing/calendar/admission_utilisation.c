/* SPDX-License-Identifier: MIT */
/*
 * Utilisation: the sum of worst-case execution time / period over the units that are being released
 * at a time. It can only rise where a unit's releases begin, so these places are looked at.
 */
#include "admission.h"

/* So many thirds may add up to 1.0000000000000002. */
#define ROUNDING 1e-9

static bool is_active(const struct pattern *pattern, int64_t at_ns)
{
    return pattern->count > 1 && pattern->ready_ns <= at_ns &&
        (uint64_t)((at_ns - pattern->ready_ns) / pattern->period_ns) < pattern->count;
}

static double sum_at(const struct admission *admission, int64_t at_ns)
{
    double sum = 0;
    for (uint32_t i = 0; i < admission->calendar->unit_count; i++) {
        const struct pattern *pattern = &admission->patterns[i];
        if (is_active(pattern, at_ns))
            sum += (double)pattern->wcet_ns / (double)pattern->period_ns;
    }
    return sum;
}

/* Per mille, rounded up, of whatever size. */
static unsigned long long per_mille(double share)
{
    return share < 1e15 ? (unsigned long long)(share * 1000 + 0.999) : 1000000000000000000ULL;
}

void admission_check_utilisation(struct admission *admission)
{
    double limit = admission->calendar->utilisation, highest = 0;
    struct refusal_place place = {0, 0, 0};
    if (limit == 0)
        limit = 1;
    for (uint32_t i = 0; i < admission->calendar->unit_count; i++) {
        double sum = sum_at(admission, admission->patterns[i].ready_ns);
        if (sum <= highest)
            continue;
        highest = sum;
        place.unit = place.other = i;
        place.at_ns = admission->patterns[i].ready_ns;
    }
    if (highest <= limit + ROUNDING)
        return;
    unsigned long long asked = per_mille(highest), allowed = per_mille(limit);
    refusal_fault(&admission->list, TIMEBASE_CALENDAR_UTILISATION, place,
                  "from %s on, with " REFUSAL_NAME ", units ask for %llu.%llu %% of the time; "
                  "at most %llu.%llu %% is allowed: lengthen periods",
                  time_text(place.at_ns).text, admission_unit(admission, place.unit)->name,
                  asked / 10, asked % 10, allowed / 10, allowed % 10);
}
