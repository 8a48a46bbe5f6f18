/* SPDX-License-Identifier: MIT */
#include "metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define SECOND_NS 1000000000

/*
 * A buffer that is filled line by line. If a line does not fit, it and all later ones are left out.
 */
struct page_of_text {
    char *text;
    size_t size, length;
    bool is_full;
};

__attribute__((format(printf, 2, 3))) static void add(struct page_of_text *to, const char *format,
                                                      ...)
{
    va_list arguments;
    if (to->is_full)
        return;
    va_start(arguments, format);
    int length = vsnprintf(to->text + to->length, to->size - to->length, format, arguments);
    va_end(arguments);
    to->is_full = length < 0 || (size_t)length >= to->size - to->length;
    if (to->is_full)
        to->text[to->length] = '\0';
    else
        to->length += (size_t)length;
}

static void head(struct page_of_text *to, const char *name, const char *type, const char *help)
{
    add(to, "# HELP timebase_%s %s\n# TYPE timebase_%s %s\n", name, help, name, type);
}

static void gauge(struct page_of_text *to, const char *name, const char *help, int64_t value)
{
    head(to, name, "gauge", help);
    add(to, "timebase_%s %" PRId64 "\n", name, value);
}

/* What has no sign may be larger than any gauge with one. */
static void bound(struct page_of_text *to, const char *name, const char *help, uint64_t ns)
{
    head(to, name, "gauge", help);
    add(to, "timebase_%s %" PRIu64 "\n", name, ns);
}

static void counter(struct page_of_text *to, const char *name, const char *help, uint64_t value)
{
    head(to, name, "counter", help);
    add(to, "timebase_%s %" PRIu64 "\n", name, value);
}

/* Seconds with their decimals, from ns. */
static void seconds(struct page_of_text *to, const char *name, const char *help, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    head(to, name, "gauge", help);
    add(to, "timebase_%s %s%" PRIu64 ".%09" PRIu64 "\n", name, ns < 0 ? "-" : "", size / SECOND_NS,
        size % SECOND_NS);
}

