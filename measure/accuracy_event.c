/* SPDX-License-Identifier: MIT */
#include "accuracy_event.h"

#include <stddef.h>

#include "accuracy_walk.h"

void bench_event_expect(struct bench_event *event, const struct timebase_waiter *waiter,
                        uint64_t base_ticks)
{
    *event = (struct bench_event){
        .waiter = waiter,
        .base_ticks = base_ticks,
        .result = TIMEBASE_E_BUSY,
    };
}

/*
 * The section's alignment and the filler behind it keep this alone on its cache line, if a line has
 * 64 bytes. So flushing it makes nothing else cold.
 */
__attribute__((noinline, aligned(64), section(".text.bench_event"))) void bench_event_take(
    void *context)
{
    struct bench_event *event = context;
    event->result = timebase_wait_take_fine(event->waiter, &event->readings);
}

__attribute__((noinline, used, aligned(64), section(".text.bench_event"))) static void filler(void)
{
}

int bench_event_place(const struct bench_event *event, struct timebase_fine_reading *out)
{
    return event->result < 0 ? event->result
                             : timebase_wait_place_fine(event->waiter, &event->readings,
                                                        event->base_ticks, out);
}

int bench_event_hit(const struct bench_event *event, uint64_t target_ticks,
                    struct timebase_bench_hit *out)
{
    struct timebase_fine_reading reading;
    int result = bench_event_place(event, &reading);
    if (result < 0)
        return result;
    out->error_ticks = reading.ticks - (double)(int64_t)(target_ticks - event->base_ticks);
    out->bound_ticks = reading.bound_ticks;
    return TIMEBASE_OK;
}

#if defined(__x86_64__)
#define CAN_FLUSH TIMEBASE_BENCH_FLUSH_EVENT
static void flush(const void *line)
{
    __asm__ __volatile__("clflush %0\n\tmfence" : : "m"(*(const char *)line) : "memory");
}
#elif defined(__aarch64__)
#define CAN_FLUSH TIMEBASE_BENCH_FLUSH_EVENT
/*
 * DC CIVAC takes the line out of data and unified caches, up to where all observers see the same
 * memory; a cache of the whole system behind that may keep it. IC IVAU takes the instruction
 * caches' copy.
 */
static void flush(const void *line)
{
    __asm__ __volatile__("dc civac, %0\n\tdsb sy\n\tic ivau, %0\n\tdsb sy\n\tisb"
                         :
                         : "r"(line)
                         : "memory");
}
#else
#define CAN_FLUSH 0u
static void flush(const void *line)
{
    (void)line;
}
#endif

uint32_t timebase_bench_before_possible(void)
{
    return TIMEBASE_BENCH_WALK | TIMEBASE_BENCH_TOUCH_INSTRUMENT | TIMEBASE_BENCH_TOUCH_EVENT |
        CAN_FLUSH;
}

void bench_event_disorder(uint32_t before, const struct timebase_waiter *waiter)
{
    struct bench_event event;
    bench_event_expect(&event, waiter, timebase_ticks());
    if (before & TIMEBASE_BENCH_WALK)
        bench_walk();
    if (before & TIMEBASE_BENCH_TOUCH_INSTRUMENT)
        timebase_wait_take_fine(waiter, &event.readings);
    if (before & TIMEBASE_BENCH_TOUCH_EVENT)
        bench_event_take(&event);
    if (before & TIMEBASE_BENCH_FLUSH_EVENT) {
        void (*take)(void *) = bench_event_take;
        flush((const void *)(uintptr_t)take);
    }
}
