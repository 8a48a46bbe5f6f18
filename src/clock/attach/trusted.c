/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_PATH */
#include "trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <timebase/error.h>

#include "file_system.h"
#include "clock/counter/uncancelled.h"

#define ROOT 0
#define OTHERS_MAY_WRITE (S_IWGRP | S_IWOTH)

int trusted_error(int error_number)
{
    switch (error_number) {
    case ENOENT:
        return TIMEBASE_E_NOT_FOUND;
    case ELOOP: /* a link, where O_NOFOLLOW forbids one */
    case ENOTDIR:
        return TIMEBASE_E_UNTRUSTED;
    case ENAMETOOLONG:
        return TIMEBASE_E_INVALID;
    default:
        return TIMEBASE_E_PERMISSION;
    }
}

static bool is_owner(const struct stat *stat, uid_t owner)
{
    return stat->st_uid == ROOT || stat->st_uid == owner || stat->st_uid == geteuid();
}

bool trusted_is_safe(const struct stat *stat, uid_t owner)
{
    return is_owner(stat, owner) && !(stat->st_mode & OTHERS_MAY_WRITE);
}

/* Is what lies in this folder there by the will of its owner? */
static int check_folder(int folder, uid_t owner)
{
    struct stat stat;
    if (fstat(folder, &stat) != 0)
        return trusted_error(errno);
    bool is_sticky = stat.st_mode & S_ISVTX;
    if (is_owner(&stat, owner) && (is_sticky || !(stat.st_mode & OTHERS_MAY_WRITE)))
        return TIMEBASE_OK;
    return TIMEBASE_E_UNTRUSTED;
}

/* The user to whom root or this user gave the folder. If others may write to it, its owner vouches
 * for nothing in it. */
static uid_t owner_of(int folder)
{
    struct stat stat;
    bool is_known = fstat(folder, &stat) == 0 && !(stat.st_mode & OTHERS_MAY_WRITE);
    return is_known ? stat.st_uid : ROOT;
}

/* Is [path, end) the service folder, and does its parent let nobody else put one there? */
static bool is_service_folder(const char *path, const char *end, const char *service_folder,
                              int parent)
{
    struct stat stat;
    size_t length = strlen(service_folder);
    return (size_t)(end - path) == length && memcmp(path, service_folder, length) == 0 &&
        fstat(parent, &stat) == 0 && trusted_is_safe(&stat, ROOT);
}

/* Go from *folder to the one below it that [name, end) names. */
static int step_into(int *folder, const char *name, const char *end)
{
    char component[NAME_MAX + 1];
    size_t length = (size_t)(end - name);
    if (length > NAME_MAX)
        return TIMEBASE_E_INVALID;
    memcpy(component, name, length);
    component[length] = '\0';
    int below =
        uncancelled_openat(*folder, component, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = below < 0 ? trusted_error(errno) : TIMEBASE_OK;
    if (error == TIMEBASE_OK) {
        uncancelled_close(*folder);
        *folder = below;
        error = file_system_is_kernels(below) ? TIMEBASE_OK : TIMEBASE_E_UNTRUSTED;
    }
    return error;
}

static int walk(const char *path, const char *last, const char *service_folder, int *folder,
                uid_t *owner)
{
    int error = check_folder(*folder, ROOT);
    for (const char *name = path; name < last && error == TIMEBASE_OK;) {
        const char *end = strchr(name, '/');
        if (end > name) {
            bool is_service = is_service_folder(path, end, service_folder, *folder);
            error = step_into(folder, name, end);
            if (error == TIMEBASE_OK && is_service)
                *owner = owner_of(*folder);
            if (error == TIMEBASE_OK)
                error = check_folder(*folder, is_service ? *owner : ROOT);
        }
        name = end + 1;
    }
    return error;
}

int trusted_folder(const char *path, const char *service_folder, int *folder, const char **name,
                   uid_t *owner)
{
    const char *slash = strrchr(path, '/');
    if (path[0] != '/' || slash[1] == '\0')
        return TIMEBASE_E_INVALID;
    *name = slash + 1;
    *owner = ROOT;
    *folder = uncancelled_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0)
        return trusted_error(errno);
    int error = walk(path, *name, service_folder, folder, owner);
    if (error != TIMEBASE_OK)
        uncancelled_close(*folder);
    return error;
}
