/* SPDX-License-Identifier: MIT */
/* The hypervisor's page as a reader of the shared page looks at it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <timebase/page.h>

#include "clock/attach/moved.h"
#include "dice.h"
#include "vmclock_page.h"

static void fill_mark(void)
{
    memset(page, 0, sizeof(page));
    put(0x00, 4, VMCLOCK_MAGIC);
    put(0x04, 4, sizeof(page));
    put(0x08, 2, VMCLOCK_VERSION);
    put(0x0c, 4, 8);
    put(0x10, 8, 41);
    put(0x18, 8, VMCLOCK_GENERATION_PRESENT);
    put(0x22, 1, VMCLOCK_SYNCHRONIZED);
    put(0x68, 8, 7);
}

static struct witness_mark mark_now(void)
{
    struct witness_mark mark;
    witness_read_page(page, &mark);
    return mark;
}

static enum witness_seen seen_since(const struct witness_mark *then)
{
    struct witness_mark now = mark_now();
    return witness_compare(then, &now);
}

static void a_page_that_stays_is_a_guest_that_stayed(void **state)
{
    (void)state;
    fill_mark();
    struct witness_mark then = mark_now();
    assert_true(then.is_known);
    assert_int_equal(seen_since(&then), WITNESS_UNMOVED);
    put(0x0c, 4, 10); /* the hypervisor has renewed its time, and disrupted nothing */
    put(0x48, 8, 1795000000);
    assert_int_equal(seen_since(&then), WITNESS_UNMOVED);
}

static void a_migration_and_a_restore_are_seen(void **state)
{
    (void)state;
    for (size_t at = 0x10; at < 0x18; at++) {
        fill_mark();
        struct witness_mark then = mark_now();
        page[at] ^= 0x80; /* any byte of the marker */
        assert_int_equal(seen_since(&then), WITNESS_MOVED);
    }
    for (size_t at = 0x68; at < 0x70; at++) {
        fill_mark();
        struct witness_mark then = mark_now();
        page[at] ^= 0x80;
        assert_int_equal(seen_since(&then), WITNESS_MOVED);
    }
}

static void a_generation_that_the_page_has_not_is_not_looked_at(void **state)
{
    (void)state;
    fill_mark();
    put(0x18, 8, 0);
    struct witness_mark then = mark_now();
    put(0x68, 8, 8);
    assert_int_equal(seen_since(&then), WITNESS_UNMOVED);
    fill_mark();
    put(0x04, 4, 0x68); /* a page of 1.0 */
    then = mark_now();
    put(0x68, 8, 8);
    assert_int_equal(seen_since(&then), WITNESS_UNMOVED);
}

static void an_update_in_progress_may_be_a_migration(void **state)
{
    (void)state;
    fill_mark();
    put(0x18, 8, 0); /* nothing else differs than what is known */
    struct witness_mark then = mark_now();
    put(0x0c, 4, 9);
    assert_false(mark_now().is_known);
    assert_int_equal(seen_since(&then), WITNESS_UPDATING);
    put(0x0c, 4, 10);
    assert_int_equal(seen_since(&then), WITNESS_UNMOVED);
}

static void an_unreliable_clock_is_told_from_one_that_moved(void **state)
{
    (void)state;
    fill_mark();
    struct witness_mark then = mark_now();
    put(0x22, 1, VMCLOCK_UNRELIABLE);
    assert_int_equal(seen_since(&then), WITNESS_UNRELIABLE);
    put(0x10, 8, 42);
    assert_int_equal(seen_since(&then), WITNESS_MOVED);
}

static void where_nothing_was_known_nothing_is_said(void **state)
{
    const struct witness_mark unknown = {.is_known = false};
    (void)state;
    fill_mark();
    assert_int_equal(seen_since(&unknown), WITNESS_SILENT);
}

/* Two readers of one format: what the daemon's parser says of the same bytes. */
static void it_reads_what_the_daemon_reads(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct vmclock clock;
        fill_mark();
        for (size_t at = 0x10; at < 0x70; at++)
            page[at] = (unsigned char)dice_roll(&dice);
        struct witness_mark mark = mark_now();
        assert_int_equal(vmclock_parse(page, sizeof(page), &clock), 0);
        assert_true(mark.marker == clock.disruption_marker);
        assert_true(mark.generation == clock.generation);
        assert_int_equal(mark.status, clock.status);
    }
}

