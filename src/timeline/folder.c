/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/error.h>

#define DIGITS 8

int folder_error(int number)
{
    switch (number) {
    case ENOENT:
        return TIMEBASE_E_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return TIMEBASE_E_PERMISSION;
    case ENOTDIR:
    case ELOOP:
    case EISDIR:
        return TIMEBASE_E_FORMAT;
    default:
        return TIMEBASE_E_RESOURCE;
    }
}

int folder_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? folder_error(errno) : fd;
}

void segment_name(uint32_t number, char name[SEGMENT_NAME_SIZE])
{
    for (int i = DIGITS - 1; i >= 0; i--, number /= 10)
        name[i] = (char)('0' + number % 10);
    memcpy(name + DIGITS, ".tbl", 5);
}

/* The number of a segment, or -1 for a name that is none. */
static int64_t number_of(const char *name)
{
    int64_t number = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (name[i] < '0' || name[i] > '9')
            return -1;
        number = number * 10 + (name[i] - '0');
    }
    return strcmp(name + DIGITS, ".tbl") == 0 ? number : -1;
}

/* A new stream each time: two readdir() loops over one descriptor would share their position. */
static DIR *stream_of(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && stream == NULL)
        close(fd);
    return stream;
}

static int64_t next_number(DIR *stream)
{
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        int64_t number = number_of(entry->d_name);
        if (number >= 0)
            return number;
    }
    return -1;
}

static uint64_t size_of(int folder, uint32_t number)
{
    char name[SEGMENT_NAME_SIZE];
    struct stat status;
    segment_name(number, name);
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)status.st_size : 0;
}

int folder_summarise(int folder, struct folder_summary *summary)
{
    static const struct folder_summary nothing;
    DIR *stream = stream_of(folder);
    if (stream == NULL)
        return folder_error(errno);
    *summary = nothing;
    for (int64_t found; (found = next_number(stream)) >= 0;) {
        uint32_t number = (uint32_t)found;
        if (summary->count == 0 || number < summary->oldest)
            summary->oldest = number;
        if (summary->count == 0 || number > summary->newest)
            summary->newest = number;
        summary->size += size_of(folder, number);
        summary->count++;
    }
    closedir(stream);
    return TIMEBASE_OK;
}

static int in_ascending_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int folder_list(int folder, uint32_t **numbers, size_t *count)
{
    size_t room = 0;
    DIR *stream = stream_of(folder);
    *numbers = NULL;
    *count = 0;
    if (stream == NULL)
        return folder_error(errno);
    for (int64_t found; (found = next_number(stream)) >= 0;) {
        if (*count == room) {
            room = room == 0 ? 64 : 2 * room;
            uint32_t *more = realloc(*numbers, room * sizeof(**numbers));
            if (more == NULL) {
                free(*numbers);
                closedir(stream);
                return TIMEBASE_E_RESOURCE;
            }
            *numbers = more;
        }
        (*numbers)[(*count)++] = (uint32_t)found;
    }
    closedir(stream);
    if (*count > 0)
        qsort(*numbers, *count, sizeof(**numbers), in_ascending_order);
    return TIMEBASE_OK;
}

/* O_NONBLOCK: if the name is a pipe, opening it does not block. */
int segment_file_open(int folder, uint32_t number, int flags, uint64_t *size)
{
    char name[SEGMENT_NAME_SIZE];
    struct stat status;
    segment_name(number, name);
    int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return folder_error(errno);
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return TIMEBASE_E_FORMAT;
    }
    *size = (uint64_t)status.st_size;
    return fd;
}

long segment_file_read(int fd, void *bytes, size_t size, uint64_t offset)
{
    size_t length = 0;
    while (length < size) {
        ssize_t got = pread(fd, (char *)bytes + length, size - length, (off_t)(offset + length));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (long)length;
}
