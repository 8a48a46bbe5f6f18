/* SPDX-License-Identifier: MIT */
/*
 * A whole clock over a simulated reference that slews by up to 500 ppm and steps, on the real
 * counter: two threads hand each other their latest reading and never see time go back, while a
 * housekeeping thread publishes a thousand times a second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "clock/counter/probe.h"
#include "clock/own/own.h"
#include "../emulated.h"
#include "threads.h"

/* The reference: the kernel's monotonic clock, run through slopes that change at random. */
struct bent {
    uint64_t random;
    int64_t real_ns; /* the kernel's clock at the last change of slope */
    int64_t bent_ns; /* and the reference there */
    int64_t ppm;
    int64_t utc_offset_ns;
    unsigned samples;
};

static uint64_t next_random(struct bent *bent)
{
    bent->random = bent->random * 6364136223846793005u + 1442695040888963407u;
    return bent->random >> 33;
}

static int64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t bend(const struct bent *bent, int64_t real)
{
    int64_t elapsed = real - bent->real_ns;
    return bent->bent_ns + elapsed + elapsed / 1000 * bent->ppm / 1000;
}

static void change_slope(struct bent *bent)
{
    int64_t real = real_ns();
    bent->bent_ns = bend(bent, real);
    bent->real_ns = real;
    bent->ppm = (int64_t)(next_random(bent) % 1001) - 500;
}

static int sample(void *context, struct discipline_sample *out)
{
    struct bent *bent = (struct bent *)context;
    struct discipline_sample fresh = {0};
    if (bent->samples++ % 50 == 0)
        change_slope(bent);
    if (next_random(bent) % 100 == 0)
        bent->utc_offset_ns += (int64_t)(next_random(bent) % 4000000000u) - 2000000000;
    *out = fresh;
    out->ticks_before = timebase_ticks_ordered();
    out->mono_ns = bend(bent, real_ns());
    out->ticks_after = timebase_ticks_ordered();
    out->step_ticks = counter_measure_step();
    out->utc_offset_ns = bent->utc_offset_ns;
    return 0;
}

/* Lines come from samples only: the moment a reader would have without lines is not consistent
 * with a context that another thread bends. */
static int moment(void *context, struct reference_moment *out)
{
    (void)context;
    (void)out;
    return TIMEBASE_E_REFERENCE;
}

static void nothing(void *context)
{
    (void)context;
}

static const struct reference reference_bent = {"bent", sample, moment, nothing};
static struct bent bent = {.random = 42, .bent_ns = 1000000000, .utc_offset_ns = 1790000000};
static struct own_clock own = OWN_CLOCK_INITIALIZER(&reference_bent, &bent);
static int stop;

/* The two readers write their latest reading here, each on its own line. */
static struct {
    int64_t mono_ns __attribute__((aligned(128)));
} latest[2];

struct reader {
    int index;
    uint64_t reads;
    uint64_t backwards; /* against its own last reading, or the other's seen before it read */
    int64_t worst_ns;
};

static void *read_clock(void *argument)
{
    struct reader *reader = (struct reader *)argument;
    const timebase_clock *clock = own_handle(&own);
    int64_t *own = &latest[reader->index].mono_ns, *other = &latest[!reader->index].mono_ns;
    int64_t last = 0;
    for (uint64_t i = 0; i < reader->reads; i++) {
        int64_t seen = __atomic_load_n(other, __ATOMIC_ACQUIRE);
        int64_t floor = seen > last ? seen : last;
        int64_t now = timebase_mono_ns(clock);
        if (now < floor) {
            reader->backwards++;
            if (floor - now > reader->worst_ns)
                reader->worst_ns = floor - now;
        }
        last = now;
        __atomic_store_n(own, now, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void *keep_house(void *argument)
{
    struct timespec millisecond = {0, 1000000};
    (void)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        timebase_clock_maintain(own_handle(&own));
        nanosleep(&millisecond, NULL);
    }
    return NULL;
}

static void torture(uint64_t reads)
{
    struct reader readers[2] = {{0, reads / 2, 0, 0}, {1, reads / 2, 0, 0}};
    struct timebase_statistics statistics;
    pthread_t threads[3];
    int64_t begin_ns = real_ns();
    stop = 0;
    latest[0].mono_ns = latest[1].mono_ns = 0;
    while (timebase_page_seq(cell_lines_page(&own.cell), __ATOMIC_ACQUIRE) == 0)
        timebase_clock_maintain(own_handle(&own));
    threads[0] = threads_start(0, read_clock, &readers[0]);
    threads[1] = threads_start(1, read_clock, &readers[1]);
    threads[2] = threads_start(0, keep_house, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(threads[2], NULL);
    assert_int_equal(timebase_clock_statistics(own_handle(&own), &statistics), 0);
    print_message("%u million reads, %u publications, %u late, %u rate changes, %u steps, "
                  "%u backward (worst %d ns)\n",
                  (unsigned)(reads / 1000000), (unsigned)statistics.publications,
                  (unsigned)statistics.late_publications, (unsigned)statistics.rate_changes,
                  (unsigned)statistics.utc_steps,
                  (unsigned)(readers[0].backwards + readers[1].backwards),
                  (int)(readers[0].worst_ns + readers[1].worst_ns));
    assert_true(statistics.publications > 0);
    /*
     * The promise is absolute only for publications in time. A late one (the writer lost its CPU
     * in the few ns between its last look at the counter and the publication) is bounded
     * by 1,000 ppm of the lateness, and so of this torture; on a shared machine it can happen, and
     * is counted.
     */
    int64_t most_ns = statistics.late_publications == 0 ? 0 : 1 + (real_ns() - begin_ns) / 1000;
    assert_true(readers[0].worst_ns <= most_ns && readers[1].worst_ns <= most_ns);
}

static void time_never_goes_back_between_threads_with_a_housekeeper(void **state)
{
    (void)state;
    timebase_clock_set_maintenance(own_handle(&own), TIMEBASE_MAINTENANCE_MANUAL);
    torture(threads_reads(40000000));
}

static void time_never_goes_back_between_threads_that_maintain_themselves(void **state)
{
    (void)state;
    timebase_clock_set_maintenance(own_handle(&own), TIMEBASE_MAINTENANCE_AUTOMATIC);
    torture(threads_reads(40000000));
}

int main(void)
{
    confine_if_emulated();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_goes_back_between_threads_with_a_housekeeper),
        cmocka_unit_test(time_never_goes_back_between_threads_that_maintain_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
