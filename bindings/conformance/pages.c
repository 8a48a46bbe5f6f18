/* SPDX-License-Identifier: MIT */
/*
 * pages: files to attach to, good and bad, for the tests of all languages.
 *
 *     pages FOLDER            makes them in a folder that nobody else may write
 *     pages --check FOLDER    attaches to each in C: what the table says is true
 *
 * FOLDER/expected has a line for each: its name, what attaching to FOLDER/name gives (the name of a
 * TIMEBASE_E_..., or OK) and the status of the clock (its name as of timebase_status_name, or -).
 * The good ones tell this machine's time to 50 ms, and stay good for an hour. Only root can make the
 * one that belongs to another user: without it there is none, nor a line for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <timebase.h>

#include "clock/line/fixed.h"
#include "clock/page/publish.h"

#define ERROR_NS 50000000
#define DRIFT_PPM 1000

enum spoilt {
    GOOD,
    MISSING,
    WRITABLE,
    FOREIGN,
    LINKED,
    PIPE,
    FOLDER,
    EMPTY,
    TRUNCATED,
    TEXT,
    VERSION_1,
    HOSTILE,
    OTHER_COUNTER,
    FEATURE,
    NO_LINES,
    NOT_BEGUN,
    OTHER_TIME,
    SILENT,
    EXPIRED,
    ENDLESS
};

static const struct {
    const char *name;
    enum spoilt how;
    int error;
    int status;
} files[] = {
    {"good", GOOD, 0, TIMEBASE_STATUS_SYNCHRONIZED},
    {"missing", MISSING, TIMEBASE_E_NOT_FOUND, -1},
    {"stranger", WRITABLE, TIMEBASE_E_UNTRUSTED, -1}, /* anybody could have written it */
    {"another-s", FOREIGN, TIMEBASE_E_UNTRUSTED, -1},
    {"link", LINKED, TIMEBASE_E_UNTRUSTED, -1},
    {"pipe", PIPE, TIMEBASE_E_UNTRUSTED, -1}, /* who opens it without care waits for ever */
    {"folder", FOLDER, TIMEBASE_E_UNTRUSTED, -1},
    {"empty", EMPTY, TIMEBASE_E_FORMAT, -1},
    {"truncated", TRUNCATED, TIMEBASE_E_FORMAT, -1},
    {"text", TEXT, TIMEBASE_E_FORMAT, -1},
    {"version-1", VERSION_1, TIMEBASE_E_FORMAT, -1},
    {"hostile", HOSTILE, TIMEBASE_E_FORMAT, -1}, /* lines in the wrong order */
    {"endless", ENDLESS, TIMEBASE_E_FORMAT, -1}, /* says that it never expires, and more */
    {"other-counter", OTHER_COUNTER, TIMEBASE_E_UNSUPPORTED, -1},
    {"feature", FEATURE, TIMEBASE_E_UNSUPPORTED, -1},
    {"no-lines", NO_LINES, TIMEBASE_E_STALE, -1},
    {"not-begun", NOT_BEGUN, TIMEBASE_E_STALE, -1},
    {"other-time", OTHER_TIME, TIMEBASE_E_STALE, -1},   /* of another machine, or boot */
    {"silent", SILENT, 0, TIMEBASE_STATUS_FREERUNNING}, /* its daemon is dead */
    {"expired", EXPIRED, 0, TIMEBASE_STATUS_UNKNOWN},   /* and has been for long */
};
#define FILES (sizeof files / sizeof files[0])

#define ANOTHER_USER 54321

static bool is_there(const char *name)
{
    struct stat status;
    return lstat(name, &status) == 0;
}

static const char *error_name(int error)
{
    switch (error) {
    case TIMEBASE_OK:
        return "OK";
    case TIMEBASE_E_NOT_FOUND:
        return "TIMEBASE_E_NOT_FOUND";
    case TIMEBASE_E_UNTRUSTED:
        return "TIMEBASE_E_UNTRUSTED";
    case TIMEBASE_E_FORMAT:
        return "TIMEBASE_E_FORMAT";
    case TIMEBASE_E_UNSUPPORTED:
        return "TIMEBASE_E_UNSUPPORTED";
    case TIMEBASE_E_STALE:
        return "TIMEBASE_E_STALE";
    default:
        return timebase_strerror(error);
    }
}

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The time from now on, at the counter's measured pace. */
static struct timebase_line line_from_now(uint64_t hz)
{
    struct timebase_line line = {0};
    line.start_ticks = timebase_ticks_ordered();
    line.mono_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
    line.utc_ns = (uint64_t)clock_ns(CLOCK_REALTIME);
    line.period_ns = (uint32_t)(1000000000 / hz);
    line.period_frac = fixed_quotient(1000000000 % hz, 0, hz);
    line.flags =
        37u << TIMEBASE_LINE_TAI_SHIFT | TIMEBASE_LINE_TAI_VALID | TIMEBASE_STATUS_SYNCHRONIZED;
    line.maxerror_ns = line.utc_maxerror_ns = ERROR_NS;
    /* 2^-32 ns a tick: the period's own, times ppm. */
    line.drift_rate =
        (uint32_t)((((uint64_t)1000 << 32) / (hz / 1000000 + 1) + 1) * DRIFT_PPM / 1000000);
    return line;
}

