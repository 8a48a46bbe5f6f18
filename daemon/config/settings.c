/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <string.h>

#include "log.h"
#include "settings_values.h"

#define PAGE_DEFAULT "/run/timebase/page"
#define METRICS_NAME "metrics.prom"

void settings_default(struct settings *settings)
{
    static const struct settings defaults = {
        .page = PAGE_DEFAULT,
        .interval_ns = 250000000,
        .drift_ppb = 50000,
        .timeline_bytes = (uint64_t)1 << 30,
        .log_level = LOG_INFO,
    };
    *settings = defaults;
}

/* A flag may have dashes for underscores: --log-level. */
static bool is_name(const char *key, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (key[i] == '\0' || key[i] != (name[i] == '-' ? '_' : name[i]))
            return false;
    return key[length] == '\0';
}

enum settings_key settings_key_named(const char *name, size_t length)
{
    for (enum settings_key key = 0; key < SETTINGS_KEYS; key++)
        if (is_name(settings_values[key].name, name, length))
            return key;
    return SETTINGS_KEYS;
}

const char *settings_key_name(enum settings_key key)
{
    return settings_values[key].name;
}

bool settings_is_repeatable(enum settings_key key)
{
    return key == SETTINGS_KEY_REFERENCE;
}

int settings_set(struct settings *settings, enum settings_key key, const char *value, size_t length,
                 struct problem *problem)
{
    if (memchr(value, '\0', length) != NULL)
        return problem_set(problem, "a NUL character is in it: take it out");
    if (settings_values[key].set(settings, value, length, problem) != 0)
        return -1;
    settings->given |= 1u << key;
    return 0;
}

static bool is_given(const struct settings *settings, enum settings_key key)
{
    return settings->given >> key & 1;
}

void settings_overlay(struct settings *settings, const struct settings *over)
{
    if (is_given(over, SETTINGS_KEY_PAGE))
        memcpy(settings->page, over->page, sizeof(over->page));
    if (is_given(over, SETTINGS_KEY_INTERVAL))
        settings->interval_ns = over->interval_ns;
    if (is_given(over, SETTINGS_KEY_DRIFT))
        settings->drift_ppb = over->drift_ppb;
    if (is_given(over, SETTINGS_KEY_REFERENCE)) {
        memcpy(settings->sources, over->sources, sizeof(over->sources));
        memcpy(settings->source_lines, over->source_lines, sizeof(over->source_lines));
        settings->source_count = over->source_count;
    }
    if (is_given(over, SETTINGS_KEY_TIMELINE))
        memcpy(settings->timeline, over->timeline, sizeof(over->timeline));
    if (is_given(over, SETTINGS_KEY_TIMELINE_SIZE))
        settings->timeline_bytes = over->timeline_bytes;
    if (is_given(over, SETTINGS_KEY_METRICS))
        memcpy(settings->metrics, over->metrics, sizeof(over->metrics));
    if (is_given(over, SETTINGS_KEY_USER))
        memcpy(settings->user, over->user, sizeof(over->user));
    if (is_given(over, SETTINGS_KEY_LOG_LEVEL))
        settings->log_level = over->log_level;
    if (is_given(over, SETTINGS_KEY_NEVER_MOVED))
        settings->never_moved = over->never_moved;
    settings->given |= over->given;
}

static void put_metrics_beside_page(struct settings *settings, size_t folder)
{
    memcpy(settings->metrics, settings->page, folder);
    memcpy(settings->metrics + folder, METRICS_NAME, sizeof(METRICS_NAME));
}

/* Is this path the file `of`, or a file that is kept or built beside it? */
static bool is_taken(const char *path, const char *of)
{
    static const char *const endings[] = {"", ".lock", ".new"};
    size_t length = strlen(of);
    if (strncmp(path, of, length) != 0)
        return false;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (strcmp(path + length, endings[i]) == 0)
            return true;
    return false;
}

/* Writing one of them would replace the other. */
static int refuse_if_one(const char *key, const char *path, const char *of_key, const char *of,
                         struct problem *problem)
{
    if (path[0] == '\0' || of[0] == '\0' || (!is_taken(path, of) && !is_taken(of, path)))
        return 0;
    return problem_set(problem, "%s: %s is in the way of %s, %s: choose another path", key, path,
                       of_key, of);
}

int settings_finish(struct settings *settings, struct problem *problem)
{
    size_t folder = (size_t)(strrchr(settings->page, '/') - settings->page) + 1;
    if (!is_given(settings, SETTINGS_KEY_METRICS)) {
        if (folder + sizeof(METRICS_NAME) > SETTINGS_PATH)
            return problem_set(problem,
                               "page: no room for the name of the metrics file beside it: choose "
                               "a shorter path, or set metrics");
        put_metrics_beside_page(settings, folder);
    }
    const char *page = settings->page, *metrics = settings->metrics;
    if (refuse_if_one("metrics", metrics, "the page", page, problem) != 0 ||
        refuse_if_one("timeline", settings->timeline, "the page", page, problem) != 0)
        return -1;
    return refuse_if_one("timeline", settings->timeline, "metrics", metrics, problem);
}
