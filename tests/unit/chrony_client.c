/* SPDX-License-Identifier: MIT */
/* The client's process: scripts in its place that are missing, refused, slow, silent or endless. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <timebase/error.h>

#include "emulated.h"
#include "kernel_now.h"
#include "daemon/sources/chrony.h"
#include "daemon/sources/drivers.h"

#define LINE                                                                                       \
    "7F000001,127.0.0.1,2,1795274325.5,-0.009235670,0.000090834,0.000922741,-98.794,2.329,"        \
    "553.669,0.025427816,0.001162255,1.0,Normal"

static char folder[] = "/tmp/timebase-chrony-XXXXXX";
static char script[64], other[64];
static const char *programs[3];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(script, sizeof(script), "%s/chronyc", folder);
    snprintf(other, sizeof(other), "%s/seen", folder);
    programs[0] = script;
    programs[1] = NULL;
    chrony_set_programs(programs);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    chrony_set_programs(NULL);
    unlink(script);
    unlink(other);
    return rmdir(folder);
}

static void write_script(const char *text, mode_t mode)
{
    unlink(script);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(script, mode), 0);
}

static void pause_ms(long ms)
{
    struct timespec pause = {.tv_nsec = ms * 1000000};
    nanosleep(&pause, NULL);
}

/* Until it has ended; what that was. */
static int finish(struct chrony_client *client)
{
    for (;;) {
        int error = chrony_client_poll(client);
        if (error != TIMEBASE_E_BUSY)
            return error;
        pause_ms(1);
    }
}

static int run(struct chrony_client *client, const char *text)
{
    write_script(text, 0700);
    assert_int_equal(chrony_client_start(client, "", ""), TIMEBASE_OK);
    return finish(client);
}

static void assert_said(const struct chrony_client *client, const char *text)
{
    assert_int_equal(client->length, strlen(text));
    assert_memory_equal(client->text, text, client->length);
}

static void assert_no_children(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* Killed, but perhaps not gone within the millisecond that the driver waits. */
static void wait_for_the_dying(struct chrony_client *client)
{
    for (; client->dying != 0; pause_ms(1))
        if (waitpid(client->dying, NULL, WNOHANG) != 0)
            client->dying = 0;
}

static void its_text_is_there_when_it_has_ended(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    assert_int_equal(run(&client, "echo hello; sleep 0.05; echo there"), TIMEBASE_OK);
    assert_said(&client, "hello\nthere\n");
    assert_int_equal(client.pid, 0);
    assert_no_children();
}

static void it_is_asked_in_the_c_locale_with_nothing_else(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    setenv("TIMEBASE_LEAK", "1", 1);
    assert_int_equal(run(&client, "echo \"$LC_ALL $TZ ${TIMEBASE_LEAK-clean} $*\"; cat"),
                     TIMEBASE_OK);
    assert_said(&client, "C UTC clean -n -c tracking\n");
    write_script("echo \"with $*\"", 0700);
    assert_int_equal(chrony_client_start(&client, "::1", "323"), TIMEBASE_OK);
    assert_int_equal(finish(&client), TIMEBASE_OK);
    assert_said(&client, "with -n -c -h ::1 -p 323 tracking\n");
}

static void it_inherits_no_files_and_no_blocked_signals(void **state)
{
    struct chrony_client client = {.fd = -1};
    sigset_t all, kept;
    int leak = dup(STDOUT_FILENO);
    (void)state;
    assert_true(leak > 2);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &kept);
    int error = run(&client,
                    "while read name mask; do test $name = SigBlk: && echo $mask; done "
                    "</proc/$$/status; readlink /proc/self/fd/0; "
                    "test ! -e /proc/$$/fd/9 && echo closed");
    sigprocmask(SIG_SETMASK, &kept, NULL);
    close(leak);
    assert_int_equal(error, TIMEBASE_OK);
    assert_said(&client, "0000000000000000\n/dev/null\nclosed\n");
}

static void a_failure_of_the_client_is_a_failure(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    assert_int_equal(run(&client, "echo '506 Cannot talk to daemon'; exit 1"),
                     TIMEBASE_E_REFERENCE);
    assert_int_equal(run(&client, "echo half; kill -KILL $$"), TIMEBASE_E_REFERENCE);
    assert_no_children();
}

static void one_that_does_not_stop_talking_is_killed(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    assert_int_equal(run(&client, "while :; do echo and on and on; done"), TIMEBASE_E_FORMAT);
    assert_int_equal(client.pid, 0);
    wait_for_the_dying(&client);
    assert_no_children();
}

/* QEMU's vfork is a fork: that exec failed is told by the child's end only, status 127. */
static void a_client_that_was_not_to_be_run_after_all_is_missing(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    assert_int_equal(run(&client, "exit 127"), TIMEBASE_E_UNSUPPORTED);
}

