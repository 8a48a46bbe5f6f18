/* SPDX-License-Identifier: MIT */
/*
 * A CPU is taken away in the middle of a wait that was pinned to it. Not by default: it moves all
 * that others have pinned there, for good. TIMEBASE_TEST_HOTPLUG=1 asks for it. A keeper process,
 * that outlives this one whatever becomes of it, brings the CPU back.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "whole_waiter.h"

#define WAIT_NS (300 * MILLISECOND)
#define OFFLINE_AFTER_US 50000

static int cpu = -1; /* to be taken away: the last that we may use, but not the first of all */

static int open_switch(int how)
{
    char path[64];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
    return open(path, how | O_CLOEXEC);
}

static int is_online(void)
{
    char state = 0;
    int file = open_switch(O_RDONLY);
    if (file < 0 || read(file, &state, 1) != 1)
        state = 0;
    close(file);
    return state == '1';
}

static int switch_to(const char *state)
{
    int file = open_switch(O_WRONLY);
    int is_written = file >= 0 && write(file, state, 1) == 1;
    close(file);
    return is_written && is_online() == (*state == '1');
}

/* ---- may we? ------------------------------------------------------------------------------ */

/* What is no number is no process; a kernel thread has no executable. */
static int is_pinned_here(const char *process)
{
    char path[300], link[8], line[256], wanted[16];
    int found = 0;
    snprintf(path, sizeof(path), "/proc/%s/exe", process);
    if (readlink(path, link, sizeof(link)) < 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/%s/status", process);
    snprintf(wanted, sizeof(wanted), "%d\n", cpu);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "Cpus_allowed_list:\t", 19) == 0)
            found = strcmp(line + 19, wanted) == 0;
    if (file != NULL)
        fclose(file);
    return found;
}

static int is_anybody_pinned_here(void)
{
    DIR *processes = opendir("/proc");
    int found = processes == NULL;
    for (struct dirent *entry; !found && (entry = readdir(processes)) != NULL;)
        found = is_pinned_here(entry->d_name);
    if (processes != NULL)
        closedir(processes);
    return found;
}

static const char *reason_not_to(void)
{
    cpu_set_t allowed;
    if (getenv("TIMEBASE_TEST_HOTPLUG") == NULL)
        return "takes a CPU away from all: TIMEBASE_TEST_HOTPLUG=1 allows it";
    if (geteuid() != 0)
        return "not root";
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return "affinity cannot be read";
    for (int i = 1; i < CPU_SETSIZE; i++)
        cpu = CPU_ISSET(i, &allowed) ? i : cpu;
    int file = open_switch(O_WRONLY);
    close(file);
    if (cpu < 0 || file < 0 || !is_online())
        return "no CPU that can be taken away";
    return is_anybody_pinned_here() ? "somebody has pinned a process to that CPU" : NULL;
}

/* ---- the keeper --------------------------------------------------------------------------- */

struct keeper {
    pid_t process;
    int lifeline; /* open as long as we live */
};

static void keep(int lifeline)
{
    char nothing;
    setsid();
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    while (read(lifeline, &nothing, 1) > 0)
        ;
    for (int i = 0; i < 100 && !is_online(); i++)
        if (!switch_to("1"))
            usleep(100000);
    _exit(is_online() ? 0 : 1);
}

static struct keeper start_keeper(void)
{
    struct keeper keeper = {-1, -1};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return keeper;
    fflush(stdout);
    keeper.process = fork();
    if (keeper.process == 0) {
        close(ends[1]);
        keep(ends[0]);
    }
    close(ends[0]);
    keeper.lifeline = ends[1];
    return keeper;
}

/* ---- the test ----------------------------------------------------------------------------- */

static void *take_away(void *argument)
{
    usleep(OFFLINE_AFTER_US);
    *(int *)argument = switch_to("0");
    return NULL;
}

static void wait_while_it_goes(unsigned flags)
{
    struct timebase_wait_result result;
    pthread_t thread;
    cpu_set_t one;
    int is_gone = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* or the keeper would wait for us, too */
    EXPECT(pthread_create(&thread, NULL, take_away, &is_gone) == 0);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    EXPECT(sched_setaffinity(0, sizeof one, &one) == 0);
    uint64_t target = timebase_ticks() + (uint64_t)ticks_of(WAIT_NS);
    int late = timebase_wait_until_ticks(the_waiter(), target, flags, &result);
    EXPECT((int64_t)(timebase_ticks_ordered() - target) >= 0);
    EXPECT(late == result.late);
    pthread_join(thread, NULL);
    if (!is_gone)
        child_skip("the kernel would not take the CPU away");
    EXPECT(sched_getcpu() != cpu);
    whole_waiter_check(the_waiter());
    EXPECT(timebase_waiter_calibrate(the_waiter()) == 0);
    EXPECT(description_of(the_waiter()).cpu != cpu);
    EXPECT(switch_to("1"));
}

static void lose_the_cpu_asleep(void)
{
    wait_while_it_goes(TIMEBASE_WAIT_SLEEP | TIMEBASE_WAIT_NEVER_EARLY);
}

static void lose_the_cpu_awake(void)
{
    wait_while_it_goes(TIMEBASE_WAIT_NEVER_EARLY);
}

static void lose_the_cpu(void (*body)(void))
{
    if (reason_not_to() != NULL)
        skip_because(reason_not_to());
    struct keeper keeper = start_keeper();
    assert_true(keeper.process > 0);
    int result = child_run(body);
    close(keeper.lifeline);
    assert_int_equal(child_status(keeper.process), 0);
    assert_true(is_online());
    if (result == SKIPPED)
        skip_because("see above");
    assert_int_equal(result, 0);
}

static void a_sleeping_wait_ends_on_another_cpu(void **state)
{
    (void)state;
    lose_the_cpu(lose_the_cpu_asleep);
}

static void a_polling_wait_ends_on_another_cpu(void **state)
{
    (void)state;
    lose_the_cpu(lose_the_cpu_awake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleeping_wait_ends_on_another_cpu),
        cmocka_unit_test(a_polling_wait_ends_on_another_cpu),
    };
    return run_all(tests);
}
