/* SPDX-License-Identifier: MIT */
#include "shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/error.h>

#include "file_system.h"
#include "trusted.h"
#include "clock/counter/uncancelled.h"
#include "clock/page/validate.h"

/* A copy takes a microsecond, and nobody publishes so often. */
#define COPY_ATTEMPTS 8
/* Descriptors that a program may take for its own standard ones. */
#define STANDARD_FDS 3

static int away_from_standard(int fd)
{
    if (fd < 0 || fd >= STANDARD_FDS)
        return fd;
    int other = fcntl(fd, F_DUPFD_CLOEXEC, STANDARD_FDS);
    uncancelled_close(fd);
    return other;
}

static int check(const struct shared_file *file, const struct stat *stat)
{
    if (!S_ISREG(stat->st_mode) || !trusted_is_safe(stat, file->owner))
        return TIMEBASE_E_UNTRUSTED;
    return stat->st_size >= (off_t)TIMEBASE_PAGE_SIZE ? TIMEBASE_OK : TIMEBASE_E_FORMAT;
}

/*
 * Looks at the file before opening it, because opening some devices acts on them; and after,
 * because by then the name may lead to another file. O_NONBLOCK: if that is a pipe, nobody waits
 * for its writer.
 */
static int open_in(struct shared_file *file, int folder, const char *name)
{
    struct stat stat;
    if (fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) != 0)
        return trusted_error(errno);
    int error = check(file, &stat);
    if (error != TIMEBASE_OK)
        return error;
    file->fd = away_from_standard(uncancelled_openat(
        folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file->fd < 0)
        return trusted_error(errno);
    error = fstat(file->fd, &stat) == 0 ? check(file, &stat) : trusted_error(errno);
    if (error == TIMEBASE_OK && !file_system_is_kernels(file->fd))
        error = TIMEBASE_E_UNTRUSTED;
    file->device = stat.st_dev;
    file->inode = stat.st_ino;
    if (error == TIMEBASE_OK)
        return TIMEBASE_OK;
    uncancelled_close(file->fd);
    file->fd = -1;
    return error;
}

int shared_file_open(struct shared_file *file, const char *path, const char *service_folder)
{
    const char *name;
    int folder;
    file->fd = -1;
    int error = trusted_folder(path, service_folder, &folder, &name, &file->owner);
    if (error != TIMEBASE_OK)
        return error;
    error = open_in(file, folder, name);
    uncancelled_close(folder);
    return error;
}

static bool is_ours(const struct shared_file *file, struct stat *stat)
{
    return file->fd >= 0 && fstat(file->fd, stat) == 0 && stat->st_dev == file->device &&
        stat->st_ino == file->inode;
}

bool shared_file_is_open(const struct shared_file *file)
{
    struct stat stat;
    return is_ours(file, &stat);
}

void shared_file_close(struct shared_file *file)
{
    struct stat stat;
    if (is_ours(file, &stat))
        uncancelled_close(file->fd);
    file->fd = -1;
}

int shared_file_read(const struct shared_file *file, void *bytes, size_t size, long offset)
{
    ssize_t got;
    do {
        got = uncancelled_pread(file->fd, bytes, size, offset);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return TIMEBASE_E_PERMISSION;
    return (size_t)got == size ? TIMEBASE_OK : TIMEBASE_E_FORMAT;
}

static int read_seq(const struct shared_file *file, uint64_t *seq)
{
    int error = shared_file_read(file, seq, sizeof(*seq), offsetof(struct timebase_page, seq));
    return error == TIMEBASE_OK && *seq == 0 ? TIMEBASE_E_STALE : error;
}

/* Never reads a file that the program has opened under the same number: to read some devices acts
 * on them. */
int shared_file_seq(const struct shared_file *file, uint64_t *seq)
{
    return shared_file_is_open(file) ? read_seq(file, seq) : TIMEBASE_E_NOT_FOUND;
}

/*
 * The reader's side of the page's protocol, by system calls. The kernel loads on behalf of this
 * thread, so the fences that order a reader's loads order these, too.
 */
static int copy_once(const struct shared_file *file, struct timebase_page *copy)
{
    uint64_t seq, again;
    int error = read_seq(file, &seq);
    if (error != TIMEBASE_OK)
        return error;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* (A) */
    error = shared_file_read(file, copy, sizeof(*copy), 0);
    if (error != TIMEBASE_OK)
        return error;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* (C) */
    error = read_seq(file, &again);
    if (error != TIMEBASE_OK)
        return error;
    copy->seq = seq;
    return again == seq ? TIMEBASE_OK : TIMEBASE_E_TORN;
}

int shared_file_copy(const struct shared_file *file, struct timebase_page *copy)
{
    struct stat stat;
    if (!is_ours(file, &stat) || stat.st_nlink == 0)
        return TIMEBASE_E_NOT_FOUND;
    int error = check(file, &stat);
    if (error != TIMEBASE_OK)
        return error;
    error = TIMEBASE_E_TORN;
    for (int attempt = 0; attempt < COPY_ATTEMPTS && error == TIMEBASE_E_TORN; attempt++)
        error = copy_once(file, copy);
    return error == TIMEBASE_OK ? validate_page(copy, TIMEBASE_PAGE_CORRECTED_BY_CPU) : error;
}
