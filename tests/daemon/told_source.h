/* SPDX-License-Identifier: MIT */
/* told_source: sources that say what a test tells them to, in place of the library's table. */
#ifndef TEST_TOLD_SOURCE_H
#define TEST_TOLD_SOURCE_H

#include <string.h>

#include <timebase/error.h>

#include "daemon/config/source_names.h"
#include "daemon/sources/claim.h"

enum { TOLD_SOURCES = 3 };

static struct told_source {
    struct claim claim;
    int open_error, claim_error;
    int fd; /* 0: none */
    unsigned opened, asked, closed;
    char argument[32];
} told_sources[TOLD_SOURCES];

struct told_context {
    const char *reason;
    struct told_source *source;
};

static int open_told(void *context, const char *argument)
{
    int which = argument != NULL ? argument[0] - '0' : 0;
    struct told_source *source = &told_sources[which];
    struct told_context *told = context;
    told->source = source;
    told->reason = "told not to open";
    source->opened += source->open_error == TIMEBASE_OK;
    strncpy(source->argument, argument != NULL ? argument : "", sizeof(source->argument) - 1);
    return source->open_error;
}

static int claim_told(void *context, struct claim *claim)
{
    struct told_context *told = context;
    struct told_source *source = told->source;
    told->reason = source->claim_error != TIMEBASE_OK ? "told not to answer" : NULL;
    source->asked++;
    *claim = source->claim;
    return source->claim_error;
}

static void close_told(void *context)
{
    ((struct told_context *)context)->source->closed++;
}

static int fd_told(const void *context)
{
    int fd = ((const struct told_context *)context)->source->fd;
    return fd > 0 ? fd : -1;
}

static const struct source_driver told_driver = {.name = "told",
                                                 .context_size = sizeof(struct told_context),
                                                 .open = open_told,
                                                 .claim = claim_told,
                                                 .fd = fd_told,
                                                 .close = close_told};
/* The same, and says of itself that a term is missing. */
__attribute__((unused)) static const struct source_driver told_estimate = {
    .name = "told",
    .context_size = sizeof(struct told_context),
    .is_estimate = true,
    .open = open_told,
    .claim = claim_told,
    .close = close_told};
const struct source_driver *const source_drivers[] = {&told_driver, NULL};
const char *const source_names[] = {"kernel", "told", NULL};

const struct source_driver *source_driver_named(const char *name, size_t length)
{
    return length == 4 && memcmp(name, "told", 4) == 0 ? &told_driver : NULL;
}

#endif
