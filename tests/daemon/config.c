/* SPDX-License-Identifier: MIT */
/* The configuration: what is taken, and how what is not is called by file, line and name. */
#include "cmocka_first.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "daemon/log.h"

static struct settings settings;
static struct problem problem;

static int parse(const char *text)
{
    settings_default(&settings);
    memset(&problem, 0, sizeof(problem));
    return config_parse(text, strlen(text), "FILE", &settings, &problem);
}

static void an_empty_file_leaves_the_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(""), 0);
    assert_string_equal(settings.page, "/run/timebase/page");
    assert_true(settings.interval_ns == 250000000);
    assert_int_equal(settings.drift_ppb, 50000);
    assert_int_equal(settings.source_count, 0);
    assert_true(settings.timeline_bytes == 1 << 30);
    assert_int_equal(settings.log_level, LOG_INFO);
    assert_int_equal(settings.given, 0);
}

static void all_keys_are_taken(void **state)
{
    (void)state;
    assert_int_equal(parse("# a comment\r\n"
                           "page = /a/b # another\n"
                           "\tinterval=1.5s\n"
                           "drift = 12.5\n"
                           "reference = kernel\n"
                           "reference = kernel:x=#1\n"
                           "timeline = /var/t\n"
                           "timeline_size = 64M\n"
                           "metrics = none\n"
                           "user = nobody\n"
                           "log_level = debug\n"
                           "never_moved = yes"),
                     0);
    assert_string_equal(settings.page, "/a/b");
    assert_true(settings.interval_ns == 1500000000);
    assert_int_equal(settings.drift_ppb, 12500);
    assert_int_equal(settings.source_count, 2);
    assert_string_equal(settings.sources[1], "kernel:x=#1");
    assert_string_equal(settings.timeline, "/var/t");
    assert_true(settings.timeline_bytes == 64 << 20);
    assert_string_equal(settings.metrics, "");
    assert_string_equal(settings.user, "nobody");
    assert_int_equal(settings.log_level, LOG_DEBUG);
    assert_true(settings.never_moved);
}

static void each_fault_is_called_by_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"\n\nnonsense", "FILE:3: not \"key = value\""},
        {"# x\ncolour = red\n", "FILE:2: no key is called \"colour\": there are page, interval"},
        {"interval = soon", "FILE:1: interval: \"soon\" is not a time: write 100ms to 2s"},
        {"interval = 99ms", "FILE:1: interval: 99ms is out of range"},
        {"interval = 2.1s", "FILE:1: interval: 2.1s is out of range"},
        {"interval = 250 furlongs", "is not a time"},
        {"interval = -250", "is not a time"},
        {"interval = 1e3", "is not a time"},
        {"interval = 250.", "is not a time"},
        {"interval = .5s", "is not a time"},
        {"interval = 99999999999999999999999999", "is not a time"},
        {"interval = 200.0000001ms", "out of range"}, /* less than a nanosecond */
        {"interval =", "FILE:1: interval: \"\" is not a time"},
        {"drift = 0", "FILE:1: drift: 0 is out of range: write 1 to 1000"},
        {"drift = nan", "is not parts in a million"},
        {"timeline_size = 1T", "FILE:1: timeline_size: \"1T\" is not a size"},
        {"timeline_size = 18014398509481984k", "out of range"},
        {"page = page", "FILE:1: page: \"page\" is no absolute path"},
        {"page = /run/timebase/", "is a folder: add the page's own name"},
        {"reference = sundial", "FILE:1: reference: no reference is called \"sundial\""},
        {"user =", "FILE:1: user: a user's name has"},
        {"never_moved = perhaps", "FILE:1: never_moved: \"perhaps\" is neither yes nor no"},
        {"log_level = loud", "FILE:1: log_level: no level is called \"loud\""},
        {"drift = 1\n\ndrift = 2", "FILE:3: drift: set before, in line 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        assert_int_equal(parse(faults[i].text), -1);
        if (strstr(problem.text, faults[i].message) == NULL)
            fail_msg("\"%s\" gives: %s", faults[i].text, problem.text);
    }
}

static void a_fault_in_the_last_line_leaves_all_as_it_was(void **state)
{
    struct settings before;
    (void)state;
    settings_default(&before);
    assert_int_equal(parse("interval = 1s\npage = /x\ndrift = much"), -1);
    assert_memory_equal(&settings, &before, sizeof(before));
}

static void too_many_sources_are_refused(void **state)
{
    char text[17 * 20] = "";
    (void)state;
    for (int i = 0; i < 17; i++)
        strcat(text, "reference=kernel\n");
    assert_int_equal(parse(text), -1);
    assert_non_null(strstr(problem.text, "FILE:17: reference: more than 16"));
}

static void a_path_that_is_too_long_is_refused_and_the_longest_is_not(void **state)
{
    char text[600];
    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text, "page=/", 6);
    text[5 + 255] = '\0';
    assert_int_equal(parse(text), 0);
    text[5 + 255] = 'a';
    text[5 + 256] = '\0';
    assert_int_equal(parse(text), -1);
    assert_non_null(strstr(problem.text, "longer than 255"));
}

