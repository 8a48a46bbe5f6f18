/* SPDX-License-Identifier: MIT */
/* A preloaded program where nothing is gained: the library steps aside, and is not felt. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <sys/user.h>

#include "preload.h"
#include "single_step.h"
#include "skipped.h"

/* On 32-bit machines there are two of each, for seconds of 32 and of 64 bits: struct timespec, the larger
 * one, has room for either. */
static const char *const gettime_names[] = {"clock_gettime", "__clock_gettime64"};
static const char *const timeofday_names[] = {"gettimeofday", "__gettimeofday64"};
enum { WIDTHS = sizeof(time_t) > sizeof(long) ? 2 : 1 };

/* So many instructions more than the C library's may a call take: those that find out that it
 * steps aside. */
#define MORE 32

typedef int gettime_function(clockid_t id, struct timespec *out);
typedef int timeofday_function(struct timeval *out, void *zone);

static struct single_step *marks;
static gettime_function *gettime;
static timeofday_function *timeofday;
static struct range {
    uintptr_t begin, end;
} vdso;

/* ---- instructions, but for those of the kernel's code, which begins again at a tick ---------- */

static struct range find_vdso(void)
{
    unsigned long begin, end;
    char line[256];
    struct range found = {0, 0};
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL)
        if (strstr(line, "[vdso]") != NULL && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            found = (struct range){begin, end};
    fclose(maps);
    return found;
}

static bool is_in_vdso(pid_t child)
{
    struct user_regs_struct registers;
    assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &registers), 0);
#ifdef __x86_64__
    uintptr_t at = registers.rip;
#else
    uintptr_t at = (uintptr_t)registers.eip;
#endif
    return at >= vdso.begin && at < vdso.end;
}

static unsigned instructions_of(void (*body)(void))
{
    unsigned count = 0;
    pid_t child = single_step_start(marks, body);
    if (child < 0)
        skip_because("no child can be single-stepped here (sandbox or emulation)");
    while (single_step_many(marks, child, 1) == 1)
        count += !is_in_vdso(child);
    single_step_kill(child);
    return count;
}

/* The first call of a thread looks what there is to gain. */
static void ask_gettime(void)
{
    struct timespec now;
    gettime(CLOCK_MONOTONIC, &now);
    marks->has_begun = 1;
    gettime(CLOCK_MONOTONIC, &now);
    marks->has_ended = 1;
}

static void ask_timeofday(void)
{
    struct timeval now;
    timeofday(&now, NULL);
    marks->has_begun = 1;
    timeofday(&now, NULL);
    marks->has_ended = 1;
}

static void *of_c_library(const char *name)
{
    void *function = dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), name);
    assert_non_null(function);
    return function;
}

static void *of_preload(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    assert_ptr_not_equal(function, of_c_library(name));
    return function;
}

static void few_more(const char *name, void *function, void (*ask)(void))
{
    *(void **)function = of_c_library(name);
    unsigned theirs = instructions_of(ask);
    *(void **)function = of_preload(name);
    unsigned ours = instructions_of(ask);
    print_message("%s: %u instructions, the C library's %u\n", name, ours, theirs);
    assert_true(ours <= theirs + MORE);
}

static void clock_gettime_takes_few_instructions_more(void **state)
{
    (void)state;
    for (int i = 0; i < WIDTHS; i++)
        few_more(gettime_names[i], &gettime, ask_gettime);
}

static void gettimeofday_takes_few_instructions_more(void **state)
{
    (void)state;
    for (int i = 0; i < WIDTHS; i++)
        few_more(timeofday_names[i], &timeofday, ask_timeofday);
}

/* ---- as the C library's ---------------------------------------------------------------------- */

static void every_clock_is_the_kernels(void **state)
{
    const clockid_t clocks[] = {CLOCK_REALTIME,         CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
                                CLOCK_BOOTTIME,         CLOCK_TAI,       CLOCK_PROCESS_CPUTIME_ID,
                                CLOCK_THREAD_CPUTIME_ID};
    (void)state;
    for (unsigned i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
        for (int n = 0; n < 10000; n++) {
            int64_t before_ns = kernel_ns(clocks[i]), ns = reading_ns(clocks[i]);
            assert_between(before_ns, ns, kernel_ns(clocks[i]));
        }
}

static void what_is_no_clock_is_refused_with_errno(void **state)
{
    struct timespec now;
    (void)state;
    for (int i = 0; i < 3; i++) {
        errno = 0;
        assert_int_equal(clock_gettime(9999, &now), -1);
        assert_int_equal(errno, EINVAL);
    }
}

static void errno_stays(void **state)
{
    (void)state;
    errno = EXDEV;
    for (int i = 0; i < 10000; i++)
        reading_ns(CLOCK_MONOTONIC);
    assert_int_equal(errno, EXDEV);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_gettime_takes_few_instructions_more),
        cmocka_unit_test(gettimeofday_takes_few_instructions_more),
        cmocka_unit_test(every_clock_is_the_kernels),
        cmocka_unit_test(what_is_no_clock_is_refused_with_errno),
        cmocka_unit_test(errno_stays),
    };
    (void)argc;
    run_preloaded(argv, "kernel");
    vdso = find_vdso();
    marks = single_step_memory(sizeof(*marks));
    return marks == NULL ? 1 : run_all(tests);
}
