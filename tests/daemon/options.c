/* SPDX-License-Identifier: MIT */
/* The command line. */
#include "cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "daemon/config/options.h"

static struct options options;
static struct problem problem;

#define parse(...) parse_words((char *[]){"timebased", __VA_ARGS__, NULL})

static int parse_words(char **words)
{
    int count = 0;
    while (words[count] != NULL)
        count++;
    return options_parse(count, words, &options, &problem);
}

static void flags_are_keys_with_a_value_in_either_form(void **state)
{
    (void)state;
    assert_int_equal(parse("--page=/a/b", "--timeline-size", "2M", "--timeline_size=4M"), 0);
    assert_string_equal(options.flags.page, "/a/b");
    assert_true(options.flags.timeline_bytes == 4 << 20);
    assert_int_equal(options.flags.given, 1 << SETTINGS_KEY_PAGE | 1 << SETTINGS_KEY_TIMELINE_SIZE);
    assert_int_equal(options.action, OPTIONS_RUN);
}

/* Whatever is wrong with the value: the flag is known. */
static void each_key_is_a_flag_with_dashes_too(void **state)
{
    (void)state;
    for (enum settings_key key = 0; key < SETTINGS_KEYS; key++) {
        char flag[64];
        snprintf(flag, sizeof(flag), "--%s", settings_key_name(key));
        assert_int_equal(parse(flag), -1);
        assert_non_null(strstr(problem.text, "its value is missing"));
        for (char *c = flag; *c != '\0'; c++)
            *c = *c == '_' ? '-' : *c;
        assert_int_equal(parse(flag), -1);
        assert_non_null(strstr(problem.text, "its value is missing"));
    }
}

static void words_are_taken(void **state)
{
    (void)state;
    assert_int_equal(parse("--foreground", "--lock-memory", "--check", "--config=/x"), 0);
    assert_int_equal(options.action, OPTIONS_CHECK);
    assert_true(options.lock_memory);
    assert_string_equal(options.config, "/x");
    assert_int_equal(parse("--help"), 0);
    assert_int_equal(options.action, OPTIONS_HELP);
    assert_int_equal(parse("-h", "--"), 0);
    assert_int_equal(options.action, OPTIONS_HELP);
    assert_int_equal(parse("--version"), 0);
    assert_int_equal(options.action, OPTIONS_VERSION);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    assert_int_equal(parse("--colour=red"), -1);
    assert_string_equal(problem.text, "--colour=red is no option: timebased --help lists them");
    assert_int_equal(parse("page"), -1);
    assert_int_equal(parse("-"), -1);
    assert_int_equal(parse("--", "page"), -1);
    assert_string_equal(problem.text, "page is no option: timebased --help lists them");
    assert_int_equal(parse("-x"), -1);
    assert_string_equal(problem.text, "-x is no option: timebased --help lists them");
    assert_int_equal(parse("-xh"), -1);
    assert_string_equal(problem.text, "-xh is no option: timebased --help lists them");
    assert_int_equal(parse("--check=yes"), -1);
    assert_string_equal(problem.text, "--check=yes is no option: timebased --help lists them");
    assert_int_equal(parse("--page"), -1);
    assert_string_equal(problem.text, "--page: its value is missing: write --page=VALUE");
    assert_int_equal(parse("--interval=7d"), -1);
    assert_non_null(strstr(problem.text, "--interval: \"7d\" is not a time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_keys_with_a_value_in_either_form),
        cmocka_unit_test(each_key_is_a_flag_with_dashes_too),
        cmocka_unit_test(words_are_taken),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
