/* SPDX-License-Identifier: MIT */
#include "effective.h"

#include <inttypes.h>

#include "log.h"

/* A key and its value; `nothing` says in a comment what it means that there is none. */
static void put(FILE *out, const char *key, const char *value, const char *nothing,
                const char *origin)
{
    if (value[0] != '\0')
        fprintf(out, "%s = %s  # %s\n", key, value, origin);
    else
        fprintf(out, "# %s: %s\n", key, nothing);
}

static void put_number(FILE *out, const char *key, uint64_t number, const char *unit,
                       const char *origin)
{
    fprintf(out, "%s = %" PRIu64 "%s  # %s\n", key, number, unit, origin);
}

static void put_interval(FILE *out, uint64_t ns, const char *origin)
{
    bool is_ms = ns % 1000000 == 0;
    put_number(out, "interval", is_ms ? ns / 1000000 : ns, is_ms ? "ms" : "ns", origin);
}

static void put_drift(FILE *out, uint32_t ppb, const char *origin)
{
    bool is_ppm = ppb % 1000 == 0;
    put_number(out, "drift", is_ppm ? ppb / 1000 : ppb, is_ppm ? "ppm" : "ppb", origin);
}

static void put_size(FILE *out, uint64_t bytes, const char *origin)
{
    static const char *const units[] = {"", "k", "M", "G"};
    unsigned unit = 0;
    for (; unit < 3 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    put_number(out, "timeline_size", bytes, units[unit], origin);
}

static void put_references(FILE *out, const struct settings *settings, const char *origin)
{
    for (unsigned i = 0; i < settings->source_count; i++)
        put(out, "reference", settings->sources[i], "", origin);
    if (settings->source_count == 0)
        put(out, "reference", "", "none, so the kernel's own word is taken", "");
}

static void put_key(FILE *out, const struct settings *settings, enum settings_key key,
                    const char *origin)
{
    switch (key) {
    case SETTINGS_KEY_PAGE:
        put(out, "page", settings->page, "", origin);
        break;
    case SETTINGS_KEY_INTERVAL:
        put_interval(out, settings->interval_ns, origin);
        break;
    case SETTINGS_KEY_DRIFT:
        put_drift(out, settings->drift_ppb, origin);
        break;
    case SETTINGS_KEY_REFERENCE:
        put_references(out, settings, origin);
        break;
    case SETTINGS_KEY_TIMELINE:
        put(out, "timeline", settings->timeline[0] != '\0' ? settings->timeline : "none", "",
            origin);
        break;
    case SETTINGS_KEY_TIMELINE_SIZE:
        put_size(out, settings->timeline_bytes, origin);
        break;
    case SETTINGS_KEY_METRICS:
        put(out, "metrics", settings->metrics[0] != '\0' ? settings->metrics : "none", "", origin);
        break;
    case SETTINGS_KEY_USER:
        put(out, "user", settings->user, "whoever starts it", origin);
        break;
    case SETTINGS_KEY_LOG_LEVEL:
        put(out, "log_level", log_level_name(settings->log_level), "", origin);
        break;
    case SETTINGS_KEY_NEVER_MOVED:
        put(out, "never_moved", settings->never_moved ? "yes" : "no", "", origin);
        break;
    case SETTINGS_KEYS:
        break;
    }
}

static const char *origin_of(enum settings_key key, const struct settings *settings,
                             const struct settings *flags)
{
    if (flags->given >> key & 1)
        return "command line";
    return settings->given >> key & 1 ? "file" : "default";
}

void effective_settings_write(FILE *out, const struct settings *settings,
                              const struct settings *flags)
{
    for (enum settings_key key = 0; key < SETTINGS_KEYS; key++)
        put_key(out, settings, key, origin_of(key, settings, flags));
}
