/* SPDX-License-Identifier: MIT */
/*
 * The daemon is killed at random instants, and started again, under two processes that read its
 * page all the time, as readers are told to: a copy of the file between two equal looks at its
 * number. No copy is torn or no page at all, no time goes back, unless by a late publication, and
 * while nobody renews the page its bound grows. How often it is killed: TIMEBASE_TEST_KILLS, or 50.
 */
#include "cmocka_first.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "folder.h"
#include "repeats.h"
#include "system/child.h"
#include "unit/dice.h"

enum { READERS = 2, LOOKS = 1000 };

/* Shared by all processes of the test. */
static struct shared {
    int is_over;
    uint64_t readings[READERS];
    uint64_t publications[READERS]; /* different numbers seen */
} * shared;

static int has_counter(void)
{
    return timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER;
}

/* ---- a reader ------------------------------------------------------------------------------- */

struct view {
    int fd;
    uint64_t seq;
    int64_t mono_ns;
    uint64_t maxerror_ns;
};

static uint64_t read_seq(int fd)
{
    uint64_t seq = 0;
    return pread(fd, &seq, sizeof(seq), 0) == sizeof(seq) ? seq : 0;
}

/* A consistent copy, or false after many attempts. */
static int copy_page(int fd, struct timebase_page *page)
{
    for (int look = 0; look < LOOKS; look++) {
        uint64_t seq = read_seq(fd);
        if (pread(fd, page, sizeof(*page), 0) != (ssize_t)sizeof(*page))
            return 0;
        if (seq != 0 && page->seq == seq && read_seq(fd) == seq)
            return 1;
    }
    return 0;
}

/*
 * A publication that came late is newer than readings of the lines before it, which it may contradict
 * by 1,000 ppm of its lateness. It was no later than it is seen to be. In time: 0.
 */
static int64_t may_go_back_ns(const struct timebase_page *page, const struct view *view,
                              const struct timebase_instant *now)
{
    int64_t late_ns = now->mono_ns - (int64_t)page->copy[page->seq & 1].slew.mono_ns;
    return page->seq == view->seq || late_ns < 0 ? 0 : 1 + late_ns / 1000;
}

static void look_once(struct view *view, uint64_t *publications)
{
    struct timebase_page page;
    struct timebase_instant now;
    EXPECT(copy_page(view->fd, &page));
    EXPECT(timebase_page_validate(&page) == 0);
    EXPECT(page.seq >= view->seq);
    EXPECT(timebase_page_convert(&page, timebase_ticks_ordered(), &now));
    EXPECT(now.mono_ns >= view->mono_ns - may_go_back_ns(&page, view, &now));
    /* On the same lines the bound grows, and never shrinks. */
    if (page.seq == view->seq && (now.flags & TIMEBASE_LINE_STATUS_MASK) != 0 &&
        (int64_t)(now.ticks - page.copy[page.seq & 1].after.start_ticks) > 0 &&
        view->maxerror_ns != 0)
        EXPECT(now.maxerror_ns >= view->maxerror_ns);
    view->maxerror_ns =
        (int64_t)(now.ticks - page.copy[page.seq & 1].after.start_ticks) > 0 ? now.maxerror_ns : 0;
    *publications += page.seq != view->seq;
    view->seq = page.seq;
    view->mono_ns = now.mono_ns;
}

static void read_all_the_time(int which)
{
    struct view view = {.fd = open(page_path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
    EXPECT(view.fd >= 0);
    while (!__atomic_load_n(&shared->is_over, __ATOMIC_RELAXED)) {
        uint64_t publications = 0;
        look_once(&view, &publications);
        __atomic_fetch_add(&shared->publications[which], publications, __ATOMIC_RELAXED);
        shared->readings[which]++;
    }
}

static pid_t start_reader(int which)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        read_all_the_time(which);
        _exit(0);
    }
    return child;
}

/* ---- the daemon ------------------------------------------------------------------------------ */

/* Under emulation the kernel does not know the program's processor: Meson names who does. */
static void become_daemon(char *page)
{
    char *arguments[] = {
        getenv("MESON_EXE_WRAPPER"), getenv("TIMEBASED"),  page, "--log-level=error",
        "--interval=100ms",          "--config=/dev/null", NULL};
    char **first = arguments[0] != NULL ? arguments : arguments + 1;
    execvp(first[0], first);
    _exit(127);
}

static pid_t start_daemon(void)
{
    char page[120];
    snprintf(page, sizeof(page), "--page=%s", page_path);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        become_daemon(page);
    }
    return child;
}

static void sleep_us(uint64_t us)
{
    struct timespec wait = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
    while (nanosleep(&wait, &wait) != 0 && errno == EINTR)
        ;
}

/* What takes milliseconds; a machine that is held up gets five minutes. */
static int wait_until(int (*is_so)(void))
{
    for (int i = 0; i < 300000 && !is_so(); i++)
        sleep_us(1000);
    return is_so();
}

static int has_page(void)
{
    return access(page_path, R_OK) == 0;
}

static uint64_t fewest_publications(void)
{
    uint64_t fewest = UINT64_MAX;
    for (int i = 0; i < READERS; i++) {
        uint64_t seen = __atomic_load_n(&shared->publications[i], __ATOMIC_RELAXED);
        fewest = seen < fewest ? seen : fewest;
    }
    return fewest;
}

static uint64_t publications_before;

static int all_have_seen_another(void)
{
    return fewest_publications() > publications_before;
}

/* By a daemon that lives: however slow the machine, readers have something to read. */
static void see_a_publication(void)
{
    publications_before = fewest_publications();
    assert_true(wait_until(all_have_seen_another));
}

static void kill_daemon(pid_t child)
{
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* it had not ended by itself */
}

static uint64_t kills_wanted(void)
{
    const char *text = getenv("TIMEBASE_TEST_KILLS");
    return text != NULL ? strtoull(text, NULL, 0) : (uint64_t)repeats(50);
}

static void readers_notice_nothing_of_a_daemon_that_is_killed(void **state)
{
    struct dice dice = dice_new();
    pid_t readers[READERS];
    (void)state;
    if (getenv("TIMEBASED") == NULL || !has_counter()) {
        print_message("skipped: needs TIMEBASED, the daemon's path, and a processor's counter\n");
        skip();
    }
    pid_t child = start_daemon();
    assert_true(wait_until(has_page));
    for (int i = 0; i < READERS; i++)
        readers[i] = start_reader(i);
    for (uint64_t kills = kills_wanted(); kills > 0; kills--) {
        if (kills % 10 == 0)
            see_a_publication();
        sleep_us(500 + dice_below(&dice, 120000));
        kill_daemon(child);
        child = start_daemon();
    }
    see_a_publication();
    kill_daemon(child);
    __atomic_store_n(&shared->is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(child_status(readers[i]), 0);
        print_message("reader %d: %llu readings, %llu publications\n", i,
                      (unsigned long long)shared->readings[i],
                      (unsigned long long)shared->publications[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(readers_notice_nothing_of_a_daemon_that_is_killed,
                                        make_folder, remove_folder),
    };
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
