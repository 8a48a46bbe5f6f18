/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <signal.h>
#include <string.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "writer.h"
#include "log.h"
#include "config/settings.h"

/* Publications from one attempt to open it to the next: a minute at the usual pace. */
enum { RETRY = 240 };

static struct timeline_writer writer;
static char folder[SETTINGS_PATH];
static uint64_t bytes_max;
static bool is_open;
static int told; /* the error that was logged last; 0 */
static uint64_t failures;
static unsigned retry; /* publications to go */

/* The library's words ask who reads a timeline for its writer, which we are. */
static const char *reason(int error)
{
    return error == TIMEBASE_E_NOT_FOUND ? "the folder, or the one above it, is not there"
                                         : timebase_strerror(error);
}

static void tell(int error)
{
    failures += error != TIMEBASE_OK;
    if (error == told)
        return;
    if (error != TIMEBASE_OK)
        log_line(LOG_WARNING, "timeline %s: %s: publications go on without it; see to the folder",
                 folder, reason(error));
    else
        log_line(LOG_INFO, "timeline %s: written again", folder);
    told = error;
}

static void try_to_open(void)
{
    int error = timeline_writer_open(&writer, folder, bytes_max, timebase_counter_id());
    is_open = error == TIMEBASE_OK;
    retry = RETRY;
    tell(error);
}

void timeline_recorder_open(const char *path, uint64_t bytes)
{
    /* With RLIMIT_FSIZE a write should fail and not end the daemon. */
    signal(SIGXFSZ, SIG_IGN);
    strncpy(folder, path, sizeof(folder) - 1);
    bytes_max = bytes;
    told = 0;
    if (folder[0] != '\0')
        try_to_open();
}

/* The folder was removed, so the open file has no name: the next publication makes a new one. */
static void leave_folder(void)
{
    timeline_writer_close(&writer);
    is_open = false;
    retry = 1;
}

void timeline_recorder_append(const struct timebase_lines *lines, uint64_t published_ticks,
                              bool is_disrupted)
{
    if (folder[0] == '\0')
        return;
    if (!is_open && --retry == 0)
        try_to_open();
    if (!is_open)
        return;
    int error =
        is_disrupted ? timeline_writer_mark(&writer, TIMELINE_MARK_DISRUPTION) : TIMEBASE_OK;
    int appended = timeline_writer_append(&writer, lines, published_ticks);
    tell(error != TIMEBASE_OK ? error : appended);
    if (appended == TIMEBASE_E_NOT_FOUND)
        leave_folder();
}

uint64_t timeline_recorder_bytes(void)
{
    return is_open ? timeline_writer_size(&writer) : 0;
}

uint64_t timeline_recorder_failures(void)
{
    return failures;
}

void timeline_recorder_close(void)
{
    if (is_open) {
        timeline_writer_mark(&writer, TIMELINE_MARK_END);
        timeline_writer_close(&writer);
    }
    is_open = false;
    folder[0] = '\0';
}
