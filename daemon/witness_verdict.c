/* SPDX-License-Identifier: MIT */
#include "witness_verdict.h"

#include <string.h>

#include "clock/counter/probe.h"
#include "sources/decimal.h"
#include "sources/saturate.h"

#define RTC "/sys/class/rtc/rtc0/since_epoch"
#define SEC_NS 1000000000
/* The battery clock shows whole seconds at each of two looks. Its crystal drifts far less than 0.1
 * %. */
#define RTC_PARTED_NS 2000000000
#define RTC_DRIFT_PARTS 1000
/* chronyd answers whether its servers do or not, so its last measurement must be younger than this.
 * One poll of 1,024 s may fail, and chrony_measured_ns() may be early by an eighth. */
#define MEASURED_NS (2400 * (int64_t)SEC_NS)

enum witness_verdict witness_verdict(const struct witness_facts *facts)
{
    if (facts->is_guest <= 0)
        return WITNESS_NOT_NEEDED;
    if (facts->kinds != 0)
        return WITNESS_PRESENT;
    return facts->never_moved ? WITNESS_NEVER_NEEDED : WITNESS_MISSING;
}

bool witness_past_is_known(const struct witness_facts *facts, const struct witness_past *past)
{
    bool would_show = facts->is_guest <= 0 || facts->never_moved || facts->kinds & WITNESS_KERNEL;
    bool goes_on = past->is_taken_up && past->was_synchronized && !past->was_disrupted;
    return would_show && !past->has_slept && (goes_on || !past->has_page);
}

const char *witness_names(unsigned kinds, char *text, size_t size)
{
    static const struct {
        unsigned kind;
        const char *name;
    } names[] = {{WITNESS_KERNEL, "kernel"},
                 {WITNESS_SOURCE, "source"},
                 {WITNESS_MARKER, "marker"},
                 {WITNESS_RTC, "rtc"}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(kinds & names[i].kind) || used + strlen(names[i].name) + 3 > size)
            continue;
        char *end = stpcpy(text + used, used > 0 ? ", " : "");
        used = (size_t)(stpcpy(end, names[i].name) - text);
    }
    return used > 0 ? text : "none";
}

void witness_apply(enum witness_verdict verdict, struct discipline_sample *sample)
{
    if (verdict == WITNESS_MISSING)
        sample->is_synchronized = false;
    if (verdict == WITNESS_NEVER_NEEDED)
        sample->flags |= TIMEBASE_LINE_NEVER_MOVED;
}

/* A source that is not believed, because it has not measured since a move, will still tell of the
 * next move. */
static bool is_witness(const struct source *source, int64_t mono_ns)
{
    return source->driver != NULL && source->driver->is_witness &&
        source->claim.is_synchronized &&
        saturate_distance(mono_ns, source->measured_ns) <= MEASURED_NS;
}

unsigned witness_of_sources(const struct sources *sources, int64_t mono_ns)
{
    unsigned kinds = 0;
    for (unsigned i = 0; i < sources->count; i++) {
        const struct source *source = &sources->list[i];
        if (mono_ns - source->answered_ns > SOURCES_FRESH_NS)
            continue;
        kinds |= source->has_marker ? WITNESS_MARKER : 0;
        kinds |= is_witness(source, mono_ns) ? WITNESS_SOURCE : 0;
    }
    return kinds;
}

unsigned witness_of_clocksource(const char *clocksource)
{
    /* The first four are made of the TSC and of what the hypervisor says of it, or come from the
     * hypervisor. Like the last two, which are its devices, they may be put back together with the
     * counter, and then tell of nothing. */
    static const char *const others[] = {
        "kvm-clock", "xen",    "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr",
        "hpet",      "acpi_pm"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(clocksource, others[i]) == 0)
            return WITNESS_KERNEL;
    return 0;
}

bool witness_rtc_parted(struct witness_rtc *rtc, int64_t sec, int64_t mono_ns)
{
    struct witness_rtc last = *rtc;
    *rtc = (struct witness_rtc){.is_read = true, .sec = sec, .mono_ns = mono_ns};
    if (!last.is_read)
        return false;
    uint64_t elapsed_ns = saturate_distance(mono_ns, last.mono_ns);
    int64_t shown_ns;
    if (__builtin_sub_overflow(sec, last.sec, &shown_ns) ||
        __builtin_mul_overflow(shown_ns, (int64_t)SEC_NS, &shown_ns))
        return true;
    return saturate_distance(shown_ns, mono_ns - last.mono_ns) >
        RTC_PARTED_NS + elapsed_ns / RTC_DRIFT_PARTS;
}

bool witness_rtc_read(int64_t *sec)
{
    char text[32];
    return counter_read_line(RTC, text, sizeof(text)) == 0 &&
        decimal_parse(text, strlen(text), 0, sec);
}
