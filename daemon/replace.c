/* SPDX-License-Identifier: MIT */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/settings.h"

static bool write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return fchmod(fd, 0644) == 0;
}

int replace_file(const char *path, const char *text, size_t length, struct problem *problem)
{
    char aside[SETTINGS_PATH + sizeof(".new")];
    snprintf(aside, sizeof(aside), "%s.new", path);
    unlink(aside); /* left by a process that was killed here */
    int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return problem_of_file(problem, "cannot make", path, errno);
    bool is_written = write_all(fd, text, length);
    int error = errno;
    close(fd);
    if (is_written && rename(aside, path) == 0)
        return 0;
    problem_of_file(problem, "cannot write", path, is_written ? errno : error);
    unlink(aside);
    return -1;
}
