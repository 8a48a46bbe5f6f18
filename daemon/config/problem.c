/* SPDX-License-Identifier: MIT */
#include "problem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int problem_set(struct problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    return -1;
}

static const char *advice(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "give the folder to the user that timebased runs as, or choose another path";
    case ENOENT:
        return "make the folder that holds it, or choose another path";
    case ENOTDIR:
        return "part of the path is no folder, or only a link to one: name the place itself";
    case EROFS:
        return "mount a writable file system there (a tmpfs will do), or choose another path";
    case ENOSPC:
    case EDQUOT:
        return "the file system is full: free some space";
    case ELOOP:
        return "it is a symbolic link, and none is followed: name the place itself";
    case ENAMETOOLONG:
        return "choose a shorter path";
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files";
    default:
        return "see to it, and start again";
    }
}

int problem_of_file(struct problem *problem, const char *what, const char *path, int error)
{
    return problem_set(problem, "%s %s: %s: %s", what, path, strerror(error), advice(error));
}
