/* SPDX-License-Identifier: MIT */
/* The page's file: made, taken up, harmed and repaired. */
#include "cmocka_first.h"

#include "daemon/page_file.h"
#include "failing_writes.h"
#include "folder.h"

static struct page_file file;
static struct problem problem;
static struct timebase_page page;

static enum page_file_event store_next(void)
{
    enum page_file_event event;
    publish_on(&page);
    if (page_file_store(&file, &page, &event, &problem) != 0)
        fail_msg("%s", problem.text);
    return event;
}

static struct timebase_page in_file(void)
{
    struct timebase_page found;
    int fd = open(page_path, O_RDONLY | O_NOFOLLOW);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &found, sizeof(found)), (ssize_t)sizeof(found));
    close(fd);
    return found;
}

static void assert_stored(void)
{
    struct timebase_page found = in_file();
    assert_memory_equal(&found, &page, sizeof(page));
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

static int begin(void **state)
{
    if (make_folder(state) != 0 || page_file_open(&file, page_path, "", &problem) != 0)
        return -1;
    page = a_page();
    return 0;
}

static int finish(void **state)
{
    page_file_close(&file);
    return remove_folder(state);
}

static void folder_and_page_are_for_all_to_read(void **state)
{
    char run[80];
    mode_t mask = umask(077);
    (void)state;
    page_file_close(&file);
    remove_below(folder);
    mkdir(folder, 0700);
    assert_int_equal(page_file_open(&file, page_path, "", &problem), 0);
    assert_int_equal(store_next(), PAGE_FILE_MADE);
    umask(mask);
    snprintf(run, sizeof(run), "%s/run", folder);
    assert_int_equal(mode_of(run), 0755);
    assert_int_equal(mode_of(page_path), 0644);
    assert_stored();
}

static void publications_follow_in_place(void **state)
{
    struct stat first, last;
    (void)state;
    assert_int_equal(store_next(), PAGE_FILE_MADE);
    assert_int_equal(stat(page_path, &first), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(store_next(), PAGE_FILE_AS_EXPECTED);
    assert_int_equal(stat(page_path, &last), 0);
    assert_true(first.st_ino == last.st_ino);
    assert_stored();
}

/* Readers who have the old file keep it whole; the new one has the old one's name. */
static void harm_is_noticed_and_repaired_aside(void **state)
{
    char run[80];
    (void)state;
    store_next();
    int reader = open(page_path, O_RDONLY);
    assert_int_equal(truncate(page_path, 100), 0);
    assert_int_equal(store_next(), PAGE_FILE_SHRUNK);
    assert_stored();
    struct stat status;
    assert_int_equal(fstat(reader, &status), 0);
    assert_int_equal(status.st_nlink, 0);
    close(reader);

    assert_int_equal(truncate(page_path, 5000), 0);
    assert_int_equal(store_next(), PAGE_FILE_SHRUNK);
    assert_int_equal(unlink(page_path), 0);
    assert_int_equal(store_next(), PAGE_FILE_REPLACED);
    assert_int_equal(unlink(page_path), 0);
    assert_int_equal(symlink("/etc/passwd", page_path), 0);
    assert_int_equal(store_next(), PAGE_FILE_REPLACED);
    assert_stored();

    int fd = open(page_path, O_WRONLY);
    assert_int_equal(pwrite(fd, "x", 1, 300), 1);
    close(fd);
    assert_int_equal(store_next(), PAGE_FILE_CHANGED);
    assert_stored();

    snprintf(run, sizeof(run), "%s/run", folder);
    remove_below(run);
    assert_int_equal(store_next(), PAGE_FILE_REPLACED);
    assert_stored();
    assert_int_equal(store_next(), PAGE_FILE_AS_EXPECTED);
}

/* A publication that ends half-way. As the servo does it: the next one has the same number. */
static void fail_next_after(int bytes)
{
    enum page_file_event event;
    struct timebase_page before = page;
    publish_on(&page);
    bytes_left = bytes;
    assert_int_equal(page_file_store(&file, &page, &event, &problem), -1);
    bytes_left = WRITES_SUCCEED;
    assert_non_null(strstr(problem.text, "cannot write to"));
    page = before;
}

/* After whatever write the disk failed, the file is made anew, and nobody is blamed for it. */
static void what_was_half_written_is_no_harm_by_others(void **state)
{
    const int copy = (int)sizeof(page.copy[0]);
    const int all = copy + 16 + (int)(offsetof(struct timebase_page, copy) - 8);
    (void)state;
    assert_int_equal(store_next(), PAGE_FILE_MADE);
    for (int bytes = 0; bytes < all; bytes += 7) {
        fail_next_after(bytes);
        struct timebase_page left = in_file();
        assert_int_equal(timebase_page_validate(&left), 0);
        /* Half-written counts would be a page that nobody has published. */
        page_file_store_counts(&file, &page);
        struct timebase_page still = in_file();
        assert_memory_equal(&still, &left, sizeof(left));
        assert_int_equal(store_next(), PAGE_FILE_MADE);
        assert_stored();
        assert_int_equal(store_next(), PAGE_FILE_AS_EXPECTED);
    }
}

static void counts_half_written_are_no_harm_by_others(void **state)
{
    (void)state;
    store_next();
    publish_count(&page.disruption_marker);
    publish_count(&page.late_count);
    bytes_left = (int)(offsetof(struct timebase_page, utc_step_count) - 8);
    page_file_store_counts(&file, &page);
    bytes_left = WRITES_SUCCEED;
    assert_int_equal(store_next(), PAGE_FILE_MADE);
    assert_stored();
    assert_int_equal(store_next(), PAGE_FILE_AS_EXPECTED);
}

/* As the next daemon finds it. */
static int reopen_and_adopt(struct timebase_page *found)
{
    page_file_close(&file);
    assert_int_equal(page_file_open(&file, page_path, "", &problem), 0);
    return page_file_adopt(&file, found, &problem);
}

static void a_good_page_is_taken_up_in_place(void **state)
{
    struct timebase_page found;
    struct stat before, after;
    (void)state;
    store_next();
    assert_int_equal(stat(page_path, &before), 0);
    assert_int_equal(reopen_and_adopt(&found), 0);
    assert_memory_equal(&found, &page, sizeof(page));
    assert_int_equal(store_next(), PAGE_FILE_AS_EXPECTED);
    assert_int_equal(stat(page_path, &after), 0);
    assert_true(before.st_ino == after.st_ino);
}

static void assert_refused(const char *reason)
{
    struct timebase_page found;
    assert_int_equal(reopen_and_adopt(&found), -1);
    if (strstr(problem.text, reason) == NULL)
        fail_msg("\"%s\" is not in: %s", reason, problem.text);
    /* And the next publication takes its place. */
    assert_int_equal(store_next(), PAGE_FILE_MADE);
    assert_stored();
}

static void write_page(const struct timebase_page *content, size_t size)
{
    unlink(page_path);
    int fd = open(page_path, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(fd, content, size), (ssize_t)size);
    close(fd);
}

static void what_is_no_good_page_is_refused_and_replaced(void **state)
{
    struct timebase_page bad;
    (void)state;
    assert_refused("there is none");
    write_page(&page, 511);
    assert_refused("511 bytes long");
    bad = page;
    bad.magic = 1;
    write_page(&bad, sizeof(bad));
    assert_refused("not a timebase page");
    bad = page;
    bad.seq = 0;
    write_page(&bad, sizeof(bad));
    assert_refused(page_path);
    bad = page;
    bad.copy[bad.seq & 1].slew.period_ns = 5000;
    write_page(&bad, sizeof(bad));
    assert_refused("not a timebase page");
    bad = page;
    bad.counter_id = 200;
    write_page(&bad, sizeof(bad));
    assert_refused("of counter 200");
    write_page(&page, sizeof(page));
    chmod(page_path, 0666);
    assert_refused("others can write to it");
    unlink(page_path);
    assert_int_equal(symlink("/etc/passwd", page_path), 0);
    assert_refused("symbolic link");
    unlink(page_path);
    assert_int_equal(mkfifo(page_path, 0644), 0);
    assert_refused("no regular file");
}

/* Not by its size, though that is another, too: the log must say what is to be upgraded. */
static void a_page_of_another_version_is_named_and_replaced(void **state)
{
    struct timebase_page old = page;
    (void)state;
    old.version = 1;
    old.size = 512;
    write_page(&old, 512);
    assert_refused("a page of version 1, and this timebased keeps version 2");
    old.version = 3;
    write_page(&old, sizeof(old));
    assert_refused("a page of version 3, and this timebased keeps version 2");
}

static void a_page_of_another_user_is_refused(void **state)
{
    (void)state;
    store_next();
    if (geteuid() != 0 || chown(page_path, 12345, 12345) != 0) {
        print_message("skipped: needs root\n");
        skip();
    }
    assert_refused("belongs to user 12345");
}

static void a_page_from_before_the_machine_was_started_is_refused(void **state)
{
    char name[128];
    (void)state;
    if (access("/proc/sys/kernel/random/boot_id", R_OK) != 0)
        skip();
    store_next();
    page_file_close(&file);
    snprintf(name, sizeof(name), "%s.lock", page_path);
    int fd = open(name, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, "1 0-1-2\n", 8), 8);
    close(fd);
    assert_refused("before the machine was started");
}

static void what_cannot_be_is_said_with_advice(void **state)
{
    struct page_file other;
    (void)state;
    assert_int_equal(page_file_open(&other, "/nonexistent/a/page", "", &problem), -1);
    assert_string_equal(problem.text,
                        "cannot make the folder /nonexistent/a: No such file or directory: make "
                        "the folder that holds it, or choose another path");
    assert_int_equal(page_file_open(&other, "/dev/null/page", "", &problem), -1);
    assert_non_null(strstr(problem.text, "/dev/null"));
    assert_int_equal(page_file_open(&other, page_path, "", &problem), -1);
    assert_non_null(strstr(problem.text, "another timebased, process"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folder_and_page_are_for_all_to_read, begin, finish),
        cmocka_unit_test_setup_teardown(publications_follow_in_place, begin, finish),
        cmocka_unit_test_setup_teardown(harm_is_noticed_and_repaired_aside, begin, finish),
        cmocka_unit_test_setup_teardown(what_was_half_written_is_no_harm_by_others, begin, finish),
        cmocka_unit_test_setup_teardown(counts_half_written_are_no_harm_by_others, begin, finish),
        cmocka_unit_test_setup_teardown(a_good_page_is_taken_up_in_place, begin, finish),
        cmocka_unit_test_setup_teardown(what_is_no_good_page_is_refused_and_replaced, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(a_page_of_another_version_is_named_and_replaced, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(a_page_of_another_user_is_refused, begin, finish),
        cmocka_unit_test_setup_teardown(a_page_from_before_the_machine_was_started_is_refused,
                                        begin, finish),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_said_with_advice, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
