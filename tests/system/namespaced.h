/* SPDX-License-Identifier: MIT */
/* namespaced: a child that is the first process of a namespace of process numbers. */
#ifndef TEST_NAMESPACED_H
#define TEST_NAMESPACED_H

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As fork(). The kernels of s390 take the stack before the flags. */
static inline pid_t namespaced_fork(void)
{
    const unsigned long flags = CLONE_NEWPID | SIGCHLD;
#ifdef __s390__
    return (pid_t)syscall(SYS_clone, 0, flags, 0, 0, 0);
#else
    return (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);
#endif
}

#endif