static void assert_no_witness(const char *path)
{
    struct witness witness;
    struct witness_mark mark;
    witness_open(&witness, path);
    assert_null(witness.page);
    witness_read(&witness, &mark);
    assert_false(mark.is_known);
    witness_close(&witness);
}

/* A file could be cut short under a mapping: SIGBUS. */
static void only_a_device_is_mapped(void **state)
{
    char path[] = "/tmp/timebase-witness-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    fill_mark();
    assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
    close(fd);
    assert_no_witness(path);
    unlink(path);
    assert_no_witness(path);
    assert_no_witness("/dev/null");
    assert_no_witness("/dev/zero"); /* can be mapped, and is no vmclock */
}

/* ---- what a reader makes of it ------------------------------------------------------------- */

static struct moved moved;

/* Of a line that says SYNCHRONIZED. */
static uint32_t status_left(void)
{
    return moved_status(&moved, TIMEBASE_STATUS_SYNCHRONIZED);
}

static void begin_moved(void)
{
    static const struct moved none;
    fill_mark();
    moved = none;
    moved.witness.page = page;
    moved_look(&moved);
    moved_note_page(&moved, 3, 0);
    assert_int_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
}

static void a_moved_guest_is_distrusted_until_the_daemon_has_seen_it(void **state)
{
    (void)state;
    begin_moved();
    put(0x10, 8, 42);
    for (int i = 0; i < 5; i++) {
        moved_look(&moved);
        moved_note_page(&moved, 3, 0);
        assert_int_equal(status_left(), TIMEBASE_STATUS_UNRELIABLE);
    }
    moved_look(&moved);
    moved_note_same(&moved);
    assert_int_equal(status_left(), TIMEBASE_STATUS_UNRELIABLE);
    moved_note_page(&moved, 4, 0);
    assert_int_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
    moved_look(&moved);
    assert_int_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/*
 * It does not read the hypervisor's page, perhaps. Its lines are drawn on the kernel's clock, which
 * may have stood still: their bound against that is believed after a while, UTC is not.
 */
static void a_daemon_that_never_says_so_is_not_believed_about_utc(void **state)
{
    (void)state;
    begin_moved();
    put(0x68, 8, 8); /* restored */
    moved_look(&moved);
    moved_note_same(&moved);
    int pages = 0;
    for (; status_left() == TIMEBASE_STATUS_UNRELIABLE && pages < 1000; pages++)
        moved_note_page(&moved, 3, 0);
    assert_in_range(pages, 10, 100);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(status_left(), TIMEBASE_STATUS_FREERUNNING);
        moved_look(&moved);
        moved_note_page(&moved, 3, 0);
    }
    assert_int_equal(moved_status(&moved, TIMEBASE_STATUS_INITIALIZING), TIMEBASE_STATUS_INITIALIZING);
    assert_int_equal(moved_status(&moved, TIMEBASE_STATUS_UNRELIABLE), TIMEBASE_STATUS_UNRELIABLE);
    put(0x22, 1, 4);
    moved_look(&moved);
    assert_int_equal(moved_status(&moved, TIMEBASE_STATUS_UNKNOWN), TIMEBASE_STATUS_UNKNOWN);
    put(0x22, 1, VMCLOCK_SYNCHRONIZED);
    moved_look(&moved);
    moved_note_page(&moved, 4, 0);
    assert_int_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
}

