/* SPDX-License-Identifier: MIT */
/*
 * simulated: a claim from a text file, read anew each time, for tests and demonstrations:
 *
 *     offset_ns error_ns synchronized [disruption_marker]
 *
 * one line, the third word 0 or 1. Write it aside and rename it, so that nobody reads half of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <timebase/error.h>

#include "clock/counter/readable.h"
#include "decimal.h"
#include "drivers.h"

enum { PATH_SIZE = 512, TEXT_SIZE = 128 };

struct simulated {
    const char *reason;
    char path[PATH_SIZE];
};

static int fail(struct simulated *simulated, int error, const char *reason)
{
    simulated->reason = reason;
    return error;
}

static int open_simulated(void *context, const char *argument)
{
    struct simulated *simulated = (struct simulated *)context;
    simulated->reason = NULL;
    if (argument == NULL || argument[0] == '\0')
        return fail(simulated, TIMEBASE_E_INVALID, "needs a file: simulated:PATH");
    if (strlen(argument) >= PATH_SIZE)
        return fail(simulated, TIMEBASE_E_INVALID, "the path is too long");
    strcpy(simulated->path, argument);
    return TIMEBASE_OK;
}

/* Up to size bytes: how many, or -1. A pipe is not waited for. */
static ssize_t read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, text, size);
    close(fd);
    return got;
}

/* The numbers of the line, 3 or 4. False if it is anything else. */
static bool parse(const char *text, size_t length, int64_t numbers[4])
{
    struct decimal_field field;
    size_t count = 0;
    if (length > 0 && text[length - 1] == '\n')
        length--;
    while (decimal_next(&text, &length, ' ', &field)) {
        if (count == 4 || !decimal_parse(field.text, field.length, 0, &numbers[count++]))
            return false;
    }
    return count >= 3 && numbers[1] >= 0 && (numbers[2] == 0 || numbers[2] == 1) && numbers[3] >= 0;
}

static int claim_simulated(void *context, struct claim *claim)
{
    struct simulated *simulated = (struct simulated *)context;
    char text[TEXT_SIZE];
    int64_t numbers[4] = {0};
    int64_t mono_ns = counter_clock_ns(CLOCK_MONOTONIC);
    ssize_t length = read_file(simulated->path, text, sizeof(text));
    if (length < 0 && errno == EACCES)
        return fail(simulated, TIMEBASE_E_PERMISSION, "the file may not be read");
    if (length < 0 || mono_ns == INT64_MIN)
        return fail(simulated, TIMEBASE_E_REFERENCE, "the file cannot be read");
    if (length == sizeof(text) || !parse(text, (size_t)length, numbers))
        return fail(simulated, TIMEBASE_E_FORMAT,
                    "the file is not one line: offset_ns error_ns synchronized [marker]");
    simulated->reason = NULL;
    *claim = (struct claim){
        .mono_ns = mono_ns,
        .measured_ns = mono_ns,
        .offset_ns = numbers[0],
        .error_ns = (uint64_t)numbers[1],
        .is_synchronized = numbers[2] == 1,
        .disruption_marker = (uint64_t)numbers[3],
    };
    return TIMEBASE_OK;
}

static void close_simulated(void *context)
{
    (void)context;
}

const struct source_driver source_driver_simulated = {
    .name = "simulated",
    .is_witness = true,
    .context_size = sizeof(struct simulated),
    .open = open_simulated,
    .claim = claim_simulated,
    .close = close_simulated,
};
