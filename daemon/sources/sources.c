/* SPDX-License-Identifier: MIT */
/* Which sources there are: from the configuration to open drivers. */
#include "sources.h"

#include <stdlib.h>
#include <string.h>

#include <timebase/error.h>

#include "sources_parts.h"

void sources_set_up(struct sources *sources, const struct settings *settings)
{
    static const struct sources none;
    *sources = none;
    sources->count = settings->source_count;
    if (sources->count == 0) {
        /* Nobody else is asked: the kernel's word, as the sample brings it. */
        memcpy(sources->list[0].name, "kernel", sizeof("kernel"));
        sources->count = 1;
    }
    sources->drift_ppb = settings->drift_ppb;
    sources->read_slew = slew_read;
    sources->slew = slew_unknown();
    sources->known_since_ns = INT64_MIN;
    sources->disrupted_ns = INT64_MIN;
    for (unsigned i = 0; i < settings->source_count; i++) {
        struct source *source = &sources->list[i];
        source->measured_ns = INT64_MIN;
        memcpy(source->name, settings->sources[i], sizeof(source->name));
        char *colon = strchr(source->name, ':');
        size_t length = colon != NULL ? (size_t)(colon - source->name) : strlen(source->name);
        source->argument = colon != NULL ? colon + 1 : NULL;
        source->driver = source_driver_named(source->name, length);
    }
}

void source_close(struct source *source)
{
    if (source->context == NULL)
        return;
    source->driver->close(source->context);
    free(source->context);
    source->context = NULL;
}

/* A driver without anything to remember still gets an address. */
int source_open(struct source *source)
{
    void *context = calloc(1, source->driver->context_size + 1);
    source->context = context;
    source->reason = "no memory";
    if (context == NULL)
        return TIMEBASE_E_REFERENCE;
    int error = source->driver->open(context, source->argument);
    source->reason = source_reason(context);
    if (error != TIMEBASE_OK)
        source_close(source);
    return error;
}

static int name_fault(const struct settings *settings, unsigned which, const char *file,
                      const char *reason, struct problem *problem)
{
    const char *source = settings->sources[which];
    unsigned line = settings->source_lines[which];
    if (line == 0)
        return problem_set(problem, "--reference: %s: %s", source, reason);
    return problem_set(problem, "%.200s:%u: reference: %s: %s", file, line, source, reason);
}

int sources_check(const struct settings *settings, const char *file, struct problem *problem)
{
    static struct sources sources; /* not for the stack; one thread reads configurations */
    int result = 0;
    sources_set_up(&sources, settings);
    for (unsigned i = 0; i < settings->source_count && result == 0; i++)
        if (source_open(&sources.list[i]) == TIMEBASE_E_INVALID)
            result = name_fault(settings, i, file, sources.list[i].reason, problem);
    sources_close(&sources);
    return result;
}

void sources_close(struct sources *sources)
{
    for (unsigned i = 0; i < sources->count; i++)
        source_close(&sources->list[i]);
    sources->count = 0;
}

/* Its driver, begun anew, may date the same measurement earlier, before a disruption. */
static void keep_measurement(struct source *source, const struct sources *before)
{
    for (unsigned i = 0; i < before->count; i++)
        if (strcmp(source->name, before->list[i].name) == 0)
            source->measured_ns = before->list[i].measured_ns;
}

void sources_replace(struct sources *sources, const struct settings *settings)
{
    static struct sources before; /* not for the stack */
    before = *sources;
    sources_close(sources);
    sources_set_up(sources, settings);
    sources->known_since_ns = before.known_since_ns;
    sources->disrupted_ns = before.disrupted_ns;
    sources->marker = before.marker;
    sources->disruptions = before.disruptions;
    sources->is_disputed = before.is_disputed;
    for (unsigned i = 0; i < sources->count; i++)
        keep_measurement(&sources->list[i], &before);
}
