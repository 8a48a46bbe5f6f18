/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <sys/stat.h>

#include <timebase/version.h>

#include "clock/counter/readable.h"
#include "daemon_parts.h"
#include "timeline/recorder.h"
#include "log.h"
#include "notify.h"
#include "privileges.h"

#define METRICS_NS INT64_C(1000000000)
/* No wait is longer: the clocksource has to be checked. */
#define WAIT_MAX_NS UINT64_C(2000000000)

static int64_t now_ns(void)
{
    return counter_clock_ns(CLOCK_MONOTONIC);
}

/* ---- what the shared clock stands on ------------------------------------------------------- */

static uint64_t read_ticks(void *context)
{
    (void)context;
    return timebase_ticks_ordered();
}

static int store(void *context, const struct timebase_page *page)
{
    struct daemon *daemon = context;
    struct problem problem;
    enum page_file_event event;
    int result = page_file_store(&daemon->file, page, &event, &problem);
    report_store(&daemon->report, &daemon->file, event, result == 0 ? NULL : &problem);
    if (result == 0 && event > PAGE_FILE_MADE)
        daemon->page_repairs++;
    return result;
}

static void store_counts(void *context, const struct timebase_page *page)
{
    struct daemon *daemon = context;
    page_file_store_counts(&daemon->file, page);
}

static void record(void *context, const struct timebase_lines *lines, uint64_t published_ticks,
                   bool is_disrupted)
{
    (void)context;
    timeline_recorder_append(lines, published_ticks, is_disrupted);
}

static void amend(void *context, struct discipline_sample *sample)
{
    daemon_judge_sample(context, sample);
}

/* If vmclock's marker is another now, the machine was moved while no daemon ran: the first answer
 * tells that as any other move. */
static void take_up(struct daemon *daemon, const struct timebase_page *page)
{
    log_line(LOG_INFO, "%s: taken up at publication %" PRIu64, daemon->file.path, page->seq);
    daemon->sources.marker = page->vmclock_marker;
}

