/* SPDX-License-Identifier: MIT */
/* The daemon's timeline, where its folder is not what it was. */
#include "cmocka_first.h"

#include <timebase/timeline.h>

#include "daemon/timeline/recorder.h"
#include "daemon/log.h"
#include "folder.h"

static char path[96];

static int begin(void **state)
{
    log_set_level(-1);
    if (make_folder(state) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/timeline", folder);
    return 0;
}

static int end(void **state)
{
    timeline_recorder_close();
    return remove_folder(state);
}

static void append(unsigned publications)
{
    struct timebase_page page = a_page();
    for (unsigned i = 0; i < publications; i++)
        timeline_recorder_append(&page.copy[page.seq & 1], page.copy[page.seq & 1].slew.start_ticks,
                                 false);
}

static int64_t boots_in_folder(void)
{
    timebase_timeline *timeline;
    if (timebase_timeline_open(&timeline, path) != TIMEBASE_OK)
        return -1;
    int64_t boots = timebase_timeline_boots(timeline, NULL, 0);
    timebase_timeline_close(timeline);
    return boots;
}

static void a_folder_that_was_taken_away_is_made_anew(void **state)
{
    (void)state;
    timeline_recorder_open(path, 1 << 20);
    append(2);
    assert_int_equal(boots_in_folder(), 1);
    remove_below(path);
    append(2);
    assert_int_equal(boots_in_folder(), 1);
    assert_int_equal(timeline_recorder_failures(), 1);
}

static void a_folder_that_cannot_be_made_is_tried_again_a_minute_later(void **state)
{
    (void)state;
    uint64_t before = timeline_recorder_failures();
    timeline_recorder_open(path, 1 << 20);
    append(1);
    remove_below(folder);
    append(100);
    assert_int_equal(timeline_recorder_failures(),
                     before + 2); /* the publication, and one attempt */
    assert_int_equal(mkdir(folder, 0755), 0);
    append(240);
    assert_int_equal(boots_in_folder(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_that_was_taken_away_is_made_anew, begin, end),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_made_is_tried_again_a_minute_later,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
