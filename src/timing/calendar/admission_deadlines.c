/* SPDX-License-Identifier: MIT */
/*
 * Deadlines: is each unit done in time, if each runs as long as it may?
 *
 * Units run in the order of their ready times, however long each runs. If one runs for less than
 * its WCET, no other unit ends later. So the worst case is that each runs for its WCET. If all
 * units are endless and the utilisation is at most 1, the work left over at the end of a
 * hyperperiod H does not grow after the first whole one. So the pattern of [first, first + 2 H),
 * where all units have begun by `first`, repeats for ever. A unit that has an end is checked up to
 * its end.
 */
#include "admission.h"
#include "queue.h"

#define RELEASES_MAX 1000000

void admission_check_deadlines(struct admission *admission)
{
    for (uint32_t i = 0; i < admission->calendar->unit_count; i++) {
        const struct pattern *pattern = &admission->patterns[i];
        struct refusal_place place = {i, i, pattern->ready_ns};
        if (pattern->wcet_ns > pattern->deadline_ns)
            refusal_fault(&admission->list, TIMEBASE_CALENDAR_DEADLINE, place,
                          REFUSAL_NAME ": takes %s, longer than its deadline of %s",
                          admission_unit(admission, i)->name, time_text(pattern->wcet_ns).text,
                          time_text(pattern->deadline_ns).text);
    }
}

/* Where the pattern has been seen whole; INT64_MAX: beyond all calendars. */
static int64_t horizon(const struct admission *admission)
{
    int64_t hyperperiod_ns = 1, first_ns = 0, end_ns;
    for (uint32_t i = 0; i < admission->calendar->unit_count; i++) {
        const struct pattern *pattern = &admission->patterns[i];
        int64_t ns = pattern->ready_ns;
        if (pattern->is_endless)
            hyperperiod_ns = pattern_lcm(hyperperiod_ns, pattern->period_ns);
        else if (pattern->count > 0)
            ns = pattern_ready(pattern, pattern->count - 1) + pattern->period_ns;
        first_ns = ns > first_ns ? ns : first_ns;
    }
    if (hyperperiod_ns > INT64_MAX / 4)
        return INT64_MAX;
    return __builtin_add_overflow(first_ns, 2 * hyperperiod_ns, &end_ns) ? INT64_MAX : end_ns;
}

/* Only the first miss of each unit is reported. */
struct reported {
    bool unit[TIMEBASE_CALENDAR_UNITS];
};

static void tell(struct admission *admission, struct reported *reported, struct refusal_place place,
                 int64_t late_ns)
{
    if (reported->unit[place.unit])
        return;
    reported->unit[place.unit] = true;
    refusal_fault(&admission->list, TIMEBASE_CALENDAR_DEADLINE, place,
                  REFUSAL_NAME ", ready at %s, begins %s late after " REFUSAL_NAME
                               " and misses its deadline of %s",
                  admission_unit(admission, place.unit)->name, time_text(place.at_ns).text,
                  time_text(late_ns).text, admission_unit(admission, place.other)->name,
                  time_text(admission->patterns[place.unit].deadline_ns).text);
}

void admission_check_order(struct admission *admission)
{
    struct queue queue;
    struct reported reported = {{false}};
    struct refusal_place place = {0, 0, 0};
    int64_t end_ns = horizon(admission), free_ns = 0;
    queue_begin(&queue, admission->patterns, admission->calendar->unit_count);
    for (int released = 0; queue.size > 0; released++) {
        place.unit = queue_first(&queue);
        place.at_ns = queue.ready_ns[place.unit];
        const struct pattern *pattern = &admission->patterns[place.unit];
        if (place.at_ns >= end_ns)
            return;
        if (released == RELEASES_MAX)
            break;
        int64_t begin_ns = free_ns > place.at_ns ? free_ns : place.at_ns;
        if (begin_ns - place.at_ns > pattern->deadline_ns - pattern->wcet_ns)
            tell(admission, &reported, place, begin_ns - place.at_ns);
        if (__builtin_add_overflow(begin_ns, pattern->wcet_ns, &free_ns))
            free_ns = INT64_MAX;
        place.other = place.unit;
        queue_advance(&queue, 1);
    }
    if (queue.size == 0)
        return;
    place.other = place.unit;
    refusal_warning(&admission->list, TIMEBASE_CALENDAR_TOO_LONG, place,
                    "the pattern repeats after more than %d releases: deadlines are checked up to "
                    "%s; let periods divide each other",
                    RELEASES_MAX, time_text(place.at_ns).text);
}
