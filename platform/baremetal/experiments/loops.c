/* SPDX-License-Identifier: MIT */
#include "loops.h"

#include <string.h>

#include <cpuid.h>

#define CODE(name) extern const char loop_##name[], loop_##name##_end[]
CODE(rdtsc);
CODE(lfence);
CODE(rdtscp);
CODE(cpuid);
CODE(rdmsr);
extern const char delayed_loop[], delayed_loop_end[];

const struct loop_code loops[LOOPS] = {
    {"rdtsc", loop_rdtsc, loop_rdtsc_end},    {"lfence", loop_lfence, loop_lfence_end},
    {"rdtscp", loop_rdtscp, loop_rdtscp_end}, {"cpuid", loop_cpuid, loop_cpuid_end},
    {"rdmsr", loop_rdmsr, loop_rdmsr_end},
};
const struct loop_code loops_delayed = {"table", delayed_loop, delayed_loop_end};

/* Everything in memory may be executed here. */
static char place[512] __attribute__((aligned(64)));

void *loops_place(const struct loop_code *code, unsigned offset)
{
    unsigned a, b, c, d;
    memcpy(place + offset, code->begin, (size_t)(code->end - code->begin));
    __cpuid(0, a, b, c, d); /* serialises: the processor forgets what it had fetched from there */
    return place + offset;
}
