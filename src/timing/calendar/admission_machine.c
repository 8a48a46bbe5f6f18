/* SPDX-License-Identifier: MIT */
/*
 * machine: what this machine can wait for. After the end of the unit before, a wait needs its least
 * time, the dispatcher some time to record the release, and a time-out a system call. A sleep needs
 * the margin for waking up.
 *
 * If the unit before is made longer by `need`, a gap shorter than `need` becomes an overlap: so
 * overlap_first() finds the first one exactly.
 */
#include "admission.h"
#include "overlap.h"

/* Counting, logging and choosing the next unit: below 1 us on the machines tried. */
#define BOOKS_NS 2000
/* timer_settime() is called twice. Each call takes half a us, or 6 us where it has to set the
 * timer's hardware (EPYC guest). */
#define TIMEOUT_NS 10000

/* The first place at which less than need_ns lie between other units' ends and this one. */
static bool find_gap(const struct admission *admission, int64_t need_ns,
                     struct refusal_place *place)
{
    const struct pattern *pattern = &admission->patterns[place->unit];
    bool found = false;
    for (uint32_t i = 0; i < admission->calendar->unit_count; i++) {
        struct pattern before = admission->patterns[i];
        int64_t at_ns = 0;
        bool is_short;
        if (i == place->unit) {
            is_short = pattern->count > 1 && pattern->period_ns - pattern->wcet_ns < need_ns;
            at_ns = is_short ? pattern_ready(pattern, 1) : 0;
        } else {
            before.wcet_ns += need_ns;
            is_short = overlap_first(&before, pattern, &at_ns) &&
                (at_ns - pattern->ready_ns) % pattern->period_ns == 0;
        }
        if (is_short && (!found || at_ns < place->at_ns)) {
            found = true;
            place->other = i;
            place->at_ns = at_ns;
        }
    }
    return found;
}

static void check_wait(struct admission *admission, uint32_t unit, int64_t least_ns)
{
    const struct timebase_unit *of = admission_unit(admission, unit);
    struct refusal_place place = {unit, unit, of->ready_ns};
    int64_t need_ns = least_ns + BOOKS_NS + (of->timeout_ns > 0 ? TIMEOUT_NS : 0);
    if (admission->patterns[unit].count > 1 && of->period_ns < least_ns)
        refusal_fault(&admission->list, TIMEBASE_CALENDAR_TOO_SHORT, place,
                      REFUSAL_NAME ": period of %s; a wait takes %s here, so lengthen it", of->name,
                      time_text(of->period_ns).text, time_text(least_ns).text);
    else if (find_gap(admission, need_ns, &place))
        refusal_warning(&admission->list, TIMEBASE_CALENDAR_TOO_SHORT, place,
                        REFUSAL_NAME " is ready at %s, less than %s after the end of " REFUSAL_NAME
                                     "; it may begin late",
                        of->name, time_text(place.at_ns).text, time_text(need_ns).text,
                        admission_unit(admission, place.other)->name);
}

static void check_sleep(struct admission *admission, uint32_t unit, int64_t margin_ns)
{
    const struct timebase_unit *of = admission_unit(admission, unit);
    struct refusal_place place = {unit, unit, of->ready_ns};
    if (!(of->flags & TIMEBASE_WAIT_SLEEP) || !find_gap(admission, margin_ns, &place))
        return;
    refusal_warning(&admission->list, TIMEBASE_CALENDAR_CANNOT_SLEEP, place,
                    REFUSAL_NAME
                    " cannot sleep before %s: less than the %s for waking up after " REFUSAL_NAME
                    "; it will poll",
                    of->name, time_text(place.at_ns).text, time_text(margin_ns).text,
                    admission_unit(admission, place.other)->name);
}

/* Rounded up; 0 if the waiter has not learnt this time, or it is absurdly long. */
static int64_t whole_ns(double ns)
{
    return ns > 0 && ns < 1e9 ? (int64_t)ns + 1 : 0;
}

void admission_check_machine(struct admission *admission,
                             const struct timebase_waiter_description *machine)
{
    for (uint32_t i = 0; i < admission->calendar->unit_count; i++) {
        check_wait(admission, i, whole_ns(machine->least_ns));
        check_sleep(admission, i, whole_ns(machine->margin_ns));
    }
}
