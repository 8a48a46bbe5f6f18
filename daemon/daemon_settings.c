/* SPDX-License-Identifier: MIT */
/* Where settings come from, at the start and again. */
#include <string.h>

#include "clock/counter/readable.h"
#include "config/config.h"
#include "daemon_parts.h"
#include "timeline/recorder.h"
#include "log.h"

int daemon_settings(const struct options *options, struct settings *settings,
                    struct problem *problem)
{
    const char *path = options_config(options);
    settings_default(settings);
    int result = config_read(path, settings, problem);
    settings->has_file = result == 0;
    /* The default file may be missing. */
    if (result < 0 || (result > 0 && options->config != NULL))
        return -1;
    settings_overlay(settings, &options->flags);
    if (sources_check(settings, path, problem) != 0)
        return -1;
    return settings_finish(settings, problem);
}

static bool are_same_references(const struct settings *a, const struct settings *b)
{
    for (unsigned i = 0; i < a->source_count && i < b->source_count; i++)
        if (strcmp(a->sources[i], b->sources[i]) != 0)
            return false;
    return a->source_count == b->source_count;
}

/* True if they are others than before, of whom nobody knows what they have missed. */
static bool take_references(struct daemon *daemon, const struct settings *settings)
{
    daemon->sources.drift_ppb = settings->drift_ppb;
    /* If the sources are the same, what they said still holds. */
    if (are_same_references(settings, &daemon->settings))
        return false;
    sources_replace(&daemon->sources, settings);
    memset(daemon->report.sources, 0, sizeof(daemon->report.sources));
    return true;
}

void daemon_reload(struct daemon *daemon)
{
    struct settings settings;
    struct problem problem;
    if (daemon_settings(daemon->options, &settings, &problem) != 0) {
        log_line(LOG_ERROR, "%s; going on with the configuration as it was", problem.text);
        return;
    }
    if (strcmp(settings.page, daemon->settings.page) != 0 ||
        strcmp(settings.user, daemon->settings.user) != 0) {
        log_line(LOG_WARNING, "page and user change with a restart only: kept as they were");
        memcpy(settings.page, daemon->settings.page, sizeof(settings.page));
        memcpy(settings.user, daemon->settings.user, sizeof(settings.user));
    }
    /* The default place of the metrics may have come from a page that is not taken. */
    if (settings_finish(&settings, &problem) != 0) {
        log_line(LOG_ERROR, "%s; going on with the configuration as it was", problem.text);
        return;
    }
    bool is_same_timeline = strcmp(settings.timeline, daemon->settings.timeline) == 0 &&
        settings.timeline_bytes == daemon->settings.timeline_bytes;
    if (!is_same_timeline) {
        timeline_recorder_close();
        timeline_recorder_open(settings.timeline, settings.timeline_bytes);
    }
    log_set_level(settings.log_level);
    bool are_others = take_references(daemon, &settings);
    shared_clock_set(&daemon->shared, settings.interval_ns, settings.drift_ppb);
    daemon->settings = settings;
    if (are_others)
        daemon_judge_past(daemon, NULL, false, counter_clock_ns(CLOCK_MONOTONIC));
    log_line(LOG_INFO, "configuration read again");
}
