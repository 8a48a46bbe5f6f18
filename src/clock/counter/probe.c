/* SPDX-License-Identifier: MIT */
/*
 * The order of work. The kernel is heard before the class, which depends on it; the
 * frequency is known before the cost, which is told in picoseconds; the quality comes last.
 *
 * Every read goes through timebase_ticks(), never to the instruction, so that all of this works
 * as well when the OS clock stands in for the counter.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "probe.h"
#include <timebase/error.h>

/* 0 if the kernel does not say, or has more CPUs than anybody sells. */
static int32_t count_cpus(void)
{
    unsigned long mask[8192 / (8 * sizeof(unsigned long))];
    cpu_set_t *set = (cpu_set_t *)mask;
    memset(mask, 0, sizeof(mask));
    if (sched_getaffinity(0, sizeof(mask), set) != 0)
        return 0;
    return CPU_COUNT_S(sizeof(mask), set);
}

static void find_frequency(struct timebase_counter *counter,
                           const struct counter_processor *processor)
{
    struct counter_claim claims[COUNTER_CLAIMS_MAX];
    struct counter_measurement measured = counter_measure_frequency(counter_largest_step(counter));
    size_t count = counter_collect_claims(processor, claims);
    counter_settle_frequency(counter, claims, count, &measured);
}

/* The OS clock is the judge: its second is the second, and there is nobody to check it with. */
static void set_os_frequency(struct timebase_counter *counter)
{
    counter->frequency_hz = 1000000000;
    counter->frequency_error_hz = 0;
    counter->frequency_source = TIMEBASE_FREQUENCY_ARCHITECTED;
    counter->claimed_hz = counter->frequency_hz;
    counter->claimed_source = TIMEBASE_FREQUENCY_ARCHITECTED;
}

TIMEBASE_API int timebase_counter_probe(struct timebase_counter *counter)
{
    struct counter_processor processor;

    if (counter == NULL)
        return TIMEBASE_E_INVALID;
    memset(counter, 0, sizeof(*counter));
    counter->id = timebase_counter_id();
    counter->cpus = count_cpus();

    counter_ask_processor(&processor);
    counter->hypervisor = processor.hypervisor;
    memcpy(counter->hypervisor_name, processor.hypervisor_name, sizeof(counter->hypervisor_name));

    counter_find_class(counter, &processor, counter_ask_kernel(counter));
    counter_find_granularity(counter);
    if (counter->id == TIMEBASE_COUNTER_OS)
        set_os_frequency(counter);
    else
        find_frequency(counter, &processor);
    counter_find_cost(counter);
    counter_judge_quality(counter);
    return TIMEBASE_OK;
}
