/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct text_span {
    const char *text;
    size_t length;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct text_span trimmed(struct text_span span)
{
    while (span.length > 0 && is_blank(span.text[0])) {
        span.text++;
        span.length--;
    }
    while (span.length > 0 && is_blank(span.text[span.length - 1]))
        span.length--;
    return span;
}

/* A # begins a comment at the start of a line and after a blank: paths may have one. */
static struct text_span without_comment(struct text_span span)
{
    for (size_t i = 0; i < span.length; i++)
        if (span.text[i] == '#' && (i == 0 || is_blank(span.text[i - 1])))
            span.length = i;
    return span;
}

/* Puts the place of the error before its description. */
static int name_place(struct problem *problem, const char *file, unsigned line, const char *key)
{
    struct problem what = *problem;
    return problem_set(problem, "%.200s:%u: %s%s%.250s", file, line, key,
                       key[0] != '\0' ? ": " : "", what.text);
}

static int unknown_key(struct text_span key, struct problem *problem)
{
    char names[160];
    size_t used = 0;
    for (enum settings_key k = 0; k < SETTINGS_KEYS; k++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", k > 0 ? ", " : "",
                                 settings_key_name(k));
    return problem_set(problem, "no key is called \"%.*s\": there are %s",
                       (int)(key.length < 60 ? key.length : 60), key.text, names);
}

/* The number of the line that has set each key; 0: none has yet. */
struct seen {
    unsigned line[SETTINGS_KEYS];
};

static int parse_line(struct text_span line, unsigned number, const char *file, struct seen *seen,
                      struct settings *settings, struct problem *problem)
{
    line = trimmed(without_comment(line));
    if (line.length == 0)
        return 0;
    const char *equals = memchr(line.text, '=', line.length);
    if (equals == NULL) {
        problem_set(problem, "not \"key = value\": write that, or # before a comment");
        return name_place(problem, file, number, "");
    }
    struct text_span key = {line.text, (size_t)(equals - line.text)};
    struct text_span value = {equals + 1, line.length - key.length - 1};
    key = trimmed(key);
    value = trimmed(value);
    enum settings_key found = settings_key_named(key.text, key.length);
    if (found == SETTINGS_KEYS) {
        unknown_key(key, problem);
        return name_place(problem, file, number, "");
    }
    const char *name = settings_key_name(found);
    if (seen->line[found] != 0 && !settings_is_repeatable(found)) {
        problem_set(problem, "set before, in line %u: leave one of the two", seen->line[found]);
        return name_place(problem, file, number, name);
    }
    seen->line[found] = number;
    if (settings_set(settings, found, value.text, value.length, problem) != 0)
        return name_place(problem, file, number, name);
    if (found == SETTINGS_KEY_REFERENCE)
        settings->source_lines[settings->source_count - 1] = number;
    return 0;
}

int config_parse(const char *text, size_t length, const char *file, struct settings *settings,
                 struct problem *problem)
{
    struct settings parsed = *settings;
    struct seen seen = {{0}};
    const char *end = text + length;
    for (unsigned number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        struct text_span line = {text, (size_t)((newline != NULL ? newline : end) - text)};
        if (parse_line(line, number, file, &seen, &parsed, problem) != 0)
            return -1;
        text += line.length + 1;
        if (newline == NULL)
            break;
    }
    *settings = parsed;
    return 0;
}

/*
 * Reads at most one byte more than a configuration may have. Returns the length, or -1 and errno.
 */
static ssize_t read_whole(int fd, char *text)
{
    size_t length = 0;
    while (length <= CONFIG_BYTES) {
        ssize_t got = read(fd, text + length, CONFIG_BYTES + 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static int parse_file(int fd, const char *path, struct settings *settings, struct problem *problem)
{
    static char text[CONFIG_BYTES + 1]; /* not for the stack; one thread reads configurations */
    struct stat status;
    /* Devices too: /dev/null is an empty configuration. */
    if (fstat(fd, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISCHR(status.st_mode)))
        return problem_set(problem, "%s: no regular file: name a text file", path);
    ssize_t length = read_whole(fd, text);
    if (length < 0)
        return problem_of_file(problem, "cannot read", path, errno);
    if (length > CONFIG_BYTES)
        return problem_set(problem, "%s: more than %d bytes: this is no configuration", path,
                           CONFIG_BYTES);
    return config_parse(text, (size_t)length, path, settings, problem);
}

static int cannot_open(struct problem *problem, const char *path, int error)
{
    const char *advice = error == ENOENT ? "name a file that is there" :
        error == EACCES                  ? "let the user that timebased runs as read it" :
                                           "see to it, and start again";
    return problem_set(problem, "cannot read %s: %s: %s", path, strerror(error), advice);
}

int config_read(const char *path, struct settings *settings, struct problem *problem)
{
    /* O_NONBLOCK: opening a pipe does not wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        bool is_missing = errno == ENOENT;
        cannot_open(problem, path, errno);
        return is_missing ? 1 : -1;
    }
    int result = parse_file(fd, path, settings, problem);
    close(fd);
    return result;
}
