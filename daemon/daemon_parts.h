/* SPDX-License-Identifier: MIT */
/* daemon_parts: the state of the daemon, for daemon*.c only. */
#ifndef DAEMON_DAEMON_PARTS_H
#define DAEMON_DAEMON_PARTS_H

#include "clock/reference/reference.h"
#include "daemon.h"
#include "shared_clock.h"
#include "disturbance.h"
#include "page_file.h"
#include "report.h"
#include "cpus_skew.h"
#include "cpus_table.h"
#include "wake.h"
#include "witness_verdict.h"

struct daemon {
    const struct options *options;
    struct settings settings;
    struct page_file file;
    struct shared_clock shared;
    struct sources sources;
    struct reference_kernel kernel;
    struct disturbance disturbance;
    struct cpus_skew cpus;
    struct cpus_table table;
    struct witness_facts witness;
    struct witness_rtc rtc; /* as it could be read last */
    bool is_rtc_there;      /* it could be, at the newest look */
    int64_t rtc_looked_ns;
    enum witness_verdict witness_verdict; /* as the log has it, if is_witness_told */
    bool is_witness_told;
    struct report report;
    struct wake wake;
    uint64_t watchdog_ns; /* 0: none */
    int64_t start_utc_ns;
    int64_t due_ns; /* the next step, monotonic */
    int64_t metrics_ns;
    int64_t watchdog_told_ns;
    uint64_t page_repairs;
    bool is_ready_told;
    bool is_status_due; /* to be told to systemd */
    bool is_notify_failing;
    bool are_metrics_failing;
    bool is_refused;   /* to correct by CPU, where the counters differ */
    bool begins_anew;  /* with another counter, as a page's does not change */
};

/* daemon_settings.c: SIGHUP. A bad configuration is logged, and the present one stays in force. */
void daemon_reload(struct daemon *daemon);

/*
 * daemon_judge.c: whether ticks are corrected by CPU from now on, before anything else is asked of the
 * counter; what is known of the machine, at the start, of the time before (page: what was
 * there, or NULL), before each step, into a sample; and when the sources may have been told of a
 * disruption since then.
 */
void daemon_judge_cpus(struct daemon *daemon, int64_t mono_ns);
/* Whether they are to be from now on: the kernel has given the counter up since, or the CPUs differ
 * since. */
bool daemon_judge_anew(const struct daemon *daemon);
void daemon_judge_begin(struct daemon *daemon, int64_t mono_ns);
void daemon_judge_past(struct daemon *daemon, const struct timebase_page *page, bool is_taken_up,
                       int64_t mono_ns);
void daemon_judge_machine(struct daemon *daemon, int64_t mono_ns);
void daemon_judge_sample(struct daemon *daemon, struct discipline_sample *sample);
void daemon_judge_told(struct daemon *daemon, int64_t since_ns);

/* daemon_tell.c: the metrics file, systemd when the status is new (and with each step until it
 * could be told), and its watchdog when due. */
void daemon_write_metrics(struct daemon *daemon, bool is_up);
void daemon_tell_status(struct daemon *daemon, bool is_status_new);
void daemon_tell_watchdog(struct daemon *daemon, int64_t mono_ns);

#endif
