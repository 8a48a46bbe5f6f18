/* SPDX-License-Identifier: MIT */
/* What the kernel thinks of the counter, and its files when they are not what they should be. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock/counter/probe.h"

#define CLOCKSOURCE "sys/devices/system/clocksource/clocksource0"

static const struct {
    int id;
    const char *current, *available;
    enum counter_opinion opinion;
} cases[] = {
    {TIMEBASE_COUNTER_X86_TSC, "tsc", "tsc kvm-clock", COUNTER_OPINION_TRUSTS},
    {TIMEBASE_COUNTER_X86_TSC, "tsc-early", "tsc-early hpet acpi_pm", COUNTER_OPINION_TRUSTS},
    {TIMEBASE_COUNTER_X86_TSC, "kvm-clock", "kvm-clock tsc acpi_pm", COUNTER_OPINION_NEUTRAL},
    {TIMEBASE_COUNTER_X86_TSC, "xen", "xen tsc", COUNTER_OPINION_NEUTRAL},
    {TIMEBASE_COUNTER_X86_TSC, "hyperv_clocksource_tsc_page", "tsc acpi_pm",
     COUNTER_OPINION_NEUTRAL},
    /* an unstable TSC is struck off the list */
    {TIMEBASE_COUNTER_X86_TSC, "hpet", "hpet acpi_pm", COUNTER_OPINION_DISTRUSTS},
    {TIMEBASE_COUNTER_X86_TSC, "hpet", "tsc hpet acpi_pm", COUNTER_OPINION_DISTRUSTS},
    {TIMEBASE_COUNTER_X86_TSC, "acpi_pm", "", COUNTER_OPINION_DISTRUSTS},
    {TIMEBASE_COUNTER_X86_TSC, "new_clock", "new_clock tsc", COUNTER_OPINION_DISTRUSTS},
    {TIMEBASE_COUNTER_X86_TSC, "new_clock", "new_clock tsc2", COUNTER_OPINION_NONE},
    {TIMEBASE_COUNTER_X86_TSC, "", "", COUNTER_OPINION_NONE},
    {TIMEBASE_COUNTER_X86_TSC, "", "tsc", COUNTER_OPINION_NONE},
    {TIMEBASE_COUNTER_X86_TSC, " ", "  ", COUNTER_OPINION_NONE},
    {TIMEBASE_COUNTER_X86_TSC, "hyperv_clocksource_msr", "hyperv_clocksource_msr acpi_pm",
     COUNTER_OPINION_DISTRUSTS},
    {TIMEBASE_COUNTER_POWER_TB, "timebase", "timebase", COUNTER_OPINION_TRUSTS},
    /* an emulator on a PC */
    {TIMEBASE_COUNTER_POWER_TB, "tsc", "tsc kvm-clock", COUNTER_OPINION_NONE},
    {TIMEBASE_COUNTER_POWER_TB, "other", "timebase other", COUNTER_OPINION_DISTRUSTS},
    {TIMEBASE_COUNTER_ARM_VCNT, "arch_sys_counter", "arch_sys_counter", COUNTER_OPINION_TRUSTS},
    {TIMEBASE_COUNTER_ARM_VCNT, "arch_mem_counter", "arch_mem_counter", COUNTER_OPINION_NEUTRAL},
    {TIMEBASE_COUNTER_ARM_VCNT, "timer", "timer arch_sys_counter", COUNTER_OPINION_DISTRUSTS},
    {TIMEBASE_COUNTER_RISCV_TIME, "riscv_clocksource", "", COUNTER_OPINION_TRUSTS},
    {TIMEBASE_COUNTER_S390_TOD, "tod", "tod", COUNTER_OPINION_TRUSTS},
    {TIMEBASE_COUNTER_OS, "hpet", "hpet", COUNTER_OPINION_TRUSTS},
    {TIMEBASE_COUNTER_OS, "", "", COUNTER_OPINION_TRUSTS},
    {TIMEBASE_COUNTER_INVALID, "tsc", "tsc", COUNTER_OPINION_NONE},
};

static void test_opinions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum counter_opinion opinion =
            counter_judge_clocksource(cases[i].id, cases[i].current, cases[i].available);
        if (opinion != cases[i].opinion)
            fail_msg("%d, \"%s\" of \"%s\": %d", cases[i].id, cases[i].current, cases[i].available,
                     opinion);
    }
}

static char folder[] = "/tmp/timebase-kernel-XXXXXX";