static void start_clock(struct daemon *daemon)
{
    const struct shared_clock_outside outside = {
        .ticks = read_ticks,
        .reference = &reference_kernel,
        .reference_context = &daemon->kernel,
        .store = store,
        .store_counts = store_counts,
        .record = record,
        .amend = amend,
        .context = daemon,
        .sources = &daemon->sources,
    };
    struct timebase_page page;
    struct problem problem = {"of another boot or time namespace"};
    shared_clock_start(&daemon->shared, &outside, daemon->settings.interval_ns,
                       daemon->settings.drift_ppb);
    bool is_there = page_file_adopt(&daemon->file, &page, &problem) == 0;
    bool is_taken_up = is_there && shared_clock_adopt(&daemon->shared, &page);
    if (is_taken_up)
        take_up(daemon, &page);
    else if (is_there) {
        problem_set(&problem, "%s: its time is not this machine's", daemon->file.path);
        page_file_disown(&daemon->file);
        /* The new page tells of that, to readers and to the next daemon. */
        daemon->shared.page.disruption_marker = page.disruption_marker + 1;
    }
    if (!is_taken_up)
        log_line(LOG_INFO, "a new page is begun (%s)", problem.text);
    daemon_judge_past(daemon, is_there ? &page : NULL, is_taken_up, now_ns());
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void step(struct daemon *daemon)
{
    int64_t mono_ns = now_ns();
    daemon_judge_machine(daemon, mono_ns);
    sources_ask_for_sample(&daemon->sources, mono_ns);
    enum servo_result result = shared_clock_step(&daemon->shared);
    daemon->due_ns = mono_ns + (int64_t)shared_clock_wait_ns(&daemon->shared, result);
    const struct servo_counts *counts = &daemon->shared.servo.counts;
    cpus_heed(&daemon->cpus, counts->disruptions + counts->suspends);
    cpus_table_heed(&daemon->table, counts->disruptions + counts->suspends, mono_ns);
    bool is_status_new = report_step(&daemon->report, &daemon->shared, result);
    report_sources(&daemon->report, &daemon->sources);
    daemon_tell_status(daemon, is_status_new);
    if (result == SERVO_PUBLISHED && daemon->table.cpus == NULL)
        cpus_measure_again(&daemon->cpus, mono_ns);
    daemon->begins_anew = daemon_judge_anew(daemon);
}

/* Until the first of these is due: a step, the watchdog, a source. */
static uint64_t time_to_wait(const struct daemon *daemon, int64_t mono_ns)
{
    int64_t until = daemon->due_ns;
    int64_t sources_due = sources_due_ns(&daemon->sources);
    int64_t watchdog_due = daemon->watchdog_told_ns + (int64_t)daemon->watchdog_ns;
    if (sources_due < until)
        until = sources_due;
    if (daemon->table.cpus != NULL && daemon->table.due_ns < until)
        until = daemon->table.due_ns;
    if (daemon->watchdog_ns != 0 && watchdog_due < until)
        until = watchdog_due;
    if (until <= mono_ns)
        return 0;
    uint64_t wait = (uint64_t)(until - mono_ns);
    return wait < WAIT_MAX_NS ? wait : WAIT_MAX_NS;
}

static void look_around(struct daemon *daemon, unsigned reasons)
{
    int64_t mono_ns = now_ns();
    if (reasons & WAKE_RELOAD)
        daemon_reload(daemon);
    if (mono_ns >= daemon->due_ns || (reasons & WAKE_CLOCK_SET))
        step(daemon);
    else
        sources_ask(&daemon->sources, mono_ns);
    cpus_table_renew(&daemon->table, &daemon->file, now_ns());
    daemon_judge_told(daemon, mono_ns);
    if (mono_ns - daemon->metrics_ns >= METRICS_NS) {
        daemon->metrics_ns = mono_ns;
        daemon_write_metrics(daemon, true);
    }
    daemon_tell_watchdog(daemon, mono_ns);
}

/* Hears sources that have news. If one tells of a disruption, a step is due now, so that readers
 * hear of it at once. */
static void hear_sources(struct daemon *daemon, const int *fds, unsigned count)
{
    int64_t mono_ns = now_ns();
    uint64_t disruptions = daemon->sources.disruptions;
    for (unsigned i = 0; i < count; i++)
        if (fds[i] >= 0)
            sources_hear(&daemon->sources, fds[i], mono_ns);
    daemon_judge_told(daemon, mono_ns);
    if (daemon->sources.disruptions != disruptions)
        daemon->due_ns = mono_ns;
}

static unsigned wait_for_reasons(struct daemon *daemon)
{
    int fds[SETTINGS_SOURCES];
    unsigned count = sources_fds(&daemon->sources, fds, SETTINGS_SOURCES);
    unsigned reasons = wake_wait(&daemon->wake, time_to_wait(daemon, now_ns()), fds, count);
    if (reasons & WAKE_NEWS)
        hear_sources(daemon, fds, count);
    return reasons;
}

static void loop(struct daemon *daemon)
{
    unsigned reasons = WAKE_TIME;
    daemon->due_ns = now_ns();
    /* The first metrics come a second after the first lines. */
    daemon->metrics_ns = daemon->due_ns - METRICS_NS * 9 / 10;
    while (!(reasons & WAKE_END)) {
        look_around(daemon, reasons);
        if (daemon->begins_anew)
            return;
        reasons = wait_for_reasons(daemon);
    }
}

static int start(struct daemon *daemon, struct problem *problem)
{
    const struct settings *settings = &daemon->settings;
    if (page_file_open(&daemon->file, settings->page, settings->user, problem) != 0)
        return -1;
    if (wake_open(&daemon->wake, problem) != 0)
        return -1;
    if (daemon->options->lock_memory) {
        struct problem refused;
        if (privileges_lock_memory(&refused) != 0)
            log_line(LOG_WARNING, "%s", refused.text);
    }
    daemon->start_utc_ns = counter_clock_ns(CLOCK_REALTIME);
    daemon->watchdog_ns = notify_watchdog_ns();
    daemon->watchdog_told_ns = now_ns();
    sources_set_up(&daemon->sources, settings);
    cpus_measure(&daemon->cpus, now_ns());
    daemon_judge_cpus(daemon, now_ns());
    daemon_judge_begin(daemon, now_ns());
    timeline_recorder_open(settings->timeline, settings->timeline_bytes);
    start_clock(daemon);
    if (daemon->table.cpus != NULL)
        cpus_table_store(&daemon->table, &daemon->file);
    return 0;
}

static void close_all(struct daemon *daemon)
{
    timeline_recorder_close();
    sources_close(&daemon->sources);
    cpus_close(&daemon->cpus);
    cpus_table_close(&daemon->table);
    page_file_close(&daemon->file);
    wake_close(&daemon->wake);
}

static void end(struct daemon *daemon)
{
    notify_send("STOPPING=1\nSTATUS=the page stays, in holdover\n");
    log_line(LOG_INFO, "ending after %" PRIu64 " publications; %s stays, readers go on in holdover",
             daemon->shared.servo.counts.publications, daemon->settings.page);
    daemon_write_metrics(daemon, false);
    close_all(daemon);
}

/* A signal that comes in between waits for the next loop. */
static void begin_anew(struct daemon *daemon)
{
    log_line(LOG_WARNING,
             "the kernel has given the counter up and the counters of CPUs differ: this daemon begins "
             "anew, to correct them by CPU; readers of the page that was are UNRELIABLE and attach anew");
    close_all(daemon);
}

/* From its beginning to its end, or until it is to begin anew. Returns what the process does. */
static int live(struct daemon *daemon, const struct options *options,
                const struct settings *settings)
{
    static const struct daemon none;
    struct problem problem;
    *daemon = none;
    daemon->options = options;
    daemon->settings = *settings;
    if (start(daemon, &problem) != 0) {
        log_line(LOG_ERROR, "%s", problem.text);
        return 1;
    }
    log_line(LOG_INFO, "version %s, counter %s, page %s, every %" PRIu64 " ms", TIMEBASE_VERSION,
             timebase_counter_name(timebase_counter_id()), daemon->settings.page,
             daemon->settings.interval_ns / 1000000);
    loop(daemon);
    if (daemon->begins_anew)
        begin_anew(daemon);
    else
        end(daemon);
    return 0;
}

int daemon_run(const struct options *options, const struct settings *settings)
{
    static struct daemon daemon;
    struct settings present = *settings;
    umask(022);
    log_set_level(settings->log_level);
    int result;
    do {
        result = live(&daemon, options, &present);
        present = daemon.settings; /* perhaps configured anew */
    } while (result == 0 && daemon.begins_anew);
    return result;
}
