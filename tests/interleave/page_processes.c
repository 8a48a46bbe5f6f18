/* SPDX-License-Identifier: MIT */
/*
 * Processes, not threads: two have the page's file mapped read-only and hand each other their
 * latest reading, a third publishes 10,000 times a second. No reading is of two publications, and
 * none is below one that it followed. (It shows what happens on this machine. A writer that raises
 * the number before the lines is caught here twice in 10^8 readings: that no order is missing is
 * for the models to show.)
 *
 *     page_processes                            the test
 *     page_processes --publish PATH SECONDS     the writer alone, for clocks that attach
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../emulated.h"
#include "page_publisher.h"
#include "threads.h"

#define PER_SECOND 10000

/* What the processes have in common beside the page. */
struct shared {
    struct {
        int64_t mono_ns __attribute__((aligned(128)));
    } latest[2];
    struct reader {
        uint64_t reads, torn, backward, without_a_line;
        uint64_t newest; /* maxerror of the latest reading: three times its publication's number */
        int64_t worst_ns;
        int is_done;
    } readers[2] __attribute__((aligned(128)));
    uint64_t published, late;
    int stop __attribute__((aligned(128)));
};

static char path[] = "/tmp/timebase-page-XXXXXX";

static const struct timebase_page *map_read_only(void)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *page = mmap(NULL, TIMEBASE_PAGE_SIZE, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    return page == MAP_FAILED ? NULL : (const struct timebase_page *)page;
}

static void look(const struct timebase_page *page, int64_t floor, struct reader *reader,
                 int64_t *latest)
{
    struct timebase_instant now;
    if (!timebase_page_read(page, 1, TIMEBASE_WANT_ALL, &now)) {
        reader->without_a_line++;
        return;
    }
    /* Of two publications, or of an older one after a newer: its words were not there yet. */
    reader->torn += !page_publisher_is_whole(&now) || now.maxerror_ns < reader->newest;
    reader->newest = now.maxerror_ns;
    if (now.mono_ns < floor) {
        reader->backward++;
        if (floor - now.mono_ns > reader->worst_ns)
            reader->worst_ns = floor - now.mono_ns;
    }
    __atomic_store_n(latest, now.mono_ns, __ATOMIC_RELEASE);
}

static void read_page(struct shared *shared, int index, uint64_t reads)
{
    const struct timebase_page *page = map_read_only();
    struct reader found = {0};
    int64_t *own = &shared->latest[index].mono_ns, *other = &shared->latest[!index].mono_ns;
    threads_pin(index);
    for (; page != NULL && found.reads < reads; found.reads++) {
        int64_t seen = __atomic_load_n(other, __ATOMIC_ACQUIRE);
        look(page, seen > *own ? seen : *own, &found, own);
    }
    found.is_done = page != NULL;
    shared->readers[index] = found;
}

static void keep_page(struct shared *shared, struct timebase_page *page)
{
    struct page_publisher publisher;
    page_publisher_begin(&publisher, page);
    page_publisher_run(&publisher, PER_SECOND, &shared->stop, 0);
    shared->published = publisher.published;
    shared->late = publisher.late;
}

/* In a child that does not outlive this process. */
static pid_t start(struct shared *shared, int index, uint64_t reads, struct timebase_page *page)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (page != NULL)
        keep_page(shared, page);
    else
        read_page(shared, index, reads);
    _exit(0);
}

static struct shared *share(void)
{
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return (struct shared *)memory;
}

static void expect_a_good_end(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void two_processes_read_while_a_third_publishes(void **state)
{
    struct shared *shared = share();
    uint64_t reads = threads_reads(20000000);
    struct timebase_page *page = page_publisher_map(path);
    (void)state;
    assert_non_null(page);
    pid_t writer = start(shared, 0, 0, page);
    while (timebase_page_seq(page, __ATOMIC_ACQUIRE) == 0)
        usleep(100);
    int64_t begun_ns = page_publisher_mono_ns();
    pid_t readers[2] = {start(shared, 0, reads / 2, NULL), start(shared, 1, reads / 2, NULL)};
    expect_a_good_end(readers[0]);
    expect_a_good_end(readers[1]);
    int64_t took_ns = page_publisher_mono_ns() - begun_ns;
    __atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
    expect_a_good_end(writer);

    struct reader *a = &shared->readers[0], *b = &shared->readers[1];
    assert_true(a->is_done && b->is_done);
    print_message(
        "%llu reads by 2 processes, %llu publications (%llu a second), %llu late, "
        "%llu torn, %llu backward (worst %lld ns), %llu without a line\n",
        (unsigned long long)(a->reads + b->reads), (unsigned long long)shared->published,
        (unsigned long long)(shared->published * 1000 / (uint64_t)(took_ns / 1000000 + 1)),
        (unsigned long long)shared->late, (unsigned long long)(a->torn + b->torn),
        (unsigned long long)(a->backward + b->backward),
        (long long)(a->worst_ns > b->worst_ns ? a->worst_ns : b->worst_ns),
        (unsigned long long)(a->without_a_line + b->without_a_line));
    assert_true(a->torn + b->torn == 0);
    /* A reader that two publications overtook may find no line for its tick in what it read, and
     * gives up before it looks at seq again: a clock then takes its slow path. Seldom. */
    assert_true(a->without_a_line + b->without_a_line < reads / 100);
    /* Late by more than the lead of 30 ms: only then the promise is not absolute. */
    if (shared->late == 0)
        assert_true(a->backward + b->backward == 0);
    munmap(page, TIMEBASE_PAGE_SIZE);
    munmap(shared, sizeof *shared);
}

static int publish_for_others(const char *where, const char *seconds)
{
    static const int never;
    struct page_publisher publisher;
    struct timebase_page *page = page_publisher_map(where);
    if (page == NULL) {
        fprintf(stderr, "page_processes: %s: %s\n", where, strerror(errno));
        return 1;
    }
    page_publisher_begin(&publisher, page);
    puts("publishing");
    fflush(stdout);
    page_publisher_run(&publisher, PER_SECOND, &never,
                       page_publisher_mono_ns() + (int64_t)(strtod(seconds, NULL) * 1e9));
    printf("%llu publications, %llu late\n", (unsigned long long)publisher.published,
           (unsigned long long)publisher.late);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--publish") == 0)
        return publish_for_others(argv[2], argv[3]);
    if (timebase_counter_id() == TIMEBASE_COUNTER_OS) { /* probes */
        puts("the processor's counter cannot be read here, and a mapped page needs it");
        return 77;
    }
    confine_if_emulated();
    int file = mkstemp(path);
    if (file < 0) {
        printf("%s: %s\n", path, strerror(errno));
        return 77;
    }
    close(file);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_processes_read_while_a_third_publishes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