static void a_missing_client_is_said_to_be_missing(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    if (is_emulated())
        skip();
    unlink(script);
    assert_int_equal(chrony_client_start(&client, "", ""), TIMEBASE_E_UNSUPPORTED);
    assert_int_equal(chrony_client_poll(&client), TIMEBASE_E_REFERENCE);
    /* The next place is tried. */
    write_script("echo second", 0700);
    programs[0] = "/nowhere/chronyc";
    programs[1] = script;
    assert_int_equal(chrony_client_start(&client, "", ""), TIMEBASE_OK);
    assert_int_equal(finish(&client), TIMEBASE_OK);
    assert_said(&client, "second\n");
    programs[0] = script;
    programs[1] = NULL;
}

static void a_client_that_may_not_be_run_is_said_to_be_refused(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    if (is_emulated())
        skip();
    write_script("echo no", 0600);
    assert_int_equal(chrony_client_start(&client, "", ""), TIMEBASE_E_PERMISSION);
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0;
}

/* The script's own child, whose number it writes down. */
static pid_t seen_pid(void)
{
    long pid = 0;
    for (int i = 0; i < 5000 && pid == 0; i++) {
        FILE *file = fopen(other, "r");
        if (file != NULL && fscanf(file, "%ld\n", &pid) != 1)
            pid = 0;
        if (file != NULL)
            fclose(file);
        pause_ms(1);
    }
    assert_true(pid > 0);
    return (pid_t)pid;
}

static void one_that_hangs_is_stopped_with_its_children(void **state)
{
    struct chrony_client client = {.fd = -1};
    char text[128];
    (void)state;
    unlink(other);
    snprintf(text, sizeof(text), "sleep 1000 & echo $! > %s; wait", other);
    write_script(text, 0700);
    assert_int_equal(chrony_client_start(&client, "", ""), TIMEBASE_OK);
    pid_t child = seen_pid(), parent = client.pid;
    assert_int_equal(chrony_client_poll(&client), TIMEBASE_E_BUSY);
    chrony_client_stop(&client);
    assert_int_equal(client.pid, 0);
    wait_for_the_dying(&client);
    assert_false(is_alive(parent));
    /* The child is nobody's now: init's, or a zombie of a container without one. */
    char path[64], line[256] = "";
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)child);
    for (int i = 0; i < 5000; i++) {
        FILE *file = fopen(path, "r");
        if (file == NULL || fgets(line, sizeof(line), file) == NULL)
            line[0] = '\0';
        if (file != NULL)
            fclose(file);
        if (line[0] == '\0' || strstr(line, ") Z ") != NULL)
            break;
        pause_ms(1);
    }
    assert_true(line[0] == '\0' || strstr(line, ") Z ") != NULL);
    chrony_client_stop(&client); /* twice does nothing */
}

static void one_that_closes_its_output_and_goes_on_is_busy(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    write_script("echo x; exec >&-; sleep 1000", 0700);
    assert_int_equal(chrony_client_start(&client, "", ""), TIMEBASE_OK);
    while (client.fd >= 0) {
        assert_int_equal(chrony_client_poll(&client), TIMEBASE_E_BUSY);
        pause_ms(1);
    }
    assert_int_equal(chrony_client_poll(&client), TIMEBASE_E_BUSY);
    chrony_client_stop(&client);
    wait_for_the_dying(&client);
}

static void it_works_where_sigchld_is_ignored(void **state)
{
    struct chrony_client client = {.fd = -1};
    (void)state;
    void (*kept)(int) = signal(SIGCHLD, SIG_IGN);
    int error = run(&client, "echo hello");
    signal(SIGCHLD, kept);
    assert_int_equal(error, TIMEBASE_OK);
    assert_said(&client, "hello\n");
}

/* ---- the driver ---------------------------------------------------------------------------- */

static const struct reference_source *const source = &reference_source_chrony;
static union reference_context context;

static int open_source(const char *argument)
{
    memset(&context, 0, sizeof(context));
    return source->open(&context, argument);
}

static int ask(struct reference_claim *claim)
{
    for (;;) {
        int error = source->claim(&context, claim);
        if (error != TIMEBASE_E_BUSY)
            return error;
        pause_ms(1);
    }
}

static void the_driver_claims_what_the_client_says(void **state)
{
    struct reference_claim claim, again;
    (void)state;
    write_script("echo '" LINE "'", 0700);
    assert_int_equal(open_source(NULL), TIMEBASE_OK);
    int64_t before_ns = kernel_now(CLOCK_MONOTONIC);
    assert_int_equal(source->claim(&context, &claim), TIMEBASE_E_BUSY);
    int64_t started_ns = kernel_now(CLOCK_MONOTONIC);
    assert_int_equal(ask(&claim), TIMEBASE_OK);
    assert_true(claim.offset_ns == 9235670);
    assert_true(claim.is_synchronized);
    /* dated from before the client was started */
    assert_true(before_ns <= claim.mono_ns && claim.mono_ns <= started_ns);
    assert_string_equal(reference_reason(&context), "no failure");
    /* and between two answers the last one stands */
    assert_int_equal(source->claim(&context, &again), TIMEBASE_OK);
    assert_true(again.mono_ns == claim.mono_ns);
    source->close(&context);
    assert_no_children();
}

