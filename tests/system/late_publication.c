/* SPDX-License-Identifier: MIT */
/*
 * A writer is held up between its last look at the counter and its publication: at its first store
 * to the page, which is write-protected until then. The publication is late, is counted as late,
 * and sets no reader back by more than the lateness makes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <timebase/error.h>

#include "clock/own/own.h"
#include "skipped.h"

/* Longer than any publication is ahead of its lines: a tenth of the longest interval. */
#define HELD_UP_NS 50000000

static struct reference_kernel kernel;
static struct clock_cell *cell;
static size_t memory_page;
static volatile sig_atomic_t held_up;
static struct timebase_instant told; /* to a reader, just before the writer goes on */

/* A cell whose page begins a page of memory, and is alone on it. */
static struct clock_cell *make_cell(void)
{
    static const struct own_clock made = OWN_CLOCK_INITIALIZER(&reference_kernel, &kernel);
    memory_page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (sizeof(struct own_clock) / memory_page + 1) * memory_page;
    char *memory = mmap(NULL, before + memory_page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct own_clock *place =
        (struct own_clock *)(void *)(memory + before - offsetof(struct own_clock, cell.page));
    memcpy(place, &made, sizeof(made));
    return &place->cell;
}

static void protect(int how)
{
    if (mprotect(&cell->page, memory_page, how) != 0)
        _exit(1);
}

static void hold_up(int signal)
{
    struct timespec pause = {0, HELD_UP_NS};
    (void)signal;
    held_up++;
    while (nanosleep(&pause, &pause) != 0)
        ;
    timebase_page_convert(&cell->page, timebase_ticks_ordered(), &told);
    protect(PROT_READ | PROT_WRITE);
}

static void maintain(void)
{
    int error;
    do
        error = own_maintain(cell);
    while (error == TIMEBASE_E_BUSY); /* the last lines' slew has not begun */
    assert_int_equal(error, 0);
}

/* The lines that are in force have begun, so that the next maintenance does publish. */
static void wait_for_lines(void)
{
    while (own_of(cell)->servo.counts.publications < 3)
        maintain();
    while (own_maintain(cell) == TIMEBASE_E_BUSY)
        ;
    struct timespec pause = {0, HELD_UP_NS};
    nanosleep(&pause, NULL);
}

static void a_late_publication_is_counted_and_hardly_sets_readers_back(void **state)
{
    struct sigaction action = {.sa_handler = hold_up}, old;
    struct timebase_instant start, after;
    (void)state;
    if (timebase_counter_id() != (int)TIMEBASE_ARCH_COUNTER)
        skip_because("the processor's counter is not used here, and so not the page either");
    wait_for_lines();
    uint64_t late = own_of(cell)->servo.counts.late_publications;
    uint64_t publications = own_of(cell)->servo.counts.publications;
    uint64_t late_on_page = cell->page.late_count;

    sigaction(SIGSEGV, &action, &old);
    protect(PROT_READ);
    maintain();
    sigaction(SIGSEGV, &old, NULL);

    assert_int_equal(held_up, 1);
    assert_int_equal(own_of(cell)->servo.counts.publications, publications + 1);
    assert_int_equal(own_of(cell)->servo.counts.late_publications, late + 1);
    assert_int_equal(cell->page.late_count, late_on_page + 1);
    /* Lines 1,000 ppm apart, for as long as it was late. */
    uint64_t begins = cell->page.copy[cell->page.seq & 1].slew.start_ticks;
    assert_true(timebase_page_convert(&cell->page, told.ticks, &after));
    assert_true(timebase_page_convert(&cell->page, begins, &start));
    int64_t lateness_ns = after.mono_ns - start.mono_ns, back_ns = told.mono_ns - after.mono_ns;
    print_message("%d us late, set back by %d ns\n", (int)(lateness_ns / 1000), (int)back_ns);
    assert_true(lateness_ns > 0);
    assert_true(back_ns <= lateness_ns / 1000 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_publication_is_counted_and_hardly_sets_readers_back),
    };
    cell = make_cell();
    if (cell == NULL)
        return 1;
    return run_all(tests);
}
