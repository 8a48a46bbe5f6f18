/* SPDX-License-Identifier: MIT */
/*
 * Reading the kernel's small files. They may be missing (chroot, container), refused, empty,
 * endless, or not what they seem: every read is bounded, none waits, and what was not understood
 * counts as absent.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "uncancelled.h"

/* The largest cpuinfo seen, of some 1,500 hardware threads, has a fifth of this. */
enum { STREAM_BYTES_MAX = 1 << 20 };

static const char *root = "";

void counter_set_root(const char *folder)
{
    root = folder;
}

int counter_full_path(const char *path, char *full, size_t size)
{
    size_t root_length = strlen(root), path_length = strlen(path);
    if (root_length + path_length >= size)
        return -1;
    memcpy(full, root, root_length);
    memcpy(full + root_length, path, path_length + 1);
    return 0;
}

/* O_NONBLOCK: should the name turn out to be a pipe, nobody waits for its writer. */
static int open_below_root(const char *path)
{
    char full[512];
    if (counter_full_path(path, full, sizeof(full)) != 0)
        return -1;
    return uncancelled_openat(AT_FDCWD, full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static ssize_t read_some(int fd, void *bytes, size_t size)
{
    ssize_t got;
    do {
        got = uncancelled_read(fd, bytes, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

long counter_read_bytes(const char *path, void *bytes, size_t size)
{
    size_t length = 0;
    ssize_t got = 0;
    int fd = open_below_root(path);
    if (fd < 0)
        return -1;
    while (length < size && (got = read_some(fd, (char *)bytes + length, size - length)) > 0)
        length += (size_t)got;
    uncancelled_close(fd);
    return got < 0 ? -1 : (long)length;
}

/* The length of the first line, blanks at its end not counted. */
static size_t line_length(const char *text, size_t size)
{
    const char *end = memchr(text, '\n', size);
    size_t length = end != NULL ? (size_t)(end - text) : size;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return length;
}

static int is_printable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return 0;
    return 1;
}

int counter_read_line(const char *path, char *text, size_t size)
{
    long got = counter_read_bytes(path, text, size - 1);
    size_t length = got > 0 ? line_length(text, (size_t)got) : 0;
    if (!is_printable(text, length))
        length = 0;
    memset(text + length, 0, size - length);
    return length > 0 ? 0 : -1;
}

int counter_stream_open(struct counter_stream *stream, const char *path)
{
    stream->at = 0;
    stream->end = 0;
    stream->left = STREAM_BYTES_MAX;
    stream->fd = open_below_root(path);
    return stream->fd < 0 ? -1 : 0;
}

void counter_stream_close(struct counter_stream *stream)
{
    uncancelled_close(stream->fd);
}

/* The next character, which stays where it is; -1 at the end. */
static int peek(struct counter_stream *stream)
{
    if (stream->at == stream->end) {
        size_t size = sizeof(stream->bytes) < stream->left ? sizeof(stream->bytes) : stream->left;
        ssize_t got = size > 0 ? read_some(stream->fd, stream->bytes, size) : 0;
        if (got <= 0)
            return -1;
        stream->at = 0;
        stream->end = (size_t)got;
        stream->left -= (size_t)got;
    }
    return stream->bytes[stream->at];
}

static int is_blank(int c)
{
    return c == ' ' || c == '\t';
}

/* At the start of a line: is it "key :"? Stops where the answer is clear. */
static int matches_key(struct counter_stream *stream, const char *key)
{
    for (; *key != '\0'; key++, stream->at++)
        if (peek(stream) != (unsigned char)*key)
            return 0;
    while (is_blank(peek(stream)))
        stream->at++;
    return peek(stream) == ':';
}

int counter_stream_find(struct counter_stream *stream, const char *key)
{
    for (;;) {
        if (matches_key(stream, key)) {
            stream->at++;
            return 1;
        }
        while (peek(stream) != '\n') {
            if (peek(stream) < 0)
                return 0;
            stream->at++;
        }
        stream->at++;
    }
}

size_t counter_stream_word(struct counter_stream *stream, char *word, size_t size)
{
    size_t length = 0;
    while (is_blank(peek(stream)))
        stream->at++;
    for (; peek(stream) > ' '; stream->at++)
        if (length < size - 1)
            word[length++] = (char)peek(stream);
    word[length] = '\0';
    return length;
}