static void spoil_lines(struct timebase_lines *lines, enum spoilt how, uint64_t hz)
{
    struct timebase_validity *validity = &lines->validity;
    validity->silent_ticks = 3600 * hz + 1;
    validity->void_ticks = 7200 * hz;
    validity->before_esterror_ns = validity->slew_esterror_ns = validity->after_esterror_ns =
        ERROR_NS;
    if (how == SILENT || how == EXPIRED)
        validity->silent_ticks = 1;
    if (how == EXPIRED)
        validity->void_ticks = 2;
    if (how == ENDLESS)
        validity->void_ticks = TIMEBASE_PAGE_NEVER + 1;
    if (how == HOSTILE)
        lines->after.start_ticks -= hz;
    if (how == NOT_BEGUN)
        lines->before.start_ticks = lines->slew.start_ticks = lines->after.start_ticks += 3600 * hz;
    if (how == OTHER_TIME)
        lines->before.utc_ns = lines->slew.utc_ns = lines->after.utc_ns += 3600000000000;
}

static void make_page(struct timebase_page *page, enum spoilt how, uint64_t hz)
{
    struct timebase_lines lines = {0};
    memset(page, 0, sizeof *page);
    publish_begin(page, timebase_counter_id());
    lines.before = lines.slew = lines.after = line_from_now(hz);
    spoil_lines(&lines, how, hz);
    if (how != NO_LINES)
        publish_lines(page, &lines, how == SILENT || how == EXPIRED ? 0 : 3600 * hz);
    if (how == VERSION_1) {
        page->version = 1;
        page->size = 512;
    }
    if (how == OTHER_COUNTER)
        page->counter_id = timebase_counter_id() == TIMEBASE_COUNTER_S390_TOD
            ? TIMEBASE_COUNTER_ARM_VCNT
            : TIMEBASE_COUNTER_S390_TOD;
    if (how == FEATURE)
        page->incompatible = 1u << 31;
}

static size_t size_of(enum spoilt how)
{
    switch (how) {
    case EMPTY:
        return 0;
    case TRUNCATED:
        return 100;
    case VERSION_1:
        return 512;
    default:
        return TIMEBASE_PAGE_SIZE;
    }
}

static bool write_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_written =
        file >= 0 && fchmod(file, mode) == 0 && write(file, bytes, size) == (ssize_t)size;
    close(file);
    return is_written;
}

static bool make_file(const char *name, enum spoilt how, uint64_t hz)
{
    struct timebase_page page;
    remove(name);
    if (how == MISSING)
        return true;
    if (how == LINKED)
        return symlink("good", name) == 0;
    if (how == PIPE)
        return mkfifo(name, 0644) == 0;
    if (how == FOLDER)
        return mkdir(name, 0755) == 0;
    make_page(&page, how, hz);
    if (how == TEXT)
        memset(&page, '#', sizeof page);
    if (!write_file(name, &page, size_of(how), how == WRITABLE ? 0666 : 0644))
        return false;
    if (how == FOREIGN && chown(name, ANOTHER_USER, (gid_t)-1) != 0)
        unlink(name); /* not root, or in a namespace without this user */
    return true;
}

static int make(void)
{
    struct timebase_counter counter;
    timebase_counter_probe(&counter);
    FILE *expected = fopen("expected", "w");
    for (size_t i = 0; i < FILES; i++) {
        if (expected == NULL || !make_file(files[i].name, files[i].how, counter.frequency_hz)) {
            fprintf(stderr, "pages: %s: %s\n", files[i].name, strerror(errno));
            return 1;
        }
        if (files[i].how == FOREIGN && !is_there(files[i].name))
            continue;
        fprintf(expected, "%s %s %s\n", files[i].name, error_name(files[i].error),
                files[i].status < 0 ? "-" : timebase_status_name(files[i].status));
    }
    return fclose(expected) != 0;
}

static int status_of(const timebase_clock *clock)
{
    struct timebase_instant now;
    timebase_now(clock, &now);
    return (int)(now.flags & TIMEBASE_LINE_STATUS_MASK);
}

static int check(void)
{
    int wrong = 0;
    char folder[4096], path[4200];
    if (getcwd(folder, sizeof folder) == NULL)
        return 1;
    for (size_t i = 0; i < FILES; i++) {
        timebase_clock *clock;
        if (files[i].how == FOREIGN && !is_there(files[i].name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        int error = timebase_clock_attach(&clock, path);
        int status = error == 0 ? status_of(clock) : -1;
        bool is_right = error == files[i].error && status == files[i].status;
        wrong += !is_right;
        printf("%-6s %s: %s, %d\n", is_right ? "" : "WRONG", files[i].name, error_name(error),
               status);
        timebase_clock_detach(clock);
    }
    return wrong != 0;
}

int main(int argc, char **argv)
{
    bool is_check = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (argc != 2 + is_check) {
        fputs("usage: pages [--check] FOLDER\n", stderr);
        return 2;
    }
    if (chdir(argv[argc - 1]) != 0) {
        fprintf(stderr, "pages: %s: %s\n", argv[argc - 1], strerror(errno));
        return 1;
    }
    return is_check ? check() : make();
}
