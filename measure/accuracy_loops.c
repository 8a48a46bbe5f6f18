/* SPDX-License-Identifier: MIT */
#include "accuracy_loops.h"

#include <stddef.h>

#include "accuracy.h"

#if defined(__x86_64__)

/*
 * The paper's TSC_loop, 64 times: each starts one byte further behind a 64-byte boundary. The
 * paper compares the lower half of the difference; here it is the sign of the whole.
 * They take the target in esi:ecx, and return by themselves.
 */
#define PLACES 64
#define PLACE_BYTES 128 /* from one loop to the next, its own place not counted */

extern const unsigned char bench_paper_loops[];
__asm__(".pushsection .text\n"
        ".p2align 7\n"
        "bench_paper_loops:\n"
        ".set place, 0\n"
        ".rept 64\n"
        ".p2align 7\n"
        ".if place\n"
        ".skip place, 0x90\n"
        ".endif\n"
        "1:\n"
        "    rdtsc\n"
        "    subl %ecx, %eax\n"
        "    sbbl %esi, %edx\n"
        "    js 1b\n"
        "    ret\n"
        ".set place, place + 1\n"
        ".endr\n"
        ".p2align 7\n"
        ".popsection\n");

static void paper_loop(int place, uint64_t target)
{
    uint64_t low = (uint32_t)target, high = target >> 32;
    const unsigned char *loop = bench_paper_loops + PLACE_BYTES * place + place;
    /* The call must not write over what the compiler keeps below the stack pointer. */
    __asm__ __volatile__("leaq -128(%%rsp), %%rsp\n\tcall *%[loop]\n\tleaq 128(%%rsp), %%rsp"
                         : "+c"(low), "+S"(high)
                         : [loop] "r"(loop)
                         : "rax", "rdx", "memory", "cc");
}

static uint64_t read_fenced(void)
{
    __asm__ __volatile__("lfence" : : : "memory");
    return timebase_arch_ticks();
}

/* In a virtual machine CPUID goes to the hypervisor and back. */
static uint64_t read_after_cpuid(void)
{
    unsigned leaf = 0, other = 0;
    __asm__ __volatile__("cpuid" : "+a"(leaf), "+c"(other) : : "ebx", "edx", "memory");
    return timebase_arch_ticks();
}

#else

#define PLACES 1

static void paper_loop(int place, uint64_t target)
{
    (void)place;
    while ((int64_t)(timebase_ticks() - target) < 0)
        ;
}

#endif

#define LOOP(name, read)                                                                           \
    static void name##_loop(int place, uint64_t target)                                            \
    {                                                                                              \
        (void)place;                                                                               \
        while ((int64_t)((read)-target) < 0)                                                       \
            ;                                                                                      \
    }

LOOP(ordered, timebase_ticks_ordered())
#if defined(__x86_64__)
LOOP(fenced, read_fenced())
LOOP(cpuid, read_after_cpuid())
#endif

static const struct loop {
    const char *name;
    void (*until)(int place, uint64_t target);
} loops[] = {
    {"paper", paper_loop},
    {"ordered", ordered_loop},
#if defined(__x86_64__)
    {"lfence", fenced_loop},
    {"cpuid", cpuid_loop},
#endif
};

#define LOOPS ((int)(sizeof loops / sizeof loops[0]))

const char *timebase_bench_loop_name(int loop)
{
    return loop >= 0 && loop < LOOPS ? loops[loop].name : NULL;
}

int timebase_bench_loop_places(void)
{
    return PLACES;
}

bool bench_loop_exists(int loop, int place)
{
    return loop >= 0 && loop < LOOPS && place >= 0 && place < PLACES && (loop == 0 || place == 0);
}

void bench_loop_until(int loop, int place, uint64_t target_ticks)
{
    loops[loop].until(place, target_ticks);
}
