/* SPDX-License-Identifier: MIT */
/* sandbox: a child goes on with a filter of its system calls, or is skipped where there is none. */
#ifndef TEST_SANDBOX_H
#define TEST_SANDBOX_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "child.h"

#define SANDBOX_CALLS_MAX 40

/* Calls of the list meet `with`, all others `other`. The list ends with -1. */
static inline void sandbox_enter(const int *calls, unsigned with, unsigned other)
{
    struct sock_filter filter[2 * SANDBOX_CALLS_MAX + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short length = 1;
    for (; *calls >= 0 && length < 2 * SANDBOX_CALLS_MAX; calls++) {
        struct sock_filter is_it = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)*calls, 0, 1);
        struct sock_filter then = BPF_STMT(BPF_RET | BPF_K, with);
        filter[length++] = is_it;
        filter[length++] = then;
    }
    struct sock_filter otherwise = BPF_STMT(BPF_RET | BPF_K, other);
    filter[length++] = otherwise;
    EXPECT(*calls < 0);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        child_skip("no seccomp filters here");
}

/* From here on the calls of the list fail with this errno. */
static inline void sandbox_refuse(const int *calls, int error)
{
    sandbox_enter(calls, SECCOMP_RET_ERRNO | (unsigned)error, SECCOMP_RET_ALLOW);
}

#endif
