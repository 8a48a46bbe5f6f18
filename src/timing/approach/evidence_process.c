/* SPDX-License-Identifier: MIT */
/* What evidence asks of the process that it is in. None of it is asked during an approach. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/auxv.h>

#include "evidence.h"

/* valgrind knows no writes of segment registers, and hides the vDSO. */
int evidence_may_write_es(void)
{
#ifdef __x86_64__
    return getauxval(AT_SYSINFO_EHDR) != 0;
#else
    return 0;
#endif
}

int evidence_cpu_of_kernel(void)
{
    return sched_getcpu();
}

int evidence_is_realtime(void)
{
    int policy = sched_getscheduler(0);
    return policy == SCHED_FIFO || policy == SCHED_RR;
}
