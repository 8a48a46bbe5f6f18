/* SPDX-License-Identifier: MIT */
/*
 * Copies of a page that is rewritten without pause, in a file: every line a function of one
 * number, so that a copy of two publications shows.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>

#include <timebase/error.h>

#include "child.h"
#include "clock/attach/shared_file.h"
#include "page_writer.h"

#define COPIES 100000

static struct timebase_line line_of(uint64_t number)
{
    struct timebase_line line = {.start_ticks = number, .mono_ns = number, .period_ns = 1};
    line.utc_ns = line.period_frac = line.utc_maxerror_ns = line.maxerror_ns = number;
    return line;
}

static struct timebase_validity validity_of(uint64_t number)
{
    struct timebase_validity validity = NEVER_EXPIRES;
    validity.before_esterror_ns = validity.slew_esterror_ns = validity.after_esterror_ns = number;
    return validity;
}

static void rewrite_until_orphaned(struct timebase_page *page, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* unless the parent has died before */
    for (uint64_t number = 1; number % 1024 != 0 || getppid() == parent; number++) {
        struct timebase_line line = line_of(number);
        struct timebase_lines lines = {line, line, line, validity_of(number)};
        publish_lines(page, &lines, 1000);
        for (volatile unsigned rest = 0; rest < number % 512; rest++)
            ; /* or there would never be two equal looks */
    }
}

static bool is_whole(const struct timebase_page *page)
{
    const struct timebase_lines *lines = &page->copy[page->seq & 1];
    struct timebase_line line = line_of(page->seq);
    struct timebase_validity validity = validity_of(page->seq);
    return memcmp(&lines->before, &line, sizeof(line)) == 0 &&
        memcmp(&lines->slew, &line, sizeof(line)) == 0 &&
        memcmp(&lines->after, &line, sizeof(line)) == 0 &&
        memcmp(&lines->validity, &validity, sizeof(validity)) == 0;
}

static void no_copy_is_of_two_publications(void **state)
{
    struct page_writer writer = writer_new();
    struct shared_file file;
    struct timebase_page copy;
    unsigned good = 0, torn = 0, broken = 0, older = 0;
    uint64_t last = 0;
    (void)state;
    assert_int_equal(shared_file_open(&file, writer.path, "/none"), 0);
    publish_clear(writer.page);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        rewrite_until_orphaned(writer.page, parent);
        _exit(0);
    }
    while (shared_file_copy(&file, &copy) == TIMEBASE_E_STALE)
        ;
    for (int i = 0; i < COPIES; i++) {
        int error = shared_file_copy(&file, &copy);
        torn += error == TIMEBASE_E_TORN;
        if (error != TIMEBASE_OK)
            continue;
        good++;
        broken += !is_whole(&copy);
        older += copy.seq < last;
        last = copy.seq;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    shared_file_close(&file);
    writer_remove(&writer);
    print_message("%u copies of %u thousand publications, %u given up\n", good,
                  (unsigned)(last / 1000), torn);
    assert_int_equal(broken, 0);
    assert_int_equal(older, 0);
    assert_true(good > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_copy_is_of_two_publications),
    };
    return run_all(tests);
}
