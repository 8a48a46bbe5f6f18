/* SPDX-License-Identifier: MIT */
#include "sleeper.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>

#include <cmocka.h>

#include "../unit/dice.h"

#define READING_NS 30

static int64_t now_of_bed(void *context)
{
    struct bed *bed = context;
    return bed->now_ns += READING_NS;
}

static int sleep_in_bed(void *context, int64_t until_ns)
{
    struct bed *bed = context;
    assert_true(until_ns - bed->now_ns <= SLEEP_SLICE_NS);
    if (until_ns > bed->now_ns)
        bed->now_ns = until_ns;
    bed->now_ns += bed->latency_ns(bed);
    return 0;
}

static const struct sleep_ops sleep_in_virtual_time = {.now_ns = now_of_bed,
                                                       .sleep_until = sleep_in_bed};

void bed_make(struct bed *bed, int64_t period_ns, int64_t (*latency_ns)(struct bed *bed))
{
    struct dice dice = dice_new();
    const struct bed fresh = {.now_ns = SECOND,
                              .chance = dice.state,
                              .seed = dice.state,
                              .latency_ns = latency_ns,
                              .lead_ns = 4 * MICROSECOND,
                              .period_ns = period_ns,
                              .target_ns = SECOND + period_ns};
    *bed = fresh;
    sleeper_init(&bed->sleeper, &sleep_in_virtual_time, bed);
    bed_forget(bed);
}

void bed_wait(struct bed *bed)
{
    struct sleep_wait wait = {0};
    while (bed->target_ns <= bed->now_ns) {
        bed->target_ns += bed->period_ns;
        bed->missed++;
    }
    while (sleep_towards(&wait, &bed->sleeper, bed->target_ns, bed->lead_ns) == SLEEP_AGAIN)
        ;
    bed->waits++;
    bed->slept += wait.margin_ns > 0;
    bed->late += wait.wake_ns > wait.margin_ns;
    if (bed->now_ns < bed->target_ns) {
        bed->polled_ns += bed->target_ns - bed->now_ns;
        bed->now_ns = bed->target_ns;
    }
    bed->target_ns += bed->period_ns;
}

void bed_wait_times(struct bed *bed, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        bed_wait(bed);
}

void bed_forget(struct bed *bed)
{
    bed->began_ns = bed->now_ns;
    bed->polled_ns = 0;
    bed->waits = bed->slept = bed->late = bed->missed = 0;
}

double bed_polled_share(const struct bed *bed)
{
    return (double)bed->polled_ns / (double)(bed->now_ns - bed->began_ns);
}

double bed_late_share(const struct bed *bed)
{
    return (double)bed->late / (double)bed->waits;
}

double bed_chance(struct bed *bed)
{
    struct dice dice = {bed->chance};
    uint64_t roll = dice_roll(&dice);
    bed->chance = dice.state;
    return (double)((roll >> 11) + 1) * 0x1p-53;
}

double bed_exponential(struct bed *bed, double mean)
{
    return -mean * log(bed_chance(bed));
}

int bed_happens(struct bed *bed, double probability)
{
    return bed_chance(bed) <= probability;
}

int64_t latency_usual(struct bed *bed)
{
    double ns = 14000 + bed_exponential(bed, 2000) + bed_exponential(bed, 1500);
    if (bed_happens(bed, 0.03))
        ns += bed_exponential(bed, 12000);
    return (int64_t)ns;
}
