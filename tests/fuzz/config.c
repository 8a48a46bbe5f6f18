/* SPDX-License-Identifier: MIT */
/*
 * fuzz/config: any bytes as a configuration. What is taken is within its ranges; what is refused
 * changes nothing and is called by its line.
 *
 * fuzz-sources: daemon/config/config.c daemon/config/settings.c daemon/config/settings_values.c
 * fuzz-sources: daemon/config/quantity.c daemon/config/problem.c daemon/log.c
 * fuzz-sources: daemon/config/source_names.c
 * fuzz-runs: 400000
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
    if (!condition)
        abort();
}

static int is_path(const char *path)
{
    return memchr(path, '\0', SETTINGS_PATH) != NULL && path[0] == '/';
}

static void check_ranges(const struct settings *settings)
{
    must(is_path(settings->page));
    must(settings->interval_ns >= 100000000 && settings->interval_ns <= 2000000000);
    must(settings->drift_ppb >= 1000 && settings->drift_ppb <= 1000000);
    must(settings->source_count <= SETTINGS_SOURCES);
    for (unsigned i = 0; i < settings->source_count; i++)
        must(memchr(settings->sources[i], '\0', SETTINGS_PATH) != NULL);
    must(settings->timeline[0] == '\0' || is_path(settings->timeline));
    must(settings->metrics[0] == '\0' || is_path(settings->metrics));
    must(settings->timeline_bytes >= 1 << 16);
    must(memchr(settings->user, '\0', SETTINGS_USER) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings settings, before;
    struct problem problem;
    /* A copy that ends where the text does: a byte too far is seen. */
    char *text = malloc(size > 0 ? size : 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    settings_default(&settings);
    before = settings;
    memset(&problem, 0, sizeof(problem));
    if (config_parse(text, size, "FILE", &settings, &problem) == 0) {
        check_ranges(&settings);
        if (settings_finish(&settings, &problem) == 0)
            check_ranges(&settings);
    } else {
        must(memcmp(&settings, &before, sizeof(before)) == 0);
        must(strncmp(problem.text, "FILE:", 5) == 0);
        must(memchr(problem.text, '\0', sizeof(problem.text)) != NULL);
    }
    free(text);
    return 0;
}
