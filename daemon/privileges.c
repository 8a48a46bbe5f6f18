/* SPDX-License-Identifier: MIT */
#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

static int become(const struct passwd *user, struct problem *problem)
{
    if (initgroups(user->pw_name, user->pw_gid) != 0 ||
        setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
        setresuid(user->pw_uid, user->pw_uid, user->pw_uid) != 0)
        return problem_set(problem,
                           "user: cannot become %s: %s: start as root, or leave the key out",
                           user->pw_name, strerror(errno));
    return 0;
}

int privileges_drop(const char *name, int folder_fd, int is_folder_ours, struct problem *problem)
{
    if (name[0] == '\0')
        return 0;
    errno = 0;
    const struct passwd *user = getpwnam(name);
    if (user == NULL)
        return problem_set(problem, "user: there is no user %s: make one (useradd --system %s)",
                           name, name);
    if (user->pw_uid == geteuid())
        return 0;
    if (is_folder_ours && fchown(folder_fd, user->pw_uid, user->pw_gid) != 0)
        return problem_set(problem, "user: cannot give the page's folder to %s: %s", name,
                           strerror(errno));
    return become(user, problem);
}

int privileges_lock_memory(struct problem *problem)
{
    /* On fault: of the C library's megabytes only some hundred kB are used. */
    if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0)
        return 0;
    return problem_set(problem, "cannot lock memory: %s: raise LimitMEMLOCK to 16M",
                       strerror(errno));
}
