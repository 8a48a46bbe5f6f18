/* SPDX-License-Identifier: MIT */
/* The settings in force are shown as a configuration that says the same. */
#include "cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config.h"
#include "daemon/config/effective.h"

static struct problem problem;

static void parse(const char *text, struct settings *settings)
{
    settings_default(settings);
    assert_int_equal(config_parse(text, strlen(text), "FILE", settings, &problem), 0);
}

/* What is shown; the caller frees it. */
static char *shown(const struct settings *settings, const struct settings *flags)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    effective_settings_write(out, settings, flags);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_same_when_read_again(const char *configuration)
{
    static struct settings settings, again, no_flags;
    parse(configuration, &settings);
    assert_int_equal(settings_finish(&settings, &problem), 0);
    char *first = shown(&settings, &no_flags);
    parse(first, &again);
    assert_int_equal(settings_finish(&again, &problem), 0);
    again.given = settings.given; /* so that the comments are the same */
    char *second = shown(&again, &no_flags);
    assert_string_equal(first, second);
    assert_string_equal(settings.page, again.page);
    assert_true(settings.interval_ns == again.interval_ns);
    assert_int_equal(settings.drift_ppb, again.drift_ppb);
    assert_int_equal(settings.source_count, again.source_count);
    assert_memory_equal(settings.sources, again.sources, sizeof(settings.sources));
    assert_string_equal(settings.timeline, again.timeline);
    assert_true(settings.timeline_bytes == again.timeline_bytes);
    assert_string_equal(settings.metrics, again.metrics);
    assert_string_equal(settings.user, again.user);
    assert_int_equal(settings.log_level, again.log_level);
    assert_int_equal(settings.never_moved, again.never_moved);
    free(first);
    free(second);
}

static void what_is_shown_says_the_same_when_it_is_read(void **state)
{
    (void)state;
    assert_same_when_read_again("");
    assert_same_when_read_again("page = /a/b\ninterval = 100000001ns\ndrift = 1.001\n"
                                "reference = kernel\nreference = phc:/dev/ptp0,error=2us\n"
                                "timeline = /c\ntimeline_size = 65537\nmetrics = none\n"
                                "user = nobody\nlog_level = debug\nnever_moved = yes\n");
    assert_same_when_read_again("interval = 2s\ndrift = 1000\ntimeline_size = 1024G\n");
}

static void each_line_says_who_set_it(void **state)
{
    (void)state;
    static struct settings settings, flags;
    parse("drift = 20\nlog_level = error\n", &settings);
    settings_default(&flags);
    assert_int_equal(settings_set(&flags, SETTINGS_KEY_LOG_LEVEL, "debug", 5, &problem), 0);
    settings_overlay(&settings, &flags);
    assert_int_equal(settings_finish(&settings, &problem), 0);
    char *text = shown(&settings, &flags);
    assert_non_null(strstr(text, "drift = 20ppm  # file\n"));
    assert_non_null(strstr(text, "log_level = debug  # command line\n"));
    assert_non_null(strstr(text, "interval = 250ms  # default\n"));
    assert_non_null(strstr(text, "metrics = /run/timebase/metrics.prom  # default\n"));
    free(text);
}

static void what_is_not_set_is_told_in_words(void **state)
{
    (void)state;
    static struct settings settings, no_flags;
    parse("", &settings);
    char *text = shown(&settings, &no_flags);
    assert_non_null(strstr(text, "# reference: none, so the kernel's own word is taken\n"));
    assert_non_null(strstr(text, "# user: whoever starts it\n"));
    assert_non_null(strstr(text, "timeline = none  # default\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_says_the_same_when_it_is_read),
        cmocka_unit_test(each_line_says_who_set_it),
        cmocka_unit_test(what_is_not_set_is_told_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