static void write_file(const char *name, const char *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/" CLOCKSOURCE "/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static struct timebase_counter ask(int id)
{
    struct timebase_counter counter;
    memset(&counter, 0, sizeof(counter));
    counter.id = id;
    counter_ask_kernel(&counter);
    return counter;
}

/* The kernel ends the list with a blank before the newline. */
static void test_files_of_a_kernel(void **state)
{
    (void)state;
    write_file("current_clocksource", "tsc\n", 4);
    write_file("available_clocksource", "tsc kvm-clock \n", 15);
    struct timebase_counter counter = ask(TIMEBASE_COUNTER_X86_TSC);
    assert_string_equal(counter.kernel_clocksource, "tsc");
    assert_string_equal(counter.kernel_available, "tsc kvm-clock");
    assert_int_equal(counter.reasons, 0);
    assert_int_equal(ask(TIMEBASE_COUNTER_POWER_TB).reasons, TIMEBASE_REASON_KERNEL_SILENT);
}

static void test_kernel_that_distrusts(void **state)
{
    (void)state;
    write_file("current_clocksource", "hpet", 4); /* no newline */
    write_file("available_clocksource", "hpet acpi_pm \n", 14);
    struct timebase_counter counter = ask(TIMEBASE_COUNTER_X86_TSC);
    assert_string_equal(counter.kernel_clocksource, "hpet");
    assert_int_equal(counter.reasons, TIMEBASE_REASON_KERNEL_DISTRUSTS);
    assert_int_equal(ask(TIMEBASE_COUNTER_OS).reasons, 0);
}

static void test_looks_are_as_far_apart_as_asked_for(void **state)
{
    struct counter_clocksource seen = {.looked_ns = 0};
    (void)state;
    write_file("current_clocksource", "tsc\n", 4);
    write_file("available_clocksource", "tsc hpet\n", 9);
    counter_look_at_clocksource(&seen, 1000, 100); /* for the first time */
    assert_string_equal(seen.current, "tsc");
    write_file("current_clocksource", "hpet\n", 5);
    counter_look_at_clocksource(&seen, 1099, 100);
    assert_string_equal(seen.current, "tsc");
    counter_look_at_clocksource(&seen, 1100, 100);
    assert_string_equal(seen.current, "hpet");
    write_file("available_clocksource", "hpet\n", 5);
    counter_look_at_clocksource(&seen, 1099, 100); /* of another life of the clock */
    assert_string_equal(seen.available, "hpet");
}

static void test_files_that_go_away_leave_what_was_seen(void **state)
{
    struct counter_clocksource seen = {.looked_ns = 0};
    (void)state;
    write_file("current_clocksource", "hpet\n", 5);
    write_file("available_clocksource", "tsc hpet\n", 9);
    counter_look_at_clocksource(&seen, 1000, 100);
    counter_set_root("/nonexistent");
    counter_look_at_clocksource(&seen, 2000, 100);
    counter_set_root(folder);
    assert_string_equal(seen.current, "hpet");
    assert_string_equal(seen.available, "tsc hpet");
    assert_int_equal(seen.looked_ns, 2000);
}

static void expect_silence(const char *bytes, size_t size)
{
    write_file("current_clocksource", bytes, size);
    write_file("available_clocksource", bytes, size);
    struct timebase_counter counter = ask(TIMEBASE_COUNTER_X86_TSC);
    assert_string_equal(counter.kernel_clocksource, "");
    assert_string_equal(counter.kernel_available, "");
    assert_int_equal(counter.reasons, TIMEBASE_REASON_KERNEL_SILENT);
}

static void test_empty_and_binary_files_say_nothing(void **state)
{
    (void)state;
    expect_silence("", 0);
    expect_silence("\n", 1);
    expect_silence("\ntsc\n", 5);
    expect_silence("tsc\0tsc\n", 8);
    expect_silence("ts\x80\xff\n", 5);
    expect_silence("\x7f"
                   "ELF\2\1\1",
                   7);
    expect_silence("    \n", 5);
}

static void test_huge_files_are_cut(void **state)
{
    enum { SIZE = 1 << 20 };
    char *bytes = malloc(SIZE);
    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'a', SIZE);
    write_file("current_clocksource", bytes, SIZE);
    write_file("available_clocksource", bytes, SIZE);
    free(bytes);
    struct timebase_counter counter = ask(TIMEBASE_COUNTER_X86_TSC);
    assert_int_equal(strlen(counter.kernel_clocksource), sizeof(counter.kernel_clocksource) - 1);
    assert_int_equal(strlen(counter.kernel_available), sizeof(counter.kernel_available) - 1);
    assert_int_equal(counter.reasons, TIMEBASE_REASON_KERNEL_SILENT);
}

static void test_pipes_and_folders_do_not_hold_us(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof(path), "%s/" CLOCKSOURCE "/current_clocksource", folder);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ask(TIMEBASE_COUNTER_X86_TSC).reasons, TIMEBASE_REASON_KERNEL_SILENT);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(ask(TIMEBASE_COUNTER_X86_TSC).reasons, TIMEBASE_REASON_KERNEL_SILENT);
    rmdir(path);
}

static void test_root_too_long_reads_nothing(void **state)
{
    static char root[4096];
    (void)state;
    memset(root, '/', sizeof(root) - 1);
    counter_set_root(root);
    struct timebase_counter counter = ask(TIMEBASE_COUNTER_X86_TSC);
    counter_set_root(folder);
    assert_string_equal(counter.kernel_clocksource, "");
}

static int make_folder(void **state)
{
    char path[128];
    (void)state;
    counter_set_root(folder);
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/" CLOCKSOURCE, folder);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    return mkdir(path, 0700);
}

static int remove_folder(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof(path), "%s/" CLOCKSOURCE "/current_clocksource", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/" CLOCKSOURCE "/available_clocksource", folder);
    unlink(path);
    while (strlen(path) > strlen(folder)) {
        *strrchr(path, '/') = '\0';
        rmdir(path);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opinions),
        cmocka_unit_test(test_files_of_a_kernel),
        cmocka_unit_test(test_kernel_that_distrusts),
        cmocka_unit_test(test_looks_are_as_far_apart_as_asked_for),
        cmocka_unit_test(test_files_that_go_away_leave_what_was_seen),
        cmocka_unit_test(test_empty_and_binary_files_say_nothing),
        cmocka_unit_test(test_huge_files_are_cut),
        cmocka_unit_test(test_pipes_and_folders_do_not_hold_us),
        cmocka_unit_test(test_root_too_long_reads_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
