/* SPDX-License-Identifier: MIT */
/* What a daemon whose administrator changes the sources still knows of the machine. */
#include "cmocka_first.h"

#include "daemon/daemon_parts.h"
#include "daemon/log.h"
#include "folder.h"
#include "told_source.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static char config[96];
static struct options options;
static struct daemon daemon_state;
static struct sources *const sources = &daemon_state.sources;

static void configure(const char *lines)
{
    snprintf(config, sizeof(config), "%s/timebased.conf", folder);
    FILE *file = fopen(config, "w");
    assert_non_null(file);
    fprintf(file, "log_level = error\n%s", lines);
    assert_int_equal(fclose(file), 0);
}

/* Two sources: told:0 and told:1 each claim 0 +/- 1 ms, as they measured then. */
static void start(const char *lines)
{
    static const struct daemon none;
    struct problem problem;
    daemon_state = none;
    memset(told_sources, 0, sizeof(told_sources));
    for (int i = 0; i < 2; i++)
        told_sources[i].claim = (struct claim){.error_ns = MS, .is_synchronized = true};
    configure(lines);
    options.config = config;
    daemon_state.options = &options;
    assert_int_equal(daemon_settings(&options, &daemon_state.settings, &problem), 0);
    sources_set_up(sources, &daemon_state.settings);
}

static void reload(const char *lines)
{
    configure(lines);
    daemon_reload(&daemon_state);
}

static void ask_at(int64_t mono_ns, int64_t measured_ns)
{
    for (int i = 0; i < 2; i++) {
        told_sources[i].claim.mono_ns = mono_ns;
        told_sources[i].claim.measured_ns = measured_ns;
    }
    sources_ask_for_sample(sources, mono_ns);
}

static bool is_believed_at(int64_t mono_ns)
{
    struct discipline_sample sample = {.mono_ns = mono_ns, .maxerror_ns = 16 * SECOND};
    sources_apply(sources, &sample);
    return sample.is_synchronized;
}

static void what_was_measured_before_a_move_is_not_believed_by_other_sources(void **state)
{
    (void)state;
    start("reference = told:0\n");
    ask_at(100 * SECOND, 50 * SECOND);
    assert_true(is_believed_at(100 * SECOND));
    sources_disrupted(sources, 101 * SECOND);
    ask_at(102 * SECOND, 50 * SECOND);
    assert_false(is_believed_at(102 * SECOND));
    reload("reference = told:0\nreference = told:1\n");
    assert_int_equal(sources->count, 2);
    ask_at(103 * SECOND, 50 * SECOND);
    assert_true(sources->list[0].is_outdated && sources->list[1].is_outdated);
    assert_false(is_believed_at(103 * SECOND));
    ask_at(104 * SECOND, 102 * SECOND);
    assert_true(is_believed_at(104 * SECOND));
    sources_close(sources);
}

/* A step: the answer is older, however new its measurement. */
static void an_answer_from_before_a_step_is_not_believed_by_other_sources(void **state)
{
    (void)state;
    start("reference = told:0\n");
    sources_forget(sources, 101 * SECOND);
    reload("reference = told:0\nreference = told:1\n");
    for (int i = 0; i < 2; i++)
        told_sources[i].claim.mono_ns = 100 * SECOND;
    sources_ask_for_sample(sources, 102 * SECOND);
    assert_false(is_believed_at(102 * SECOND));
    sources_close(sources);
}

/* A driver that is begun anew may date the same measurement a little earlier. */
static void a_measurement_after_a_move_stays_one(void **state)
{
    (void)state;
    start("reference = told:0\n");
    sources_disrupted(sources, 101 * SECOND);
    ask_at(102 * SECOND, 101 * SECOND);
    assert_true(is_believed_at(102 * SECOND));
    reload("reference = told:1\nreference = told:0\n");
    ask_at(103 * SECOND, 101 * SECOND - 1);
    assert_true(sources->list[0].is_outdated);
    assert_false(sources->list[1].is_outdated);
    sources_close(sources);
}

static void a_move_at_a_reload_is_told_once(void **state)
{
    (void)state;
    start("reference = told:0\n");
    told_sources[0].claim.disruption_marker = 77;
    ask_at(100 * SECOND, 100 * SECOND);
    told_sources[0].claim.disruption_marker = 78;
    reload("reference = told:0\nreference = told:1\n");
    ask_at(101 * SECOND, 101 * SECOND);
    assert_true(sources->disruptions == daemon_state.shared.disruptions_told + 1);
    daemon_state.shared.disruptions_told = sources->disruptions;
    reload("reference = told:0\n");
    ask_at(102 * SECOND, 102 * SECOND);
    assert_true(sources->disruptions == daemon_state.shared.disruptions_told);
    sources_close(sources);
}

/* It is kept, to be compared with when somebody tells one again. */
static void the_marker_of_a_source_that_is_gone_is_no_witness(void **state)
{
    (void)state;
    start("reference = told:0\n");
    told_sources[0].claim.disruption_marker = 77;
    ask_at(100 * SECOND, 100 * SECOND);
    assert_int_equal(witness_of_sources(sources, 100 * SECOND), WITNESS_MARKER);
    reload("reference = told:1\n");
    ask_at(101 * SECOND, 101 * SECOND);
    assert_int_equal(witness_of_sources(sources, 101 * SECOND), 0);
    sources_close(sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_measured_before_a_move_is_not_believed_by_other_sources),
        cmocka_unit_test(an_answer_from_before_a_step_is_not_believed_by_other_sources),
        cmocka_unit_test(a_measurement_after_a_move_stays_one),
        cmocka_unit_test(a_move_at_a_reload_is_told_once),
        cmocka_unit_test(the_marker_of_a_source_that_is_gone_is_no_witness),
    };
    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
