/* SPDX-License-Identifier: MIT */
/*
 * source_probe SOURCE[:ARGUMENT] COUNT INTERVAL_MS: prints so many different claims of a source
 * as lines of JSON. A failure is a line too. Gives up after ten times the time that it should take.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <timebase/error.h>
#include <timebase/page.h>

#include "daemon/sources/claim.h"

static void print_claim(const struct claim *claim)
{
    printf("{\"mono_ns\": %" PRId64 ", \"offset_ns\": %" PRId64 ", \"error_ns\": %" PRIu64
           ", \"dispersion_ppb\": %" PRIu32 ", \"flags\": %" PRIu32 ", \"is_synchronized\": %s}\n",
           claim->mono_ns, claim->offset_ns, claim->error_ns, claim->dispersion_ppb, claim->flags,
           claim->is_synchronized ? "true" : "false");
    fflush(stdout);
}

static void print_failure(int error, const char *reason)
{
    printf("{\"error\": %d, \"reason\": \"%s\"}\n", error, reason);
    fflush(stdout);
}

static void pause_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static int print_claims(const struct source_driver *source, void *context, long count, long ms)
{
    int64_t last_ns = INT64_MIN;
    for (long tries = 10 * count; count > 0 && tries > 0; tries--) {
        struct claim claim;
        int error = source->claim(context, &claim);
        if (error != TIMEBASE_OK && error != TIMEBASE_E_BUSY) {
            print_failure(error, source_reason(context));
            count--;
        } else if (error == TIMEBASE_OK && claim.mono_ns != last_ns) {
            print_claim(&claim);
            last_ns = claim.mono_ns;
            count--;
        }
        pause_ms(ms);
    }
    return count == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static union source_context context;
    if (argc != 4) {
        fprintf(stderr, "usage: source_probe SOURCE[:ARGUMENT] COUNT INTERVAL_MS\n");
        return 2;
    }
    const char *colon = strchr(argv[1], ':');
    size_t length = colon != NULL ? (size_t)(colon - argv[1]) : strlen(argv[1]);
    const struct source_driver *source = source_driver_named(argv[1], length);
    if (source == NULL) {
        fprintf(stderr, "source_probe: no source %s\n", argv[1]);
        return 2;
    }
    int status = 1;
    int error = source->open(&context, colon != NULL ? colon + 1 : NULL);
    if (error != TIMEBASE_OK)
        print_failure(error, source_reason(&context));
    else
        status = print_claims(source, &context, atol(argv[2]), atol(argv[3]));
    source->close(&context);
    return status;
}
