/* SPDX-License-Identifier: MIT */
/* The text for Prometheus; a parser of its own reads a whole daemon's in tests/python. */
#include "cmocka_first.h"

#include "daemon/metrics.h"
#include "daemon/replace.h"
#include "folder.h"
#include "shared_world.h"
#include "told_source.h"

static struct shared_clock shared;
static struct sources sources;
static char text[METRICS_BYTES];

static struct metrics running(void)
{
    struct settings settings;
    struct problem problem;
    settings_default(&settings);
    memset(told_sources, 0, sizeof(told_sources));
    assert_int_equal(settings_set(&settings, SETTINGS_KEY_REFERENCE, "told:0\"\\", 8, &problem), 0);
    sources_set_up(&sources, &settings);
    begin_world();
    struct shared_clock_outside outside = outside_of_world(&sources);
    shared_clock_start(&shared, &outside, 250 * MS, 50000);
    told_sources[0].claim.mono_ns = world.mono_at;
    told_sources[0].claim.offset_ns = -123;
    told_sources[0].claim.error_ns = 4567;
    told_sources[0].claim.is_synchronized = true;
    sources_ask(&sources, world.mono_at);
    keep(&shared, 3 * SECOND);
    struct metrics metrics = {.is_up = true,
                              .version = "1.2.3",
                              .page = "/a\\b\"c\nd",
                              .shared = &shared,
                              .sources = &sources,
                              .start_utc_ns = -1500000000};
    return metrics;
}

/* What running() opened. */
static int finish(void **state)
{
    (void)state;
    sources_close(&sources);
    return 0;
}

static void has(const char *line)
{
    if (strstr(text, line) == NULL)
        fail_msg("\"%s\" is missing in\n%s", line, text);
}

static void what_is_known_is_told(void **state)
{
    struct metrics metrics = running();
    (void)state;
    world.flags = TIMEBASE_LINE_LEAP_DELETE | TIMEBASE_LINE_TAI_VALID | 37u << 16;
    keep(&shared, SECOND);
    size_t length = metrics_format(&metrics, text, sizeof(text));
    assert_int_equal(length, strlen(text));
    has("timebase_up 1\n");
    has("timebase_info{version=\"1.2.3\",page=\"/a\\\\b\\\"c\\nd\",reference=\"told:0\\\"\\\\\"} "
        "1\n");
    has("timebase_status 2\n");
    has("timebase_leap -1\n");
    has("timebase_tai_offset_seconds 37\n");
    has("timebase_reference_offset_ns{source=\"told:0\\\"\\\\\"} -123\n");
    has("timebase_reference_up{source=\"told:0\\\"\\\\\"} 1\n");
    has("timebase_reference_outdated{source=\"told:0\\\"\\\\\"} 0\n");
    has("timebase_falseticker{source=\"told:0\\\"\\\\\"} 0\n");
    has("timebase_never_moved 0\n");
    has("timebase_counter_distrusted 0\n");
    has("timebase_frequency_hz 26000078");
    has("timebase_start_time_seconds -1.500000000\n");
    has("timebase_page_age_seconds 0.");
}

static void who_vouches_and_who_distrusts_is_told(void **state)
{
    struct metrics metrics = running();
    (void)state;
    world.flags = TIMEBASE_LINE_NEVER_MOVED;
    keep(&shared, SECOND);
    metrics_format(&metrics, text, sizeof(text));
    has("timebase_never_moved 1\n");
    has("timebase_counter_distrusted 0\n");
    has("timebase_corrected_cpus 0\n");
    has("timebase_contradictions_total 0\n");
    metrics.corrected_cpus = 2;
    metrics.contradictions = 3;
    world.flags = TIMEBASE_LINE_COUNTER_DISTRUSTED;
    keep(&shared, SECOND);
    metrics_format(&metrics, text, sizeof(text));
    has("timebase_never_moved 0\n");
    has("timebase_counter_distrusted 1\n");
    has("timebase_corrected_cpus 2\n");
    has("timebase_contradictions_total 3\n");
    has("timebase_status 4\n");
}

/* An alert on a large bound hears of the largest. */
static void no_bound_is_negative(void **state)
{
    struct metrics metrics = running();
    struct timebase_lines *lines = &shared.page.copy[shared.page.seq & 1];
    (void)state;
    lines->before.maxerror_ns = lines->slew.maxerror_ns = lines->after.maxerror_ns = INT64_MAX;
    metrics_format(&metrics, text, sizeof(text));
    assert_null(strstr(text, "timebase_maxerror_ns -"));
    assert_null(strstr(text, "timebase_utc_maxerror_ns -"));
    has("timebase_maxerror_ns 92233720368");
}

static void before_there_are_lines_nothing_is_made_up(void **state)
{
    struct metrics metrics = running();
    struct shared_clock_outside outside = outside_of_world(&sources);
    (void)state;
    shared_clock_start(&shared, &outside, 250 * MS, 50000);
    metrics.is_up = false;
    metrics_format(&metrics, text, sizeof(text));
    has("timebase_up 0\n");
    assert_null(strstr(text, "timebase_status"));
    assert_null(strstr(text, "timebase_frequency_hz"));
}

static void every_metric_has_help_and_type(void **state)
{
    struct metrics metrics = running();
    char name[100], head[140];
    (void)state;
    metrics_format(&metrics, text, sizeof(text));
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1) {
        if (*line == '#')
            continue;
        assert_int_equal(sscanf(line, "%99[a-z_]", name), 1);
        snprintf(head, sizeof(head), "# HELP %s ", name);
        has(head);
        snprintf(head, sizeof(head), "# TYPE %s ", name);
        has(head);
    }
}

/* Whole lines or none. */
static void without_room_it_ends_with_a_line(void **state)
{
    struct metrics metrics = running();
    (void)state;
    size_t whole = metrics_format(&metrics, text, sizeof(text));
    for (size_t size = 1; size < whole; size += 37) {
        size_t length = metrics_format(&metrics, text, size);
        assert_true(length < size);
        assert_int_equal(length, strlen(text));
        assert_true(length == 0 || text[length - 1] == '\n');
    }
}

static void a_file_is_replaced_whole(void **state)
{
    char path[100], read_back[10] = "";
    struct problem problem;
    struct stat status;
    (void)state;
    snprintf(path, sizeof(path), "%s/m.prom", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(replace_file(path, "abc\n", 4, &problem), 0);
    int reader = open(path, O_RDONLY | O_NOFOLLOW);
    assert_int_equal(replace_file(path, "x\n", 2, &problem), 0);
    assert_int_equal(read(reader, read_back, sizeof(read_back)), 4);
    assert_int_equal(fstat(reader, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
    close(reader);
    assert_int_equal(replace_file("/nonexistent/m", "x", 1, &problem), -1);
    assert_non_null(strstr(problem.text, "/nonexistent/m: No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_known_is_told, finish),
        cmocka_unit_test_teardown(who_vouches_and_who_distrusts_is_told, finish),
        cmocka_unit_test_teardown(no_bound_is_negative, finish),
        cmocka_unit_test_teardown(before_there_are_lines_nothing_is_made_up, finish),
        cmocka_unit_test_teardown(every_metric_has_help_and_type, finish),
        cmocka_unit_test_teardown(without_room_it_ends_with_a_line, finish),
        cmocka_unit_test(a_file_is_replaced_whole),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
