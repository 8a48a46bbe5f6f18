/* SPDX-License-Identifier: MIT */
/* A child with all that it was granted is killed: nothing of it is left, here or on the machine. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include <timebase/realtime.h>

#include "child.h"
#include "settings.h"

#define LATENCY "/dev/cpu_dma_latency"

static int tell[2];

static void acquire_and_stay(void)
{
    const struct timebase_realtime_request request = {TIMEBASE_REALTIME_ALL, 10, -1};
    struct timebase_realtime rt;
    timebase_realtime_acquire(&rt, &request);
    EXPECT(write(tell[1], &rt, sizeof(rt)) == sizeof(rt));
    for (;;)
        pause();
}

/* What it was granted. */
static struct timebase_realtime kill_while_granted(void)
{
    struct timebase_realtime rt;
    assert_int_equal(pipe(tell), 0);
    pid_t child = fork();
    if (child == 0)
        acquire_and_stay();
    assert_int_equal(read(tell[0], &rt, sizeof(rt)), sizeof(rt));
    kill(child, SIGKILL);
    assert_int_equal(child_status(child), 128 + SIGKILL);
    close(tell[0]);
    close(tell[1]);
    return rt;
}

static void the_parents_settings_are_as_before(void **state)
{
    struct settings before = settings_now();
    (void)state;
    struct timebase_realtime rt = kill_while_granted();
    struct settings after = settings_now();
    if (rt.granted == 0)
        skip_because("nothing is granted here");
    assert_true(settings_equal(&before, &after));
}

/* In us; INT32_MAX if it cannot be read. */
static int32_t machines_latency(void)
{
    int32_t us = INT32_MAX;
    int file = open(LATENCY, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, &us, sizeof(us)) != sizeof(us))
        us = INT32_MAX;
    if (file >= 0)
        close(file);
    return us;
}

static int holds(const char *process)
{
    char path[300], target[64];
    int found = 0;
    for (int file = 0; file < 256 && !found; file++) {
        snprintf(path, sizeof(path), "/proc/%s/fd/%d", process, file);
        ssize_t length = readlink(path, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        found = strcmp(target, LATENCY) == 0;
    }
    return found;
}

/* Some other program of this machine may have asked for the same. */
static int somebody_holds_it(void)
{
    DIR *processes = opendir("/proc");
    int found = 0;
    for (struct dirent *entry; !found && processes != NULL;) {
        entry = readdir(processes);
        if (entry == NULL)
            break;
        found = atoi(entry->d_name) > 0 && holds(entry->d_name);
    }
    if (processes != NULL)
        closedir(processes);
    return found;
}

static void the_machines_idle_latency_is_free_again(void **state)
{
    (void)state;
    if (machines_latency() == INT32_MAX)
        skip_because(LATENCY " cannot be read here");
    if (somebody_holds_it())
        skip_because("some other program holds " LATENCY);
    struct timebase_realtime rt = kill_while_granted();
    if (!(rt.granted & TIMEBASE_REALTIME_CPU_LATENCY))
        skip_because(LATENCY " is refused here");
    if (machines_latency() == 0 && !somebody_holds_it() && machines_latency() == 0)
        fail_msg("the latency is still 0, and no process holds it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parents_settings_are_as_before),
        cmocka_unit_test(the_machines_idle_latency_is_free_again),
    };
    return run_all(tests);
}
