/* SPDX-License-Identifier: MIT */
/* The table of sources, and the two that need no device: kernel and simulated. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include <timebase/error.h>
#include <timebase/page.h>

#include "kernel_now.h"
#include "source_file.h"
#include "daemon/config/source_names.h"

static void every_source_is_whole_and_found_by_its_name(void **state)
{
    unsigned count = 0;
    (void)state;
    for (; source_drivers[count] != NULL; count++) {
        const struct source_driver *source = source_drivers[count];
        assert_true(source->open != NULL && source->claim != NULL && source->close != NULL);
        assert_in_range(source->context_size, sizeof(char *), SOURCE_CONTEXT_SIZE);
        assert_ptr_equal(source_driver_named(source->name, strlen(source->name)), source);
    }
    assert_int_equal(count, 5);
}

static void they_are_what_a_configuration_may_name(void **state)
{
    unsigned i = 0;
    (void)state;
    for (; source_names[i] != NULL && source_drivers[i] != NULL; i++)
        assert_string_equal(source_drivers[i]->name, source_names[i]);
    assert_true(source_names[i] == NULL && source_drivers[i] == NULL);
}

static void a_name_ends_where_it_is_said_to(void **state)
{
    (void)state;
    assert_ptr_equal(source_driver_named("phc:/dev/ptp0", 3), &source_driver_phc);
    assert_null(source_driver_named("phc", 2));
    assert_null(source_driver_named("phcs", 4));
    assert_null(source_driver_named("", 0));
    assert_null(source_driver_named("Kernel", 6));
}

static void only_the_kernel_is_an_estimate_by_itself(void **state)
{
    (void)state;
    for (unsigned i = 0; source_drivers[i] != NULL; i++)
        assert_int_equal(source_drivers[i]->is_estimate,
                         source_drivers[i] == &source_driver_kernel);
}

/* ---- kernel -------------------------------------------------------------------------------- */

static void the_kernel_claims_what_adjtimex_says(void **state)
{
    const struct source_driver *source = &source_driver_kernel;
    struct claim claim;
    struct timex timex = {0};
    (void)state;
    memset(&context, 0, sizeof(context));
    assert_int_equal(source->open(&context, NULL), TIMEBASE_OK);
    int kernel_state = adjtimex(&timex);
    int64_t before_ns = kernel_now(CLOCK_MONOTONIC);
    assert_int_equal(source->claim(&context, &claim), TIMEBASE_OK);
    assert_true(before_ns <= claim.mono_ns && claim.mono_ns <= kernel_now(CLOCK_MONOTONIC));
    assert_true(claim.offset_ns == 0);
    assert_int_equal(claim.dispersion_ppb, 500000);
    assert_true(claim.disruption_marker == 0);
    if (kernel_state < 0)
        return; /* a sandbox forbids to ask */
    assert_true(claim.error_ns >= (uint64_t)timex.maxerror * 1000);
    assert_int_equal(claim.is_synchronized,
                     kernel_state != TIME_ERROR && !(timex.status & STA_UNSYNC));
    source->close(&context);
}

static void the_kernel_takes_no_argument(void **state)
{
    (void)state;
    assert_int_equal(source_driver_kernel.open(&context, "x"), TIMEBASE_E_INVALID);
    assert_non_null(strstr(source_reason(&context), "no argument"));
}

/* ---- simulated ----------------------------------------------------------------------------- */

static const struct source_driver *const simulated = &source_driver_simulated;

static int claim_from(const char *text, size_t length, struct claim *claim)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return simulated->claim(&context, claim);
}

static void open_simulated(void)
{
    memset(&context, 0, sizeof(context));
    assert_int_equal(simulated->open(&context, path), TIMEBASE_OK);
}

static void a_file_is_read_anew_each_time(void **state)
{
    struct claim claim;
    (void)state;
    open_simulated();
    assert_int_equal(claim_from("-250 1000 1\n", 12, &claim), TIMEBASE_OK);
    assert_true(claim.offset_ns == -250 && claim.error_ns == 1000 && claim.is_synchronized);
    assert_true(claim.disruption_marker == 0);
    assert_int_equal(claim_from("7 8 0", 5, &claim), TIMEBASE_OK);
    assert_true(claim.offset_ns == 7 && claim.error_ns == 8 && !claim.is_synchronized);
    assert_int_equal(claim_from("7 8 0 99\n", 9, &claim), TIMEBASE_OK);
    assert_true(claim.disruption_marker == 99);
    simulated->close(&context);
}

static void other_files_are_refused_with_a_reason(void **state)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "1 2",
                                      "1 2 3",
                                      "1 2 1 3 4",
                                      "1 -2 1",
                                      "1  2 1",
                                      "1 2 1 ",
                                      "a 2 1",
                                      "1 2 yes",
                                      "1 2 1\n\n",
                                      "1.5 2 1",
                                      "1 2 1\n2 2 1\n",
                                      "1 2 1 -1",
                                      "99999999999999999999 1 1"};
    char longest[300];
    struct claim claim;
    (void)state;
    open_simulated();
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (claim_from(bad[i], strlen(bad[i]), &claim) != TIMEBASE_E_FORMAT)
            fail_msg("accepted: %s", bad[i]);
    assert_non_null(strstr(source_reason(&context), "offset_ns error_ns"));
    memset(longest, '1', sizeof(longest));
    assert_int_equal(claim_from(longest, sizeof(longest), &claim), TIMEBASE_E_FORMAT);
    assert_int_equal(claim_from("1 2 1\0", 6, &claim), TIMEBASE_E_FORMAT);
}

static void a_file_that_is_gone_is_no_answer_until_it_is_back(void **state)
{
    struct claim claim;
    (void)state;
    memset(&context, 0, sizeof(context));
    assert_int_equal(simulated->open(&context, "/nowhere/claim"), TIMEBASE_OK);
    assert_int_equal(simulated->claim(&context, &claim), TIMEBASE_E_REFERENCE);
    assert_non_null(strstr(source_reason(&context), "cannot be read"));
    memset(&context, 0, sizeof(context));
    assert_int_equal(simulated->open(&context, "/"), TIMEBASE_OK); /* a folder */
    assert_int_equal(simulated->claim(&context, &claim), TIMEBASE_E_REFERENCE);
}

static void it_needs_a_path(void **state)
{
    char longest[600];
    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(simulated->open(&context, NULL), TIMEBASE_E_INVALID);
    assert_int_equal(simulated->open(&context, ""), TIMEBASE_E_INVALID);
    assert_int_equal(simulated->open(&context, longest), TIMEBASE_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_source_is_whole_and_found_by_its_name),
        cmocka_unit_test(they_are_what_a_configuration_may_name),
        cmocka_unit_test(a_name_ends_where_it_is_said_to),
        cmocka_unit_test(only_the_kernel_is_an_estimate_by_itself),
        cmocka_unit_test(the_kernel_claims_what_adjtimex_says),
        cmocka_unit_test(the_kernel_takes_no_argument),
        cmocka_unit_test(a_file_is_read_anew_each_time),
        cmocka_unit_test(other_files_are_refused_with_a_reason),
        cmocka_unit_test(a_file_that_is_gone_is_no_answer_until_it_is_back),
        cmocka_unit_test(it_needs_a_path),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
