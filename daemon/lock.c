/* SPDX-License-Identifier: MIT */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* If the file is removed this often between opening and locking, that is an error. */
enum { ATTEMPTS = 10, CONTENT = 128 };

/* This boot's id; empty where /proc is missing. */
static void read_boot(char boot[LOCK_BOOT])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, boot, LOCK_BOOT - 1) : 0;
    boot[got > 0 ? got : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

/* "PID BOOT\n": the text of the file; a part that is missing is empty here. */
struct content {
    char pid[16];
    char boot[LOCK_BOOT];
};

static struct content read_content(int fd)
{
    struct content content = {"", ""};
    char text[CONTENT] = "";
    ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    if (sscanf(text, "%15[0-9] %39[0-9a-f-]", content.pid, content.boot) < 1)
        content.pid[0] = '\0';
    return content;
}

static int write_content(int fd)
{
    char text[CONTENT], boot[LOCK_BOOT];
    read_boot(boot);
    int length = snprintf(text, sizeof(text), "%ld %s\n", (long)getpid(), boot);
    if (pwrite(fd, text, (size_t)length, 0) != length)
        return -1;
    return ftruncate(fd, length);
}

bool lock_is_held(const struct lock *lock, int folder_fd, const char *name)
{
    struct stat ours, named;
    return fstat(lock->fd, &ours) == 0 &&
        fstatat(folder_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && ours.st_dev == named.st_dev &&
        ours.st_ino == named.st_ino;
}

static int refuse(int fd, const char *path, struct problem *problem)
{
    struct content content = read_content(fd);
    const char *pid = content.pid[0] != '\0' ? content.pid : "(unknown)";
    return problem_set(problem,
                       "another timebased, process %s, keeps %s: stop that one, or choose another "
                       "--page",
                       pid, path);
}

/* 0: locked, 1: the file was removed meanwhile, -1: *problem. */
static int try_to_take(struct lock *lock, int folder_fd, const char *name, const char *path,
                       struct problem *problem)
{
    lock->fd =
        openat(folder_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (lock->fd < 0)
        return problem_of_file(problem, "cannot open the lock of", path, errno);
    struct stat status;
    if (fstat(lock->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return problem_set(problem, "%s.lock: no regular file: remove it", path);
    if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? refuse(lock->fd, path, problem)
                                    : problem_of_file(problem, "cannot lock", path, errno);
    return lock_is_held(lock, folder_fd, name) ? 0 : 1;
}

/* The previous holder's text says whether its page is of this boot. */
static int sign(struct lock *lock, const char *path, struct problem *problem)
{
    char boot[LOCK_BOOT];
    struct content before = read_content(lock->fd);
    read_boot(boot);
    lock->is_same_boot =
        before.boot[0] == '\0' || boot[0] == '\0' || strcmp(before.boot, boot) == 0;
    if (fchmod(lock->fd, 0600) != 0 || write_content(lock->fd) != 0)
        return problem_of_file(problem, "cannot write the lock of", path, errno);
    return 0;
}

int lock_take(struct lock *lock, int folder_fd, const char *name, const char *path,
              struct problem *problem)
{
    int result = 1;
    for (int attempt = 0; attempt < ATTEMPTS && result > 0; attempt++) {
        result = try_to_take(lock, folder_fd, name, path, problem);
        if (result != 0)
            lock_release(lock);
    }
    if (result > 0)
        return problem_set(problem, "somebody keeps removing %s.lock: see who", path);
    if (result == 0 && sign(lock, path, problem) != 0) {
        lock_release(lock);
        return -1;
    }
    return result;
}

void lock_release(struct lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}
