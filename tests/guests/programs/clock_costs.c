/* SPDX-License-Identifier: MIT */
/*
 * What a reading of a clock costs in this process, and where it lies between two of the kernel's.
 *
 *     clock_costs [READINGS]
 *     clock_costs sleeps CPU
 *
 * The second sleeps on a CPU until a time, 200 times, and prints "sleeps: 0 of 200 read less than they
 * slept until, by 0 ns at most". The first
 * prints for each clock "monotonic: 0 of 100000 behind by 0, ahead by 900 ns, 0 went back; 100
 * ticks, the kernel's 1600: 16.0 times as long".
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <timebase/counter.h>

#include "affinity.h"

enum { ROUNDS = 200, BATCH = 100 };

static const struct {
    const char *name;
    clockid_t id;
} clocks[] = {
    {"realtime", CLOCK_REALTIME}, {"monotonic", CLOCK_MONOTONIC}, {"raw", CLOCK_MONOTONIC_RAW},
    {"boottime", CLOCK_BOOTTIME}, {"tai", CLOCK_TAI},
    {"coarse", CLOCK_MONOTONIC_COARSE},
};

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* Where a long has 32 bits, but time_t has 64. */
#ifdef SYS_clock_gettime64
#define CALL (sizeof(time_t) > sizeof(long) ? SYS_clock_gettime64 : SYS_clock_gettime)
#define I686_VDSO (sizeof(time_t) > sizeof(long) ? "__vdso_clock_gettime64" : "__vdso_clock_gettime")
#else
#define CALL SYS_clock_gettime
#define I686_VDSO "__vdso_clock_gettime"
#endif

static int64_t read_kernel(clockid_t id)
{
    struct timespec time;
    syscall(CALL, id, &time);
    return ns_of(&time);
}

static int64_t read_here(clockid_t id)
{
    struct timespec time;
    clock_gettime(id, &time);
    return ns_of(&time);
}

typedef int clock_function(clockid_t id, struct timespec *out);

/* Big-endian Power's C functions are three words, and dlsym() knows no more than where code begins. */
static void *callable(void *code)
{
#if defined(__powerpc64__) && (!defined(_CALL_ELF) || _CALL_ELF == 1)
    static struct {
        void *code;
        uint64_t table, environment;
    } function;
    function.code = code;
    return code == NULL ? NULL : &function;
#else
    return code;
#endif
}

/* Where the kernel's code in memory is found. */
static clock_function *find_vdso(void)
{
    const char *const names[][2] = {
        {"linux-vdso.so.1", "__vdso_clock_gettime"},     /* x86-64, RISC-V */
        {"linux-vdso.so.1", "__kernel_clock_gettime"},   /* Arm */
        {"linux-vdso64.so.1", "__kernel_clock_gettime"}, /* Power, s390x */
        {"linux-gate.so.1", I686_VDSO},
    };
    clock_function *found = NULL;
    for (unsigned i = 0; found == NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        void *kernels = dlopen(names[i][0], RTLD_LAZY | RTLD_NOLOAD);
        if (kernels != NULL)
            *(void **)&found = callable(dlsym(kernels, names[i][1]));
    }
    return found;
}

/* As clock_gettime() does that nobody stands before: the kernel's code in memory, and what it calls. */
static int64_t read_vdso(clockid_t id)
{
    static clock_function *function;
    struct timespec time;
    if (function == NULL)
        function = find_vdso();
    if (function == NULL)
        return read_kernel(id);
    function(id, &time);
    return ns_of(&time);
}

static uint64_t batch_ticks(int64_t (*read)(clockid_t id), clockid_t id)
{
    uint64_t begin = timebase_ticks_ordered();
    for (int i = 0; i < BATCH; i++)
        read(id);
    return timebase_ticks_ordered() - begin;
}

static int by_size(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

static uint64_t median(uint64_t *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_size);
    return values[ROUNDS / 2];
}

/* What a reading takes, in ticks. In turns, so that both see the same machine. */
static void measure(clockid_t id, double *kernel, double *here)
{
    static uint64_t kernels[ROUNDS], ours[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        kernels[i] = batch_ticks(read_vdso, id);
        ours[i] = batch_ticks(read_here, id);
    }
    *kernel = (double)median(kernels) / BATCH;
    *here = (double)median(ours) / BATCH;
}

static void show(int which, int readings)
{
    clockid_t id = clocks[which].id;
    int64_t last = 0, most_behind = 0, most_ahead = 0;
    int behind = 0, back = 0;
    double kernel_ticks, here_ticks;
    for (int i = 0; i < readings; i++) {
        int64_t before = read_kernel(id), here = read_here(id), after = read_kernel(id);
        behind += here < before;
        back += here < last;
        most_behind = before - here > most_behind ? before - here : most_behind;
        most_ahead = here - after > most_ahead ? here - after : most_ahead;
        last = here;
    }
    measure(id, &kernel_ticks, &here_ticks);
    printf("%s: %d of %d behind by %" PRId64 ", ahead by %" PRId64 " ns, %d went back; %.0f ticks, "
           "the kernel's %.0f: %.1f times as long\n",
           clocks[which].name, behind, readings, most_behind, most_ahead, back, here_ticks,
           kernel_ticks, kernel_ticks / here_ticks);
}

static void sleep_on(int cpu)
{
    enum { SLEEPS = 200 };
    int64_t most_ns = 0;
    int behind = 0;
    go_to(cpu);
    for (int i = 0; i < SLEEPS; i++) {
        int64_t until_ns = read_here(CLOCK_MONOTONIC) + 20000000;
        struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        int64_t short_ns = until_ns - read_here(CLOCK_MONOTONIC);
        behind += short_ns > 0;
        most_ns = short_ns > most_ns ? short_ns : most_ns;
    }
    printf("sleeps: %d of %d read less than they slept until, by %" PRId64 " ns at most\n", behind,
           SLEEPS, most_ns);
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        sleep_on(atoi(argv[2]));
        return 0;
    }
    for (unsigned i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
        show((int)i, argc > 1 ? atoi(argv[1]) : 100000);
    return 0;
}
