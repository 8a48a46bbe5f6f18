/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 1000 };

static int shown_level = LOG_INFO;

static const struct {
    const char *name;
    int level;
} levels[] = {
    {"error", LOG_ERROR}, {"warning", LOG_WARNING}, {"info", LOG_INFO}, {"debug", LOG_DEBUG}};

int log_level_named(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strlen(levels[i].name) == length && memcmp(levels[i].name, name, length) == 0)
            return levels[i].level;
    return -1;
}

const char *log_level_name(int level)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (levels[i].level == level)
            return levels[i].name;
    return "?";
}

void log_set_level(int level)
{
    shown_level = level;
}

/* Processes inherit the variable even if their standard error goes elsewhere, so the file that it
 * names is compared with ours. */
static bool is_to_journal(void)
{
    const char *journal = getenv("JOURNAL_STREAM");
    char ours[64];
    struct stat status;
    if (journal == NULL || fstat(STDERR_FILENO, &status) != 0)
        return false;
    snprintf(ours, sizeof(ours), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    return strcmp(journal, ours) == 0;
}

/* A path or a source's answer may hold any bytes; a log line stays one line. */
static void tame(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

void log_line(enum log_level level, const char *format, ...)
{
    char text[LINE], line[LINE + 64];
    va_list arguments;
    if ((int)level > shown_level)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    tame(text);
    int length = is_to_journal()
        ? snprintf(line, sizeof(line), "<%d>%s\n", (int)level, text)
        : snprintf(line, sizeof(line), "timebased: %s: %s\n", log_level_name((int)level), text);
    /* A failed write of a log line cannot be reported. */
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
}