static void an_unreliable_clock_is_distrusted_while_it_is_one(void **state)
{
    (void)state;
    begin_moved();
    put(0x22, 1, 4);
    moved_look(&moved);
    moved_note_page(&moved, 4, 0);
    assert_int_equal(status_left(), TIMEBASE_STATUS_UNRELIABLE);
    put(0x22, 1, VMCLOCK_SYNCHRONIZED);
    moved_look(&moved);
    assert_int_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* The hypervisor renews its time, and disrupts nothing: nobody would publish it. */
static void a_look_in_the_midst_of_an_update_counts_until_the_next(void **state)
{
    (void)state;
    begin_moved();
    put(0x0c, 4, 9);
    for (int i = 0; i < 30; i++) {
        moved_look(&moved);
        moved_note_page(&moved, 3, 0);
        assert_int_equal(status_left(), TIMEBASE_STATUS_UNRELIABLE);
    }
    put(0x0c, 4, 10);
    moved_look(&moved);
    assert_int_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* The reader idles; the daemon publishes a sleep, and is SYNCHRONIZED again; then the guest is moved,
 * and the reader looks before the daemon's next sample. */
static void a_disruption_from_before_the_look_is_not_the_move(void **state)
{
    (void)state;
    begin_moved();
    put(0x10, 8, 42);
    for (int i = 0; i < 1000; i++) {
        moved_look(&moved);
        moved_note_page(&moved, 4, 0);
        assert_int_not_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
    }
    moved_note_page(&moved, 5, 0);
    assert_int_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
}

/* What the daemon says of the bytes that it reads is what the reader sees in them. */
static void a_page_that_accounts_for_the_move_is_believed_at_once(void **state)
{
    struct dice dice = dice_new();
    (void)state;
    for (int i = 0; i < 1000; i++) {
        begin_moved();
        for (size_t at = 0x10; at < 0x18; at++)
            page[at] = (unsigned char)dice_roll(&dice);
        for (size_t at = 0x68; at < 0x70; at++)
            page[at] = (unsigned char)dice_roll(&dice);
        moved_look(&moved);
        struct vmclock clock;
        struct claim claim;
        const char *reason;
        const struct vmclock_moment moment = {0};
        assert_int_equal(vmclock_parse(page, sizeof(page), &clock), 0);
        vmclock_claim(&clock, &moment, &claim, &reason);
        moved_note_page(&moved, 4, claim.disruption_marker - 1 != 0 ? claim.disruption_marker - 1 : 2);
        assert_int_equal(status_left(), TIMEBASE_STATUS_UNRELIABLE);
        moved_note_page(&moved, 4, claim.disruption_marker);
        assert_int_equal(status_left(), TIMEBASE_STATUS_SYNCHRONIZED);
    }
}

/* It has attached after the move, and the daemon has not looked yet. */
static void a_page_that_accounts_for_another_move_is_not_believed(void **state)
{
    (void)state;
    begin_moved();
    moved_note_page(&moved, 3, 99);
    assert_int_equal(status_left(), TIMEBASE_STATUS_UNRELIABLE);
    for (int i = 0; i < 1000; i++)
        moved_note_page(&moved, 3 + (uint64_t)i, 99);
    assert_int_equal(status_left(), TIMEBASE_STATUS_FREERUNNING);
}

static void where_no_page_is_nothing_is_distrusted(void **state)
{
    static struct moved nobody;
    (void)state;
    moved_open(&nobody, "/nowhere");
    moved_look(&nobody);
    moved_note_page(&nobody, 1, 0);
    assert_int_equal(moved_status(&nobody, TIMEBASE_STATUS_SYNCHRONIZED), TIMEBASE_STATUS_SYNCHRONIZED);
    moved_close(&nobody);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_that_stays_is_a_guest_that_stayed),
        cmocka_unit_test(a_migration_and_a_restore_are_seen),
        cmocka_unit_test(a_generation_that_the_page_has_not_is_not_looked_at),
        cmocka_unit_test(an_update_in_progress_may_be_a_migration),
        cmocka_unit_test(an_unreliable_clock_is_told_from_one_that_moved),
        cmocka_unit_test(where_nothing_was_known_nothing_is_said),
        cmocka_unit_test(it_reads_what_the_daemon_reads),
        cmocka_unit_test(only_a_device_is_mapped),
        cmocka_unit_test(a_moved_guest_is_distrusted_until_the_daemon_has_seen_it),
        cmocka_unit_test(a_daemon_that_never_says_so_is_not_believed_about_utc),
        cmocka_unit_test(an_unreliable_clock_is_distrusted_while_it_is_one),
        cmocka_unit_test(a_look_in_the_midst_of_an_update_counts_until_the_next),
        cmocka_unit_test(a_disruption_from_before_the_look_is_not_the_move),
        cmocka_unit_test(a_page_that_accounts_for_the_move_is_believed_at_once),
        cmocka_unit_test(a_page_that_accounts_for_another_move_is_not_believed),
        cmocka_unit_test(where_no_page_is_nothing_is_distrusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
