/* SPDX-License-Identifier: MIT */
/*
 * shared_world: a counter, the kernel's clocks and the readers of a shared page in virtual time.
 * Readers have a copy of the page that may be a lease old; whatever they are told is held against
 * what those are told who have looked at the page just now.
 */
#ifndef TEST_SHARED_WORLD_H
#define TEST_SHARED_WORLD_H

#include <string.h>

#include <timebase/error.h>

#include "daemon/shared_clock.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define LEAD_NS ((int64_t)cadence_shared(0).lead_ns)

struct world {
    int64_t now_ns;    /* true time since the world began */
    uint64_t ticks_at; /* the counter at the beginning */
    double hz;
    int64_t mono_at;       /* the kernel's monotonic time at the beginning */
    double mono_rate;      /* and its pace, from rate_since on */
    int64_t utc_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
    int64_t suspended_ns;
    int64_t maxerror_ns;
    uint32_t flags;
    bool is_synchronized;
    bool is_reference_lost;
    bool is_store_lost;
    int64_t delay_ns; /* between planning and storing, once */
    /* what readers have */
    struct timebase_page page;     /* in the file */
    struct timebase_page previous; /* there before */
    int64_t stored_ns;
    uint64_t records;
    uint64_t disrupted_records;
    uint64_t recounts;
};

static struct world world;

static inline uint64_t ticks_now(void)
{
    return world.ticks_at + (uint64_t)((double)world.now_ns * world.hz / 1e9);
}

static inline int64_t mono_now(void)
{
    return world.mono_at + (int64_t)((double)world.now_ns * world.mono_rate);
}

static inline uint64_t world_ticks(void *context)
{
    (void)context;
    world.now_ns += 20;
    return ticks_now();
}

static inline int sample_world(void *context, struct discipline_sample *sample)
{
    (void)context;
    if (world.is_reference_lost)
        return TIMEBASE_E_REFERENCE;
    sample->ticks_before = world_ticks(NULL);
    world.now_ns += 15;
    sample->mono_ns = mono_now();
    world.now_ns += 15;
    sample->ticks_after = world_ticks(NULL);
    sample->step_ticks = 1;
    sample->utc_offset_ns = world.utc_offset_ns;
    sample->suspended_ns = world.suspended_ns;
    sample->maxerror_ns = world.maxerror_ns;
    sample->flags = world.flags;
    sample->is_synchronized = world.is_synchronized;
    return TIMEBASE_OK;
}

static const struct reference world_reference = {.name = "world", .sample = sample_world};

static inline int store_world(void *context, const struct timebase_page *page)
{
    (void)context;
    world.now_ns += 5000 + world.delay_ns;
    world.delay_ns = 0;
    if (world.is_store_lost)
        return -1;
    world.previous = world.page;
    world.page = *page;
    world.stored_ns = world.now_ns;
    return 0;
}

static inline void recount_world(void *context, const struct timebase_page *page)
{
    (void)context, (void)page;
    world.recounts++;
}

static inline void record_world(void *context, const struct timebase_lines *lines,
                                uint64_t published_ticks, bool is_disrupted)
{
    (void)context, (void)lines, (void)published_ticks;
    world.records++;
    world.disrupted_records += is_disrupted;
}

static inline struct shared_clock_outside outside_of_world(struct sources *sources)
{
    struct shared_clock_outside outside = {.ticks = world_ticks,
                                     .reference = &world_reference,
                                     .store = store_world,
                                     .store_counts = recount_world,
                                     .record = record_world,
                                     .sources = sources};
    return outside;
}

static inline void begin_world(void)
{
    static const struct world none;
    world = none;
    world.ticks_at = 123456789012;
    world.hz = 2.6e9 * (1 + 3e-6);
    world.mono_at = 5000 * SECOND;
    world.mono_rate = 1;
    world.utc_offset_ns = 1700000000 * SECOND;
    world.maxerror_ns = 2 * MS;
    world.is_synchronized = true;
}

/* What a page says of a tick. */
static inline struct timebase_instant told(const struct timebase_page *page, uint64_t ticks)
{
    struct timebase_instant instant;
    assert_true(timebase_page_convert(page, ticks, &instant));
    return instant;
}

/* Two readers, one of whom looked at the page just before it was stored. */
static inline void assert_readers_agree(void)
{
    if (world.previous.seq == 0 || world.now_ns - world.stored_ns > TIMEBASE_PAGE_LEASE_NS)
        return;
    struct timebase_instant old = told(&world.previous, ticks_now());
    struct timebase_instant new = told(&world.page, ticks_now());
    if (old.mono_ns != new.mono_ns || old.utc_ns != new.utc_ns)
        fail_msg("at %lld ns, %lld ns after publication %llu: the old page says %lld, the new %lld",
                 (long long)world.now_ns, (long long)(world.now_ns - world.stored_ns),
                 (unsigned long long)world.page.seq, (long long)old.mono_ns,
                 (long long)new.mono_ns);
}

/* The bound holds against the kernel's clock. */
static inline void assert_within_bound(void)
{
    struct timebase_instant instant = told(&world.page, ticks_now());
    int64_t off_ns = instant.mono_ns - mono_now();
    uint64_t size = off_ns < 0 ? (uint64_t)-off_ns : (uint64_t)off_ns;
    if (size > instant.maxerror_ns)
        fail_msg("at %lld ns: off by %lld, bound %llu", (long long)world.now_ns, (long long)off_ns,
                 (unsigned long long)instant.maxerror_ns);
}

static inline uint32_t status_told(void)
{
    return told(&world.page, ticks_now()).flags & TIMEBASE_LINE_STATUS_MASK;
}

/* A world from its beginning, and a clock on it without sources. */
static inline void start_in_world(struct shared_clock *shared, int64_t interval_ns)
{
    begin_world();
    struct shared_clock_outside outside = outside_of_world(NULL);
    shared_clock_start(shared, &outside, interval_ns, 50000);
}

/* Let time pass, as readers see it; monotonic time goes on. */
static inline void pass(int64_t ns)
{
    static const int64_t stride = MS / 2;
    int64_t until = world.now_ns + ns, last = 0;
    uint64_t seq = world.page.seq;
    while (world.now_ns < until) {
        world.now_ns += until - world.now_ns < stride ? until - world.now_ns : stride;
        if (seq == 0)
            continue;
        assert_readers_agree();
        assert_within_bound();
        int64_t mono_ns = told(&world.page, ticks_now()).mono_ns;
        assert_true(mono_ns >= last);
        last = mono_ns;
    }
}

/* Step after step, as the daemon does, for so long. */
static inline void keep(struct shared_clock *shared, int64_t ns)
{
    int64_t until = world.now_ns + ns;
    while (world.now_ns < until) {
        enum servo_result result = shared_clock_step(shared);
        pass((int64_t)shared_clock_wait_ns(shared, result));
    }
}

#endif
