/* SPDX-License-Identifier: MIT */
/* The reference's counter by the kernel's clock: its pace, its doubt, whether it keeps going. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "sync/anchor.h"

#define PACE 2.6
#define READ_NS 20
#define OS_READ_NS 600 /* HPET */
#define SECOND_NS 1000000000

static struct {
    double now_ns, ticks;
    unsigned refused; /* so often; 0: the kernel's clock may be read */
} machine;

static void pass(double ns)
{
    machine.now_ns += ns;
    machine.ticks += ns * PACE;
}

uint64_t __wrap_by_cpu_read(unsigned *cpu);
uint64_t __wrap_by_cpu_read(unsigned *cpu)
{
    *cpu = 0;
    pass(READ_NS);
    return (uint64_t)machine.ticks;
}

uint64_t __wrap_timebase_ticks_os(void);
uint64_t __wrap_timebase_ticks_os(void)
{
    pass(OS_READ_NS);
    assert_true(machine.refused < 10000); /* who asks for ever is ended */
    return machine.refused > 0 ? machine.refused++, BY_CPU_NO_OS : (uint64_t)machine.now_ns;
}

/* Any CPU that this thread may run on: the machine is the test's own. */
static enum anchor_result take(struct anchor *anchor, struct by_cpu_anchor *out)
{
    for (int cpu = 0; cpu < 64; cpu++) {
        enum anchor_result result = anchor_take(anchor, cpu, out);
        if (result != ANCHOR_REFUSED)
            return result;
    }
    return ANCHOR_REFUSED;
}

static struct anchor begun(void)
{
    struct anchor anchor = {.is_begun = false};
    struct by_cpu_anchor unused;
    machine.now_ns = 5.0 * SECOND_NS;
    machine.ticks = 1e12;
    assert_int_equal(take(&anchor, &unused), ANCHOR_TOO_YOUNG);
    return anchor;
}

static void the_anchor_contains_the_counter(void **state)
{
    struct anchor anchor = begun();
    struct by_cpu_anchor found;
    (void)state;
    for (int i = 0; i < 100; i++) {
        pass(0.3 * SECOND_NS);
        assert_int_equal(take(&anchor, &found), ANCHOR_TAKEN);
        double pace = (double)found.ticks_per_ns + (double)found.ticks_per_ns_frac / 0x1p64;
        double growth = (double)found.growth / 0x1p64;
        assert_true(fabs(pace / PACE - 1) <= growth);
        assert_true(growth < 20e-6);
        double then = (machine.now_ns - (double)found.os_ns) * pace + (double)found.ticks;
        assert_true(fabs(then - machine.ticks) / PACE <= (double)found.error_ns + 1);
        assert_true(found.error_ns < 2 * (2 * OS_READ_NS + 2 * READ_NS));
    }
}

/* A burst of 60 ppm: what comes next may be another. Half a minute later nobody fears it. */
static void a_counter_that_has_parted_from_the_kernel_s_clock_may_do_so_again(void **state)
{
    struct anchor anchor = begun();
    struct by_cpu_anchor found;
    (void)state;
    pass(0.3 * SECOND_NS);
    assert_int_equal(take(&anchor, &found), ANCHOR_TAKEN);
    pass(0.1 * SECOND_NS);
    machine.ticks += 60e-6 * 0.1 * SECOND_NS * PACE;
    assert_int_equal(take(&anchor, &found), ANCHOR_TAKEN);
    assert_true((double)found.growth / 0x1p64 > 90e-6);
    for (int i = 0; i < 200; i++) {
        pass(0.3 * SECOND_NS);
        assert_int_equal(take(&anchor, &found), ANCHOR_TAKEN);
    }
    assert_true((double)found.growth / 0x1p64 < 5e-6);
}

/* Too little for the pace of nine seconds to show. No growth that has a number allows for it. */
static void a_reference_that_is_set_by_as_much_as_has_passed_is_found(void **state)
{
    static const double sets_sec[] = {0.06, -0.03, -0.06};
    struct by_cpu_anchor unused;
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct anchor anchor = begun();
        for (int j = 0; j < 30; j++) {
            pass(0.3 * SECOND_NS);
            assert_int_equal(take(&anchor, &unused), ANCHOR_TAKEN);
        }
        pass(0.05 * SECOND_NS);
        machine.ticks += sets_sec[i] * SECOND_NS * PACE;
        assert_int_equal(take(&anchor, &unused), ANCHOR_STOPS);
    }
}

static void a_reference_that_stops_in_idle_is_found(void **state)
{
    struct anchor anchor = begun();
    struct by_cpu_anchor unused;
    (void)state;
    pass(0.1 * SECOND_NS);
    machine.now_ns += 0.005 * SECOND_NS; /* it stood still for so long */
    assert_int_equal(take(&anchor, &unused), ANCHOR_STOPS);
}

static void a_reference_that_is_set_is_found_and_begun_anew(void **state)
{
    static const double sets[] = {1e10, -1e11};
    struct by_cpu_anchor unused;
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct anchor anchor = begun();
        pass(0.1 * SECOND_NS);
        machine.ticks += sets[i];
        assert_int_equal(take(&anchor, &unused), ANCHOR_STOPS);
        assert_int_equal(take(&anchor, &unused), ANCHOR_TOO_YOUNG);
        pass(0.1 * SECOND_NS);
        assert_int_equal(take(&anchor, &unused), ANCHOR_TAKEN);
    }
}

/* By a sandbox. */
static void a_kernel_s_clock_that_is_refused_gives_no_anchor(void **state)
{
    struct anchor anchor = begun();
    struct by_cpu_anchor unused;
    (void)state;
    machine.refused = 1;
    pass(0.1 * SECOND_NS);
    assert_int_equal(take(&anchor, &unused), ANCHOR_REFUSED);
    assert_true(machine.refused > 1);
    machine.refused = 0;
    assert_int_equal(take(&anchor, &unused), ANCHOR_TAKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_anchor_contains_the_counter),
        cmocka_unit_test(a_counter_that_has_parted_from_the_kernel_s_clock_may_do_so_again),
        cmocka_unit_test(a_reference_that_is_set_by_as_much_as_has_passed_is_found),
        cmocka_unit_test(a_reference_that_stops_in_idle_is_found),
        cmocka_unit_test(a_reference_that_is_set_is_found_and_begun_anew),
        cmocka_unit_test(a_kernel_s_clock_that_is_refused_gives_no_anchor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
