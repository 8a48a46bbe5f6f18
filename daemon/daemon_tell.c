/* SPDX-License-Identifier: MIT */
/* What others are told: Prometheus and systemd. Readers have the page. */
#include <stdio.h>

#include <timebase/clock.h>
#include <timebase/version.h>

#include "daemon_parts.h"
#include "duration.h"
#include "timeline/recorder.h"
#include "log.h"
#include "metrics.h"
#include "notify.h"
#include "replace.h"

void daemon_write_metrics(struct daemon *daemon, bool is_up)
{
    static char text[METRICS_BYTES];
    struct problem problem;
    struct metrics metrics = {
        .is_up = is_up,
        .version = TIMEBASE_VERSION,
        .page = daemon->settings.page,
        .shared = &daemon->shared,
        .sources = &daemon->sources,
        .stalls = daemon->disturbance.stalls,
        .clocksource_changes = daemon->disturbance.clocksource_changes,
        .page_repairs = daemon->page_repairs,
        .corrected_cpus = cpus_table_count(&daemon->table),
        .contradictions = cpus_table_contradictions(&daemon->table),
        .timeline_bytes = timeline_recorder_bytes(),
        .timeline_failures = timeline_recorder_failures(),
        .start_utc_ns = daemon->start_utc_ns,
    };
    if (daemon->settings.metrics[0] == '\0')
        return;
    size_t length = metrics_format(&metrics, text, sizeof(text));
    bool is_failing = replace_file(daemon->settings.metrics, text, length, &problem) != 0;
    if (is_failing && !daemon->are_metrics_failing)
        log_line(LOG_WARNING, "metrics: %s; trying again every second", problem.text);
    if (!is_failing && daemon->are_metrics_failing)
        log_line(LOG_INFO, "metrics: written again");
    daemon->are_metrics_failing = is_failing;
}

void daemon_tell_status(struct daemon *daemon, bool is_status_new)
{
    struct timebase_instant now;
    char text[160];
    daemon->is_status_due = daemon->is_status_due || is_status_new;
    if (!daemon->is_status_due || !shared_clock_now(&daemon->shared, &now))
        return;
    snprintf(text, sizeof(text), "%sSTATUS=%s, within %s of the system clock\n",
             daemon->is_ready_told ? "" : "READY=1\n",
             timebase_status_name((int)(now.flags & TIMEBASE_LINE_STATUS_MASK)),
             duration_of_bound(now.maxerror_ns).text);
    bool is_failing = notify_send(text) < 0;
    if (is_failing && !daemon->is_notify_failing)
        log_line(LOG_WARNING, "NOTIFY_SOCKET is set, and cannot be written to; trying again with "
                              "each step");
    daemon->is_notify_failing = is_failing;
    daemon->is_status_due = is_failing;
    daemon->is_ready_told = daemon->is_ready_told || !is_failing;
}

/* Called by the loop itself, so that a daemon that hangs does not tell the watchdog that it lives.
 */
void daemon_tell_watchdog(struct daemon *daemon, int64_t mono_ns)
{
    if (daemon->watchdog_ns == 0 ||
        mono_ns - daemon->watchdog_told_ns < (int64_t)daemon->watchdog_ns)
        return;
    daemon->watchdog_told_ns = mono_ns;
    notify_send("WATCHDOG=1\n");
}
