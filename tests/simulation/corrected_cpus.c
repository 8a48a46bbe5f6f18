/* SPDX-License-Identifier: MIT */
/*
 * Counters corrected by CPU on a host that holds everybody up: who has seen a reading, on whichever
 * CPU, reads no less (corrected_world.h). Another daemon goes on from the table that one has left.
 * TIMEBASE_TEST_WORLDS for more of them: 1,200 make ten million readings and more in each test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "corrected_world.h"
#include "sync/correct.h"

/* It knows nothing but what lies in the file. Until it has begun, readers have the old one's table. */
static void restart_daemon(void)
{
    static union {
        struct by_cpu_file_copy copy;
        unsigned char bytes[sizeof(struct by_cpu_file_copy) + CPUS * sizeof(struct by_cpu_entry)];
    } file;
    struct by_cpu_table *old = cpus.table;
    const struct by_cpu_file_head head = {.cpus = old->cpus < CPUS ? old->cpus : CPUS};
    const struct by_cpu_copy *present = &old->copy[old->seq & 1];
    file.copy.anchor = present->anchor;
    file.copy.spread_ticks = old->spread_ticks;
    for (unsigned cpu = 0; cpu < head.cpus; cpu++)
        file.copy.entries[cpu] = present->entries[cpu];
    world_measure_anew();
    assert_true(correct_adopt(&cpus, &head, &file.copy));
    world_keep(old);
}

static void run_world(void)
{
    int64_t again_ns;
    world_begin();
    for (int i = 0; i < RENEWALS; i++) {
        if (world.is_shared && i % 20 == 19)
            restart_daemon();
        assert_int_equal(timebase_cpus_correct(&cpus, &again_ns), 0);
        uint64_t late = world_below(4) == 0 ? world_below(world.late_most + 1) : 0;
        world_pass(world_below((uint64_t)again_ns + 1) + late);
    }
    world_keep(cpus.table);
}

static void run_worlds(uint64_t held_up_most, uint64_t late_most, bool is_handed_on, bool is_shared)
{
    world_begin_all();
    world.is_shared = is_shared;
    world.held_up_most = held_up_most;
    world.late_most = late_most;
    world.is_handed_on = is_handed_on;
    for (unsigned long i = 0; i < worlds(); i++)
        run_world();
    print_message("%llu of %llu went back, by %llu at most; CPU 1 by its lines %llu times\n",
                  (unsigned long long)world.back, (unsigned long long)world.readings,
                  (unsigned long long)world.most, (unsigned long long)world.by_lines);
    assert_int_equal(world.back, 0);
    assert_true(world.by_lines > world.readings / 20);
    assert_true(!is_shared || world.by_copy > world.readings / 4);
}

static void run(uint64_t held_up_most, uint64_t late_most, bool is_handed_on)
{
    run_worlds(held_up_most, late_most, is_handed_on, false);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void nothing_goes_back_where_nobody_is_held_up(void **state)
{
    (void)state;
    run(0, 0, false);
}

static void nor_where_a_renewal_is_held_up_between_any_two_steps(void **state)
{
    (void)state;
    run(400 * MS, 0, false);
}

static void nor_where_renewals_come_late(void **state)
{
    (void)state;
    run(0, 60 * SECOND, false);
}

static void nor_where_the_kernel_hands_on_what_another_cpu_has_read(void **state)
{
    (void)state;
    run(0, 0, true);
}

static void nor_where_all_of_this_happens(void **state)
{
    (void)state;
    run(2 * SECOND, 20 * SECOND, true);
}

static void nor_in_a_process_that_has_old_copies_nor_when_another_daemon_goes_on(void **state)
{
    (void)state;
    run_worlds(0, 0, false, true);
    run_worlds(2 * SECOND, 20 * SECOND, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_goes_back_where_nobody_is_held_up),
        cmocka_unit_test(nor_where_a_renewal_is_held_up_between_any_two_steps),
        cmocka_unit_test(nor_where_renewals_come_late),
        cmocka_unit_test(nor_where_the_kernel_hands_on_what_another_cpu_has_read),
        cmocka_unit_test(nor_where_all_of_this_happens),
        cmocka_unit_test(nor_in_a_process_that_has_old_copies_nor_when_another_daemon_goes_on),
    };
    return world_is_skipped() ? SKIPPED : cmocka_run_group_tests(tests, NULL, NULL);
}