static void a_nul_in_the_text_is_no_end_of_it(void **state)
{
    static const char text[] = "page = /a\0b\n";
    (void)state;
    settings_default(&settings);
    assert_int_equal(config_parse(text, sizeof(text) - 1, "FILE", &settings, &problem), -1);
    assert_non_null(strstr(problem.text, "FILE:1: page: a NUL"));
}

static void flags_go_over_the_file_and_sources_are_replaced(void **state)
{
    struct settings flags = {0};
    (void)state;
    assert_int_equal(parse("interval = 1s\nreference = kernel\nreference = kernel:a\ndrift = 7"),
                     0);
    assert_int_equal(settings_set(&flags, SETTINGS_KEY_INTERVAL, "500ms", 5, &problem), 0);
    assert_int_equal(settings_set(&flags, SETTINGS_KEY_REFERENCE, "kernel:b", 8, &problem), 0);
    settings_overlay(&settings, &flags);
    assert_true(settings.interval_ns == 500000000);
    assert_int_equal(settings.source_count, 1);
    assert_string_equal(settings.sources[0], "kernel:b");
    assert_int_equal(settings.drift_ppb, 7000);
}

static void metrics_are_beside_the_page_unless_said_otherwise(void **state)
{
    (void)state;
    assert_int_equal(parse("page = /a/b/c"), 0);
    assert_int_equal(settings_finish(&settings, &problem), 0);
    assert_string_equal(settings.metrics, "/a/b/metrics.prom");
    assert_int_equal(parse("page = /a/b/c\nmetrics = none"), 0);
    assert_int_equal(settings_finish(&settings, &problem), 0);
    assert_string_equal(settings.metrics, "");
}

static void assert_in_the_way(const char *text, const char *message)
{
    assert_int_equal(parse(text), 0);
    assert_int_equal(settings_finish(&settings, &problem), -1);
    assert_non_null(strstr(problem.text, message));
}

/* Renamed to its name, the metrics would take the page's place once a second. */
static void paths_that_are_in_each_others_way_are_refused(void **state)
{
    (void)state;
    assert_in_the_way("page = /a/p\nmetrics = /a/p", "metrics: /a/p is in the way of the page");
    assert_in_the_way("page = /a/p\nmetrics = /a/p.lock", "metrics: /a/p.lock is in the way");
    assert_in_the_way("page = /a/p\nmetrics = /a/p.new", "metrics: /a/p.new is in the way");
    assert_in_the_way("page = /a/p.new\nmetrics = /a/p", "metrics: /a/p is in the way");
    assert_in_the_way("page = /a/metrics.prom", "metrics: /a/metrics.prom is in the way");
    assert_in_the_way("page = /a/p\ntimeline = /a/p", "timeline: /a/p is in the way of the page");
    assert_in_the_way("page = /a/p\ntimeline = /a/metrics.prom", "in the way of metrics");
    assert_int_equal(parse("page = /a/p\nmetrics = /a/p.prom\ntimeline = /a/p.d"), 0);
    assert_int_equal(settings_finish(&settings, &problem), 0);
    assert_int_equal(parse("page = /a/p\nmetrics = none"), 0);
    assert_int_equal(settings_finish(&settings, &problem), 0);
}

/* ---- files --------------------------------------------------------------------------------- */

static void a_missing_file_is_told_from_a_bad_one(void **state)
{
    (void)state;
    assert_int_equal(config_read("/nonexistent/x.conf", &settings, &problem), 1);
    assert_int_equal(config_read("/", &settings, &problem), -1);
    assert_non_null(strstr(problem.text, "no regular file"));
    assert_int_equal(config_read("/dev/zero", &settings, &problem), -1);
    assert_non_null(strstr(problem.text, "this is no configuration"));
    assert_int_equal(config_read("/dev/null", &settings, &problem), 0);
}

static void a_pipe_is_not_waited_for(void **state)
{
    char name[64];
    (void)state;
    snprintf(name, sizeof(name), "/tmp/timebased-fifo-%ld", (long)getpid());
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_equal(config_read(name, &settings, &problem), -1);
    unlink(name);
}

static void a_file_beyond_all_measure_is_refused(void **state)
{
    char name[] = "/tmp/timebased-large-XXXXXX";
    (void)state;
    int fd = mkstemp(name);
    assert_int_equal(ftruncate(fd, CONFIG_BYTES + 1), 0);
    assert_int_equal(config_read(name, &settings, &problem), -1);
    assert_non_null(strstr(problem.text, "this is no configuration"));
    close(fd);
    unlink(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file_leaves_the_defaults),
        cmocka_unit_test(all_keys_are_taken),
        cmocka_unit_test(each_fault_is_called_by_its_line),
        cmocka_unit_test(a_fault_in_the_last_line_leaves_all_as_it_was),
        cmocka_unit_test(too_many_sources_are_refused),
        cmocka_unit_test(a_path_that_is_too_long_is_refused_and_the_longest_is_not),
        cmocka_unit_test(a_nul_in_the_text_is_no_end_of_it),
        cmocka_unit_test(flags_go_over_the_file_and_sources_are_replaced),
        cmocka_unit_test(metrics_are_beside_the_page_unless_said_otherwise),
        cmocka_unit_test(paths_that_are_in_each_others_way_are_refused),
        cmocka_unit_test(a_missing_file_is_told_from_a_bad_one),
        cmocka_unit_test(a_pipe_is_not_waited_for),
        cmocka_unit_test(a_file_beyond_all_measure_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
