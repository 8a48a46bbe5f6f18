/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include <timebase/clock.h>
#include <timebase/error.h>

#include "duration.h"
#include "log.h"

static void report_counts(const struct report *report, const struct shared_clock *shared)
{
    const struct servo_counts *was = &report->counts, *now = &shared->servo.counts;
    if (now->utc_steps != was->utc_steps)
        log_line(LOG_WARNING, "the system clock was stepped by %s (%" PRIu64 " so far)",
                 duration_of(now->last_utc_step_ns).text, now->utc_steps);
    if (now->suspends != was->suspends)
        log_line(LOG_WARNING, "the machine slept (%" PRIu64 " so far)", now->suspends);
    if (now->jumps != was->jumps)
        log_line(LOG_WARNING,
                 "counter and system clock have parted by %s: lines begin afresh (%" PRIu64
                 " so far)",
                 duration_of(shared->servo.offset_ns).text, now->jumps);
    if (now->backwards != was->backwards)
        log_line(LOG_WARNING, "the counter went back: lines begin afresh (%" PRIu64 " so far)",
                 now->backwards);
    if (now->disruptions != was->disruptions && now->jumps == was->jumps &&
        now->backwards == was->backwards)
        log_line(LOG_WARNING, "the machine was disrupted: the counter's pace is learnt anew");
    if (now->rate_changes != was->rate_changes)
        log_line(LOG_DEBUG, "the system clock changed its pace (%" PRIu64 " so far)",
                 now->rate_changes);
    if (now->late_publications != was->late_publications)
        log_line(LOG_WARNING,
                 "published late: for some ms readers may have differed by up to 10 us (%" PRIu64
                 " so far)",
                 now->late_publications);
}

static void report_leap(struct report *report, const struct shared_clock *shared)
{
    int64_t step_ns = shared->servo.discipline.leap.step_ns;
    if (report->leap_step_ns == step_ns)
        return;
    if (step_ns != 0)
        log_line(
            LOG_WARNING,
            "a leap second is announced: at the end of this day of UTC one is %s; around it the "
            "bound is a second wider",
            step_ns < 0 ? "inserted" : "left out");
    else
        log_line(LOG_WARNING,
                 shared->servo.discipline.leap.has_stepped
                     ? "the leap second is over"
                     : "the leap second did not come, or is no longer announced");
    report->leap_step_ns = step_ns;
}

static bool report_status(struct report *report, const struct shared_clock *shared)
{
    struct timebase_instant now;
    if (!shared_clock_now(shared, &now))
        return false;
    uint32_t status = now.flags & TIMEBASE_LINE_STATUS_MASK;
    if (status == report->status)
        return false;
    log_line(LOG_INFO,
             "status %s, was %s: within %s of the system clock, %s of UTC",
             timebase_status_name((int)status), timebase_status_name((int)report->status),
             duration_of_bound(now.maxerror_ns).text,
             duration_of_bound(now.utc_maxerror_ns).text);
    report->status = status;
    return true;
}

static void report_reference(struct report *report, bool is_failing)
{
    if (is_failing == report->is_reference_failing)
        return;
    report->is_reference_failing = is_failing;
    if (is_failing)
        log_line(LOG_ERROR,
                 "the kernel's clocks cannot be read, or move in steps of more than "
                 "1 us: nothing is published; see current_clocksource below /sys");
    else
        log_line(LOG_INFO, "the kernel's clocks are read again");
}

bool report_step(struct report *report, const struct shared_clock *shared, enum servo_result result)
{
    report_counts(report, shared);
    report_leap(report, shared);
    if (result == SERVO_NO_REFERENCE || result == SERVO_PUBLISHED)
        report_reference(report, result == SERVO_NO_REFERENCE);
    report->counts = shared->servo.counts;
    return report_status(report, shared);
}

void report_store(struct report *report, const struct page_file *file, enum page_file_event event,
                  const struct problem *problem)
{
    if (problem != NULL && !report->is_store_failing)
        log_line(LOG_ERROR, "%s; trying again", problem->text);
    if (problem == NULL && report->is_store_failing)
        log_line(LOG_INFO, "%s: written again", file->path);
    report->is_store_failing = problem != NULL;
    if (problem == NULL && event == PAGE_FILE_MADE)
        log_line(LOG_INFO, "%s: made", file->path);
    else if (problem == NULL && event != PAGE_FILE_AS_EXPECTED)
        log_line(LOG_WARNING, "%s %s: made anew", file->path, page_file_event_text(event));
}

static void report_failure(const struct source *source)
{
    log_line(LOG_WARNING, "reference %s: %s (%s); asking again every 2 s", source->name,
             source->reason, timebase_strerror(source->error));
}

static void report_source(const struct source *source, bool is_known, bool was_up)
{
    if (source->is_up && !source->has_claim && !is_known)
        log_line(LOG_INFO, "reference %s: answers, and knows nothing of UTC yet", source->name);
    if (source->is_up && !was_up && source->has_claim)
        log_line(LOG_INFO,
                 "reference %s: system clock - UTC is %s, give or take %s; it %s",
                 source->name, duration_of(source->claim.offset_ns).text,
                 duration_of_bound(source->claim.error_ns).text,
                 source->claim.is_synchronized ? "follows UTC"
                                               : "does not say that it follows UTC");
}

static void report_notice(struct report *report, enum claim_notice notice)
{
    static const char *const texts[] = {
        [CLAIM_NOTICE_NONE] = "the hypervisor no longer plans to disrupt this machine",
        [CLAIM_NOTICE_SOON] = "the hypervisor plans to move or to stop this machine, within a day",
        [CLAIM_NOTICE_IMMINENT] =
            "the hypervisor is about to move or to stop this machine, within an hour",
    };
    if (notice == report->notice)
        return;
    report->notice = notice;
    log_line(notice == CLAIM_NOTICE_NONE ? LOG_INFO : LOG_WARNING, "%s", texts[notice]);
}

void report_sources(struct report *report, const struct sources *sources)
{
    report_notice(report, sources_notice(sources));
    for (unsigned i = 0; i < sources->count; i++) {
        const struct source *source = &sources->list[i];
        bool was_up = report->sources[i].is_up;
        bool is_down = !source->is_up && source->error != TIMEBASE_OK;
        if (is_down && report->sources[i].reason != source->reason)
            report_failure(source);
        report->sources[i].reason = is_down ? source->reason : NULL;
        report_source(source, report->sources[i].is_known, was_up);
        if (source->is_outdated && !report->sources[i].is_outdated)
            log_line(LOG_WARNING,
                     "reference %s: it has not measured since the machine was, or may have been, "
                     "disrupted, and is not believed before it does",
                     source->name);
        if (source->is_falseticker && !report->sources[i].is_falseticker)
            log_line(LOG_WARNING,
                     "reference %s is a falseticker: it says %s, the majority between %s and %s",
                     source->name, duration_of(source->claim.offset_ns).text,
                     duration_of(sources->selection.low_ns).text,
                     duration_of(sources->selection.high_ns).text);
        report->sources[i].is_known |= source->is_up || source->error != TIMEBASE_OK;
        report->sources[i].is_up = source->is_up && source->has_claim;
        report->sources[i].is_outdated = source->is_outdated;
        report->sources[i].is_falseticker = source->is_falseticker;
    }
}
