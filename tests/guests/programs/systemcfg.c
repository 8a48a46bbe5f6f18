/* SPDX-License-Identifier: MIT */
/*
 * The clock of "The Power Architecture Time Base register in 64-bit Linux" (2007) beside the
 * kernel's and ours.
 *
 *     systemcfg [READINGS]
 *
 * prints what is in /proc/ppc64/systemcfg, and who keeps its fields; of each clock how far it is
 * from CLOCK_REALTIME, and its smallest step; and what the article's figure 1 shows, the time that
 * so many calls take. examples/power has the readers. Scenarios judge: a kernel's own fields are
 * never far, others may be when whoever keeps them is held up.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../../examples/power/tb_nano.h"

/* 2^-20 s, and what the C library's microseconds add to it. */
#define STEP_NS 954
#define FAR_NS (2 * STEP_NS + 1000)

static int64_t read_kernel(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t ns_of(const struct timeval *time)
{
    return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

static int64_t read_nano(void)
{
    return (int64_t)tb_nano();
}

static int64_t read_libc(void)
{
    struct timeval time;
    tb_libc(&time);
    return ns_of(&time);
}

static int64_t read_gettimeofday(void)
{
    struct timeval time;
    gettimeofday(&time, NULL);
    return ns_of(&time);
}

static int64_t read_ours(void)
{
    return timebase_utc_ns(timebase_clock_default());
}

static const struct reader {
    const char *name;
    int64_t (*read)(void);
} readers[] = {
    {"tb_nano", read_nano},
    {"tb_libc", read_libc},
    {"gettimeofday", read_gettimeofday},
    {"ours", read_ours},
};
#define READERS (sizeof readers / sizeof readers[0])

/* From the nearest end of what the kernel said before and after. */
static int64_t distance_ns(int64_t before_ns, int64_t read_ns, int64_t after_ns)
{
    return read_ns < before_ns ? read_ns - before_ns : read_ns > after_ns ? read_ns - after_ns : 0;
}

static void compare(const struct reader *reader, int readings)
{
    int far = 0;
    int64_t sum_ns = 0, last_ns = 0, step_ns = INT64_MAX;
    for (int i = 0; i < readings; i++) {
        int64_t before_ns = read_kernel(), read_ns = reader->read(), after_ns = read_kernel();
        int64_t off_ns = distance_ns(before_ns, read_ns, after_ns);
        far += off_ns < -FAR_NS || off_ns > FAR_NS;
        sum_ns += off_ns;
        if (i > 0 && read_ns > last_ns && read_ns - last_ns < step_ns)
            step_ns = read_ns - last_ns;
        last_ns = read_ns;
    }
    printf("%s: %d of %d more than %d ns from CLOCK_REALTIME, mean %" PRId64
           " ns, smallest step %" PRId64 " ns\n",
           reader->name, far, readings, FAR_NS, sum_ns / readings, step_ns);
}

static int64_t time_of_calls_us(const struct reader *reader, int calls)
{
    int64_t begin_ns = timebase_mono_ns(timebase_clock_default());
    for (int i = 0; i < calls; i++)
        reader->read();
    return (timebase_mono_ns(timebase_clock_default()) - begin_ns) / 1000;
}

static void print_figure_1(int most)
{
    for (int part = 1; part <= 4; part++) {
        printf("figure 1: %d calls", most / 4 * part);
        for (unsigned i = 0; i < READERS; i++)
            printf("%s %s %" PRId64 " us", i == 0 ? ":" : ",", readers[i].name,
                   time_of_calls_us(&readers[i], most / 4 * part));
        printf("\n");
    }
}

int main(int count, char **arguments)
{
    int readings = count > 1 ? atoi(arguments[1]) : 100000;
    int from = systemcfg_open(NULL);
    if (from < 0 || readings < 4)
        return 2;
    printf("%.15s %" PRIu32 ".%" PRIu32 ": fields %s: tb_ticks_per_sec %" PRIu64
           ", tb_to_xs %" PRIu64 ", stamp_xsec %" PRIu64 ", tb_update_count %" PRIu64 "\n",
           cfg->eye_catcher, cfg->version.major, cfg->version.minor,
           from == 0 ? "of the file" : "of our own", cfg->tb_ticks_per_sec, cfg->tb_to_xs,
           cfg->stamp_xsec, cfg->tb_update_count);
    for (unsigned i = 0; i < READERS; i++)
        compare(&readers[i], readings);
    print_figure_1(readings);
    return 0;
}