/* The format escapes \\, \" and \n; it has no other control characters, which become "?". */
static void escape(const char *value, char *out, size_t size)
{
    size_t length = 0;
    for (; *value != '\0' && length + 3 < size; value++) {
        char c = *value;
        if (c == '\\' || c == '"' || c == '\n')
            out[length++] = '\\';
        out[length++] = c == '\n' ? 'n' : (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
    }
    out[length] = '\0';
}

enum { ESCAPED = 2 * SETTINGS_PATH };

static void add_info(struct page_of_text *to, const struct metrics *metrics)
{
    char page[ESCAPED], sources[ESCAPED] = "", all[SETTINGS_PATH] = "";
    size_t used = 0;
    for (unsigned i = 0; i < metrics->sources->count && used < sizeof(all); i++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i > 0 ? "," : "",
                                 metrics->sources->list[i].name);
    escape(metrics->page, page, sizeof(page));
    escape(all, sources, sizeof(sources));
    head(to, "info", "gauge", "What runs here: always 1.");
    add(to, "timebase_info{version=\"%s\",page=\"%s\",reference=\"%s\"} 1\n", metrics->version,
        page, sources);
}

/* One line a source. */
static void add_sources(struct page_of_text *to, const struct metrics *metrics, const char *name,
                        const char *help, bool is_of_claim,
                        int64_t (*value)(const struct metrics *, const struct source *))
{
    char label[ESCAPED];
    head(to, name, "gauge", help);
    for (unsigned i = 0; i < metrics->sources->count; i++) {
        const struct source *source = &metrics->sources->list[i];
        if (is_of_claim && !source->has_claim)
            continue;
        escape(source->name, label, sizeof(label));
        add(to, "timebase_%s{source=\"%s\"} %" PRId64 "\n", name, label, value(metrics, source));
    }
}

static int64_t offset_of(const struct metrics *metrics, const struct source *source)
{
    (void)metrics;
    return source->claim.offset_ns;
}

static int64_t error_of(const struct metrics *metrics, const struct source *source)
{
    int64_t now_ns = metrics->shared->servo.discipline.sample.mono_ns;
    return (int64_t)sources_error_ns(metrics->sources, &source->claim, now_ns);
}

static int64_t is_up(const struct metrics *metrics, const struct source *source)
{
    (void)metrics;
    return source->is_up;
}

static int64_t is_outdated(const struct metrics *metrics, const struct source *source)
{
    (void)metrics;
    return source->is_outdated;
}

static int64_t is_falseticker(const struct metrics *metrics, const struct source *source)
{
    (void)metrics;
    return source->is_falseticker;
}

static void add_all_sources(struct page_of_text *to, const struct metrics *metrics)
{
    add_sources(to, metrics, "reference_offset_ns",
                "System clock minus UTC, as the reference sees it.", true, offset_of);
    add_sources(to, metrics, "reference_error_ns", "Half-width of that claim, aged to now.", true,
                error_of);
    add_sources(to, metrics, "reference_up", "1 if the reference answered when last asked.", false,
                is_up);
    add_sources(to, metrics, "reference_outdated",
                "1 if the reference has not measured since the machine was disrupted.", false,
                is_outdated);
    add_sources(to, metrics, "falseticker",
                "1 if the reference contradicts what the majority agrees on.", false,
                is_falseticker);
}

/* What readers of the page see now. */
static void add_reading(struct page_of_text *to, const struct metrics *metrics)
{
    struct timebase_instant now = {0};
    if (!shared_clock_now(metrics->shared, &now))
        return;
    bool is_insert = now.flags & TIMEBASE_LINE_LEAP_INSERT;
    bool is_delete = now.flags & TIMEBASE_LINE_LEAP_DELETE;
    gauge(to, "status", "0 unknown, 1 initializing, 2 synchronized, 3 freerunning, 4 unreliable.",
          now.flags & TIMEBASE_LINE_STATUS_MASK);
    gauge(to, "offset_ns", "Page minus system clock at the newest sample.",
          metrics->shared->servo.offset_ns);
    bound(to, "maxerror_ns", "Bound of page minus system clock, now.", now.maxerror_ns);
    bound(to, "utc_maxerror_ns", "Bound of page minus true UTC, now.", now.utc_maxerror_ns);
    gauge(to, "utc_estimate", "1 if that bound is an estimate: the kernel's word, or nobody's.",
          (now.flags & TIMEBASE_LINE_ESTIMATE) != 0);
    gauge(to, "never_moved", "1 if nothing would tell of a move: the administrator rules it out.",
          (now.flags & TIMEBASE_LINE_NEVER_MOVED) != 0);
    gauge(to, "counter_distrusted", "1 while the kernel does not use the counter for its clock.",
          (now.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED) != 0);
    gauge(to, "leap", "A leap second is announced: 1 inserted, -1 left out.",
          is_insert - is_delete);
    gauge(to, "corrected_cpus",
          "CPUs whose counters are corrected by lines of their own; 0 where all are read as they are.",
          metrics->corrected_cpus);
    if (now.flags & TIMEBASE_LINE_TAI_VALID)
        gauge(to, "tai_offset_seconds", "TAI minus UTC.",
              (int16_t)(now.flags >> TIMEBASE_LINE_TAI_SHIFT));
    seconds(to, "page_age_seconds", "Since the page was last renewed.",
            now.mono_ns - metrics->shared->servo.published_ns);
}

static void add_frequency(struct page_of_text *to, const struct shared_clock *shared)
{
    const struct estimator *estimator = &shared->servo.discipline.estimator;
    if (!estimator->ready)
        return;
    uint64_t length = ((uint64_t)estimator->period.ns << 32) | (estimator->period.frac >> 32);
    uint64_t hz = ((uint64_t)SECOND_NS << 32) / length;
    struct fixed error = {0, estimator->period_error_frac};
    gauge(to, "frequency_hz", "Ticks of the counter per second of the system clock.", (int64_t)hz);
    gauge(to, "frequency_error_ppb", "How wrong that can be.", fixed_times(error, hz).ns + 1);
}

static void add_counts(struct page_of_text *to, const struct metrics *metrics)
{
    const struct servo_counts *counts = &metrics->shared->servo.counts;
    counter(to, "publications_total", "Publications since the daemon began.", counts->publications);
    counter(to, "late_publications_total",
            "Publications that came less than a lease before their first tick.",
            counts->late_publications);
    counter(to, "utc_steps_total", "Steps of the system clock.", counts->utc_steps);
    counter(to, "slews_total", "Publications that had more than a microsecond to correct.",
            counts->slews);
    counter(to, "contradictions_total",
            "Times a CPU's corrected reading contradicted its order.", metrics->contradictions);
    counter(to, "suspends_total", "Times the machine slept.", counts->suspends);
    counter(to, "disruptions_total",
            "Times the counter jumped, went back, or the machine was known to be disrupted.",
            counts->disruptions);
    counter(to, "stalls_total", "Times the daemon was kept from running for a second or more.",
            metrics->stalls);
    counter(to, "clocksource_changes_total", "Changes of the kernel's clocksource.",
            metrics->clocksource_changes);
    counter(to, "reference_failures_total", "Samples that the kernel's clocks did not give.",
            counts->reference_failures);
    counter(to, "store_failures_total", "Publications that did not reach the page's file.",
            counts->store_failures);
    counter(to, "page_repairs_total", "Times the page's file was found harmed, and made anew.",
            metrics->page_repairs);
    counter(to, "timeline_failures_total", "Publications that did not reach the timeline.",
            metrics->timeline_failures);
}

size_t metrics_format(const struct metrics *metrics, char *text, size_t size)
{
    struct page_of_text to = {text, size, 0, false};
    gauge(&to, "up", "1 while the daemon keeps the page.", metrics->is_up);
    add_info(&to, metrics);
    add_reading(&to, metrics);
    add_frequency(&to, metrics->shared);
    add_all_sources(&to, metrics);
    add_counts(&to, metrics);
    gauge(&to, "timeline_bytes", "Size of the timeline on disk.", (int64_t)metrics->timeline_bytes);
    seconds(&to, "start_time_seconds", "When the daemon began, since 1970.", metrics->start_utc_ns);
    return to.length;
}
