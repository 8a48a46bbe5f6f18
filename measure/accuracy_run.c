/* SPDX-License-Identifier: MIT */
#include "accuracy_run.h"

#include <stddef.h>

#define NS_PER_SEC 1000000000

struct timespec bench_run_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SEC),
                             .tv_nsec = (long)(ns % NS_PER_SEC)};
}

int64_t bench_run_due_ns(const struct bench_run *run, uint32_t period)
{
    return run->start_ns + (int64_t)(period * run->schedule->period_ns);
}

bool bench_run_is_over(const struct bench_run *run)
{
    return run->due > run->schedule->periods || run->result < 0;
}

void bench_run_keep(struct bench_run *run, uint64_t target_ticks, bool late, uint32_t disturbance,
                    int32_t mechanism)
{
    struct timebase_bench_hit *hit = &run->hits[run->hits_made];
    *hit = (struct timebase_bench_hit){0};
    int result = bench_event_hit(&run->event, target_ticks, hit);
    if (result < 0) {
        run->result = result;
        return;
    }
    hit->late = late;
    hit->disturbance = disturbance;
    hit->mechanism = mechanism;
    run->hits_made++;
}

void bench_run_dispatch(struct bench_run *run, uint64_t expired)
{
    bench_event_expect(&run->event, run->schedule->instrument, timebase_ticks());
    bench_event_take(&run->event);
    if (bench_run_is_over(run))
        return;
    int64_t due = bench_run_due_ns(run, run->due);
    bench_run_keep(run, timebase_ticks_at_mono(timebase_clock_default(), due), false, 0, -1);
    run->due += (uint32_t)expired;
}

struct itimerspec bench_run_timer(const struct bench_run *run)
{
    return (struct itimerspec){
        .it_interval = bench_run_timespec((int64_t)run->schedule->period_ns),
        .it_value = bench_run_timespec(bench_run_due_ns(run, 1)),
    };
}
