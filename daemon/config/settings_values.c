/* SPDX-License-Identifier: MIT */
#include "settings_values.h"

#include <string.h>

#include "log.h"
#include "quantity.h"
#include "source_names.h"

/*
 * If the interval is shorter, lead and slew (servo/cadence.c) have no room between two
 * publications; if it is longer, the discipline's schedule ends.
 */
static const struct quantity interval = {"a time", "100ms to 2s, such as 250ms", UNITS_OF_TIME,
                                         100000000, 2000000000};
static const struct quantity drift = {"parts in a million", "1 to 1000, such as 50", UNITS_OF_DRIFT,
                                      1000, 1000000};
static const struct quantity size = {"a size", "64k to 1024G, such as 1G", UNITS_OF_SIZE, 1 << 16,
                                     (uint64_t)1 << 40};

static int set_path(char *to, const char *value, size_t length, struct problem *problem)
{
    if (length == 0 || value[0] != '/')
        return problem_set(problem, "\"%.*s\" is no absolute path: write one that begins with /",
                           (int)(length < 100 ? length : 100), value);
    if (length >= SETTINGS_PATH)
        return problem_set(problem, "the path is longer than %d characters: choose a shorter one",
                           SETTINGS_PATH - 1);
    memcpy(to, value, length);
    memset(to + length, 0, SETTINGS_PATH - length);
    return 0;
}

static int set_path_or_none(char *to, const char *value, size_t length, struct problem *problem)
{
    if (length != 4 || memcmp(value, "none", 4) != 0)
        return set_path(to, value, length, problem);
    memset(to, 0, SETTINGS_PATH);
    return 0;
}

static int set_page(struct settings *settings, const char *value, size_t length,
                    struct problem *problem)
{
    if (length > 0 && value[length - 1] == '/')
        return problem_set(problem, "\"%.*s\" is a folder: add the page's own name, such as page",
                           (int)(length < 100 ? length : 100), value);
    return set_path(settings->page, value, length, problem);
}

static int set_interval(struct settings *settings, const char *value, size_t length,
                        struct problem *problem)
{
    return quantity_parse(&interval, value, length, &settings->interval_ns, problem);
}

static int set_drift(struct settings *settings, const char *value, size_t length,
                     struct problem *problem)
{
    uint64_t ppb;
    if (quantity_parse(&drift, value, length, &ppb, problem) != 0)
        return -1;
    settings->drift_ppb = (uint32_t)ppb;
    return 0;
}

/* "kernel, chrony": the allowed names, for the message. */
static void list_source_names(char *names, size_t size)
{
    size_t used = (size_t)(stpcpy(names, source_names[0]) - names);
    for (unsigned i = 1; source_names[i] != NULL; i++)
        if (used + 2 + strlen(source_names[i]) < size)
            used = (size_t)(stpcpy(stpcpy(names + used, ", "), source_names[i]) - names);
}

static bool is_source_name(const char *name, size_t length)
{
    for (unsigned i = 0; source_names[i] != NULL; i++)
        if (strlen(source_names[i]) == length && memcmp(source_names[i], name, length) == 0)
            return true;
    return false;
}

static int set_reference(struct settings *settings, const char *value, size_t length,
                         struct problem *problem)
{
    const char *colon = memchr(value, ':', length);
    size_t name = colon != NULL ? (size_t)(colon - value) : length;
    char names[128];
    list_source_names(names, sizeof(names));
    if (!is_source_name(value, name))
        return problem_set(problem, "no reference is called \"%.*s\": there are %s",
                           (int)(name < 100 ? name : 100), value, names);
    if (settings->source_count == SETTINGS_SOURCES)
        return problem_set(problem, "more than %d references: leave some out", SETTINGS_SOURCES);
    if (length >= SETTINGS_PATH)
        return problem_set(problem, "longer than %d characters: choose a shorter path",
                           SETTINGS_PATH - 1);
    settings->source_lines[settings->source_count] = 0;
    char *to = settings->sources[settings->source_count++];
    memcpy(to, value, length);
    memset(to + length, 0, SETTINGS_PATH - length);
    return 0;
}

static int set_timeline(struct settings *settings, const char *value, size_t length,
                        struct problem *problem)
{
    return set_path_or_none(settings->timeline, value, length, problem);
}

static int set_timeline_size(struct settings *settings, const char *value, size_t length,
                             struct problem *problem)
{
    return quantity_parse(&size, value, length, &settings->timeline_bytes, problem);
}

static int set_metrics(struct settings *settings, const char *value, size_t length,
                       struct problem *problem)
{
    return set_path_or_none(settings->metrics, value, length, problem);
}

static int set_user(struct settings *settings, const char *value, size_t length,
                    struct problem *problem)
{
    if (length == 0 || length >= SETTINGS_USER)
        return problem_set(problem, "a user's name has 1 to %d characters", SETTINGS_USER - 1);
    memcpy(settings->user, value, length);
    memset(settings->user + length, 0, SETTINGS_USER - length);
    return 0;
}

static int set_log_level(struct settings *settings, const char *value, size_t length,
                         struct problem *problem)
{
    int level = log_level_named(value, length);
    if (level < 0)
        return problem_set(problem,
                           "no level is called \"%.*s\": write error, warning, info or debug",
                           (int)(length < 100 ? length : 100), value);
    settings->log_level = level;
    return 0;
}

static int set_never_moved(struct settings *settings, const char *value, size_t length,
                           struct problem *problem)
{
    bool is_yes = length == 3 && memcmp(value, "yes", 3) == 0;
    if (!is_yes && (length != 2 || memcmp(value, "no", 2) != 0))
        return problem_set(problem, "\"%.*s\" is neither yes nor no",
                           (int)(length < 100 ? length : 100), value);
    settings->never_moved = is_yes;
    return 0;
}

const struct settings_value settings_values[SETTINGS_KEYS] = {
    [SETTINGS_KEY_PAGE] = {"page", set_page},
    [SETTINGS_KEY_INTERVAL] = {"interval", set_interval},
    [SETTINGS_KEY_DRIFT] = {"drift", set_drift},
    [SETTINGS_KEY_REFERENCE] = {"reference", set_reference},
    [SETTINGS_KEY_TIMELINE] = {"timeline", set_timeline},
    [SETTINGS_KEY_TIMELINE_SIZE] = {"timeline_size", set_timeline_size},
    [SETTINGS_KEY_METRICS] = {"metrics", set_metrics},
    [SETTINGS_KEY_USER] = {"user", set_user},
    [SETTINGS_KEY_LOG_LEVEL] = {"log_level", set_log_level},
    [SETTINGS_KEY_NEVER_MOVED] = {"never_moved", set_never_moved},
};
