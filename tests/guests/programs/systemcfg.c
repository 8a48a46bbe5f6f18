/* SPDX-License-Identifier: MIT */
/*
 * The clock of "The Power Architecture Time Base register in 64-bit Linux" (2007) from the kernel's
 * own /proc/ppc64/systemcfg, beside ours.
 *
 *     systemcfg [READINGS]
 *
 * prints what the kernel has in the fields. Where it keeps them, it goes on:
 * "tb_nano: 0 of 100000 more than 2000 ns from CLOCK_REALTIME, mean -950 ns, steps of 953 ns", with
 * 1,048,576 steps a second; the same of what the C library of then made of it, and of ours. Exits
 * with 1 if there was one of the first or the third, 3 where the kernel no longer keeps the fields.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "measure/tb_libc_2007.h"

/* asm-ppc64/systemcfg.h of Linux 2.6.12, version 1.1: part of the kernel's interface ever since. */
struct kernels_systemcfg {
    char eye_catcher[16]; /* "SYSTEMCFG:PPC64" */
    uint32_t version_major, version_minor, platform, processor;
    uint64_t processor_count, memory_size;
    uint64_t tb_orig_stamp, tb_ticks_per_sec, tb_to_xs, stamp_xsec, tb_update_count;
};

/* 2^-20 s, and what the C library's microseconds add to it. */
#define STEP_NS 954
#define FAR_NS (2 * STEP_NS + 1000)

static const struct kernels_systemcfg *kernels;

static const struct kernels_systemcfg *map_kernels(void)
{
    int fd = open("/proc/ppc64/systemcfg", O_RDONLY);
    void *mapped =
        fd < 0 ? MAP_FAILED : mmap(NULL, (size_t)getpagesize(), PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        perror("systemcfg: /proc/ppc64/systemcfg");
        exit(2);
    }
    return mapped;
}

/* A whole copy of what the kernel writes: its count is even and the same before and after. */
static struct systemcfg_2007 copy_kernels(void)
{
    struct systemcfg_2007 copy;
    uint64_t count;
    do {
        count = __atomic_load_n(&kernels->tb_update_count, __ATOMIC_ACQUIRE);
        copy = (struct systemcfg_2007){
            .tb_orig_stamp = timebase_page_word(&kernels->tb_orig_stamp),
            .tb_to_xs = timebase_page_word(&kernels->tb_to_xs),
            .stamp_xsec = timebase_page_word(&kernels->stamp_xsec),
        };
        /* partner: smp_wmb() of the kernel's update_gtod() */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while ((count & 1) != 0 ||
             __atomic_load_n(&kernels->tb_update_count, __ATOMIC_RELAXED) != count);
    return copy;
}

static int64_t read_kernel(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t read_nano(void)
{
    struct systemcfg_2007 copy = copy_kernels();
    return (int64_t)tb_nano_2007(&copy);
}

static int64_t read_libc(void)
{
    struct systemcfg_2007 copy = copy_kernels();
    struct timeval time;
    tb_libc_2007(&copy, &time);
    return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

static int64_t read_ours(void)
{
    return timebase_utc_ns(timebase_clock_default());
}

/* From the nearest end of what the kernel said before and after. */
static int64_t distance_ns(int64_t before_ns, int64_t read_ns, int64_t after_ns)
{
    return read_ns < before_ns ? read_ns - before_ns : read_ns > after_ns ? read_ns - after_ns : 0;
}

static uint64_t compare(const char *name, int64_t (*read)(void), int readings)
{
    uint64_t far = 0, step_ns = UINT64_MAX;
    int64_t sum_ns = 0, last_ns = 0;
    for (int i = 0; i < readings; i++) {
        int64_t before_ns = read_kernel(), read_ns = read(), after_ns = read_kernel();
        int64_t off_ns = distance_ns(before_ns, read_ns, after_ns);
        far += off_ns < -FAR_NS || off_ns > FAR_NS;
        sum_ns += read_ns - before_ns - (after_ns - before_ns) / 2;
        if (i > 0 && read_ns > last_ns && (uint64_t)(read_ns - last_ns) < step_ns)
            step_ns = (uint64_t)(read_ns - last_ns);
        last_ns = read_ns;
    }
    printf("%s: %" PRIu64 " of %d more than %d ns from CLOCK_REALTIME, mean %" PRId64
           " ns, smallest step %" PRIu64 " ns\n",
           name, far, readings, FAR_NS, sum_ns / readings, step_ns);
    return far;
}

int main(int count, char **arguments)
{
    int readings = count > 1 ? atoi(arguments[1]) : 100000;
    kernels = map_kernels();
    printf("%.15s %" PRIu32 ".%" PRIu32 ": tb_ticks_per_sec %" PRIu64 ", tb_to_xs %" PRIu64
           ", stamp_xsec %" PRIu64 ", tb_update_count %" PRIu64 "\n",
           kernels->eye_catcher, kernels->version_major, kernels->version_minor,
           kernels->tb_ticks_per_sec, kernels->tb_to_xs, kernels->stamp_xsec,
           kernels->tb_update_count);
    if (kernels->tb_to_xs == 0) {
        printf("the kernel keeps the fields no longer\n");
        return 3;
    }
    uint64_t far = compare("tb_nano", read_nano, readings);
    far += compare("tb_libc", read_libc, readings);
    compare("ours", read_ours, readings);
    return far > 0;
}