static void it_asks_again_after_the_interval(void **state)
{
    struct reference_claim claim;
    (void)state;
    write_script("echo '" LINE "'", 0700);
    assert_int_equal(open_source(",interval=20ms"), TIMEBASE_OK);
    assert_int_equal(ask(&claim), TIMEBASE_OK);
    int64_t first_ns = claim.mono_ns;
    while (claim.mono_ns == first_ns) {
        assert_int_equal(ask(&claim), TIMEBASE_OK);
        pause_ms(1);
    }
    assert_true(claim.mono_ns - first_ns >= 20000000);
    source->close(&context);
}

static void its_failures_have_reasons(void **state)
{
    struct reference_claim claim;
    (void)state;
    write_script("echo garbage", 0700);
    assert_int_equal(open_source(NULL), TIMEBASE_OK);
    assert_int_equal(ask(&claim), TIMEBASE_E_FORMAT);
    assert_non_null(strstr(reference_reason(&context), "tracking line"));
    source->close(&context);
    write_script("exit 1", 0700);
    assert_int_equal(open_source(NULL), TIMEBASE_OK);
    assert_int_equal(ask(&claim), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(reference_reason(&context), "does not answer"));
    source->close(&context);
    unlink(script);
    assert_int_equal(open_source(NULL), TIMEBASE_OK);
    assert_int_equal(ask(&claim), TIMEBASE_E_UNSUPPORTED);
    assert_non_null(strstr(reference_reason(&context), "no chronyc"));
    source->close(&context);
}

/* Three seconds of real time: the one thing here that is waited for. */
static void a_client_that_hangs_is_killed_in_the_end(void **state)
{
    struct reference_claim claim;
    (void)state;
    write_script("exec sleep 1000", 0700);
    assert_int_equal(open_source(NULL), TIMEBASE_OK);
    int64_t before_ns = kernel_now(CLOCK_MONOTONIC);
    assert_int_equal(ask(&claim), TIMEBASE_E_STALE);
    assert_true(kernel_now(CLOCK_MONOTONIC) - before_ns >= 2000000000);
    assert_non_null(strstr(reference_reason(&context), "killed"));
    source->close(&context);
}

static void arguments_that_name_no_place_are_refused(void **state)
{
    static const char *const good[] = {"localhost", "127.0.0.1:323", "[::1]:323",
                                       "::1",       "[fe80::1]",     "/run/x.sock",
                                       "a-b.c:1",   ",interval=1s",  "h,interval=20ms"};
    static const char *const bad[] = {"",
                                      "-h",
                                      "a b",
                                      "a;b",
                                      "$(id)",
                                      "h:0",
                                      "h:65536",
                                      "h:x",
                                      "h:",
                                      "[::1",
                                      "[::1]x",
                                      "h,interval",
                                      "h,poll=1s",
                                      "h,interval=1",
                                      "h,interval=1ms",
                                      "h,interval=-1s",
                                      "h,interval=nan"};
    char longest[300];
    (void)state;
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (open_source(good[i]) != TIMEBASE_OK)
            fail_msg("refused: %s", good[i]);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (open_source(bad[i]) != TIMEBASE_E_INVALID)
            fail_msg("accepted: %s", bad[i]);
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(open_source(longest), TIMEBASE_E_INVALID);
    assert_non_null(strstr(reference_reason(&context), "place"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_text_is_there_when_it_has_ended),
        cmocka_unit_test(it_is_asked_in_the_c_locale_with_nothing_else),
        cmocka_unit_test(it_inherits_no_files_and_no_blocked_signals),
        cmocka_unit_test(a_failure_of_the_client_is_a_failure),
        cmocka_unit_test(one_that_does_not_stop_talking_is_killed),
        cmocka_unit_test(a_client_that_was_not_to_be_run_after_all_is_missing),
        cmocka_unit_test(a_missing_client_is_said_to_be_missing),
        cmocka_unit_test(a_client_that_may_not_be_run_is_said_to_be_refused),
        cmocka_unit_test(one_that_hangs_is_stopped_with_its_children),
        cmocka_unit_test(one_that_closes_its_output_and_goes_on_is_busy),
        cmocka_unit_test(it_works_where_sigchld_is_ignored),
        cmocka_unit_test(the_driver_claims_what_the_client_says),
        cmocka_unit_test(it_asks_again_after_the_interval),
        cmocka_unit_test(its_failures_have_reasons),
        cmocka_unit_test(a_client_that_hangs_is_killed_in_the_end),
        cmocka_unit_test(arguments_that_name_no_place_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
