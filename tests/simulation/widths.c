/* SPDX-License-Identifier: MIT */
/*
 * How wide a promise is by how often samples are taken, and by what the kernel tells of its pace;
 * and how wide the estimate beside it. The table is that of docs/bound.md.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <sys/timex.h>
#include <unistd.h>

#include "clock/reference/slew.h"
#include "watch.h"

#define SECOND 1e9
#define READINGS 20000
#define WARM_NS (5 * SECOND)

struct widths {
    double maxerror[READINGS], utc[READINGS], esterror[READINGS];
    unsigned count;
};

static struct watch watch;
static struct widths widths;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, double share)
{
    qsort(values, widths.count, sizeof values[0], compare);
    return values[(unsigned)(share * (widths.count - 1))];
}

static void note(const struct reading *reading, double claim_ns)
{
    widths.maxerror[widths.count] = (double)reading->instant.maxerror_ns;
    widths.utc[widths.count] = (double)reading->instant.utc_maxerror_ns - claim_ns;
    widths.esterror[widths.count++] = (double)reading->instant.esterror_ns;
}

/* The driver's word, for a kernel whose tick is changed by so much. */
static void slew_by_tick(struct world *world, double ppm)
{
    struct timex timex = {.tick = 1000000 / sysconf(_SC_CLK_TCK), .status = STA_NANO};
    timex.tick += lround((double)timex.tick * ppm * 1e-6);
    struct slew slew = slew_of(&timex, 0);
    world->reference_rate = 1 + (double)slew.rate_ppb * 1e-9;
    world->claim_ppb = (uint32_t)slew.most_ppb;
    world->slew_limit_ppm = (uint32_t)(slew.most_ppb / 1000);
}

/* Two readings between any two samples; the median of maxerror, ns. */
static double measure(double samples_a_second, double ppm)
{
    static const struct watch fresh;
    struct world world = world_make(47);
    double interval_ns = SECOND / samples_a_second;
    watch = fresh;
    widths.count = 0;
    world.is_manual = true;
    world.claim_error_ns = 0;
    slew_by_tick(&world, ppm);
    while (widths.count < READINGS) {
        double rest_ns = interval_ns;
        world_maintain(&world);
        for (int i = 0; i < 2; i++) {
            double step_ns = rest_ns * world_random(&world);
            rest_ns -= step_ns;
            world_advance(&world, step_ns);
            struct reading reading = watch_read(&watch, &world);
            double claim_ns = (double)world.servo.discipline.sample.maxerror_ns;
            if (world.now_ns > WARM_NS && widths.count < READINGS)
                note(&reading, claim_ns);
        }
        world_advance(&world, rest_ns);
    }
    watch_expect_sound(&watch, 47);
    double median_ns = quantile(widths.maxerror, 0.5);
    print_message("| %.0f | %.0f ppm | %.0f | %.0f | %.0f | %.0f | %.0f |\n", samples_a_second, ppm,
                  median_ns, quantile(widths.maxerror, 1), quantile(widths.utc, 0.5),
                  quantile(widths.utc, 1), quantile(widths.esterror, 0.5));
    return median_ns;
}

static void a_promise_is_as_wide_as_samples_are_apart(void **state)
{
    (void)state;
    print_message("| samples a second | slewed by | maxerror, median | largest |"
                  " UTC less its claim, median | largest | esterror, median |\n");
    double seldom_ns = measure(10, 0), often_ns = measure(100, 0), always_ns = measure(1000, 0);
    assert_true(often_ns < seldom_ns / 8 && always_ns < often_ns / 5);
    assert_true(quantile(widths.esterror, 0.5) < 30);
}

static void a_kernel_that_is_slewed_widens_it_by_as_much(void **state)
{
    (void)state;
    double quiet_ns = measure(10, 0);
    double slewed_ns = measure(10, 10000);
    /* 10,550 ppm instead of 550 */
    assert_true(slewed_ns > 15 * quiet_ns && slewed_ns < 25 * quiet_ns);
    measure(1000, 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_promise_is_as_wide_as_samples_are_apart),
        cmocka_unit_test(a_kernel_that_is_slewed_widens_it_by_as_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
