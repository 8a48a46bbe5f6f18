/* SPDX-License-Identifier: MIT */
/* Files that are no page, or that the wrong people could have written, each refused by its name. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <timebase.h>

#include "child.h"
#include "clock/attach/shared_file.h"
#include "clock/counter/by_cpu.h"
#include "page_writer.h"

static struct page_writer writer;

static int attach_to(const char *path)
{
    timebase_clock *clock = NULL;
    int error = timebase_clock_attach(&clock, path);
    assert_true((error == 0) == (clock != NULL));
    timebase_clock_detach(clock);
    return error;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_true(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* A page beside the good one, which the test may spoil. */
static const char *beside(const char *name)
{
    static char path[160];
    snprintf(path, sizeof(path), "%s/%s", writer.folder, name);
    return path;
}

static struct timebase_page good(void)
{
    struct timebase_page page;
    writer_publish(&writer);
    memcpy(&page, writer.page, sizeof(page));
    return page;
}

static int attach_to_page(const struct timebase_page *page)
{
    const char *path = beside("spoilt");
    write_file(path, page, sizeof(*page));
    int error = attach_to(path);
    unlink(path);
    return error;
}

static void a_good_page_is_accepted(void **state)
{
    struct timebase_page page = good();
    (void)state;
    assert_int_equal(attach_to(writer.path), 0);
    assert_int_equal(attach_to_page(&page), 0);
}

/* Which of the next looks finds a file system in user space; 0: none. */
static int looks_to_fuse;

bool __real_file_system_is_kernels(int fd);
bool __wrap_file_system_is_kernels(int fd);

bool __wrap_file_system_is_kernels(int fd)
{
    bool is_fuse = looks_to_fuse > 0 && --looks_to_fuse == 0;
    return !is_fuse && __real_file_system_is_kernels(fd);
}

/* Whatever owner and mode it shows: the folder /tmp, the writer's, the file itself. */
static void a_file_system_in_user_space_is_not_believed(void **state)
{
    (void)state;
    for (int looks = 1; looks <= 3; looks++) {
        looks_to_fuse = looks;
        assert_int_equal(attach_to(writer.path), TIMEBASE_E_UNTRUSTED);
        assert_int_equal(looks_to_fuse, 0);
    }
    assert_int_equal(attach_to(writer.path), 0);
}

static void no_file_is_not_found(void **state)
{
    (void)state;
    assert_int_equal(attach_to(beside("none")), TIMEBASE_E_NOT_FOUND);
    assert_int_equal(attach_to("/none/at/all"), TIMEBASE_E_NOT_FOUND);
}

static void arguments_are_checked(void **state)
{
    static char endless[2 * PATH_MAX];
    (void)state;
    memset(endless, '/', sizeof(endless) - 1);
    assert_int_equal(timebase_clock_attach(NULL, writer.path), TIMEBASE_E_INVALID);
    assert_int_equal(attach_to(""), TIMEBASE_E_INVALID);
    assert_int_equal(attach_to(endless), TIMEBASE_E_INVALID);
    assert_int_equal(attach_to(beside("")), TIMEBASE_E_INVALID);
}

static void links_are_not_followed_as_file_or_folder(void **state)
{
    char path[192];
    (void)state;
    const char *link = beside("link");
    assert_int_equal(symlink(writer.path, link), 0);
    assert_int_equal(attach_to(link), TIMEBASE_E_UNTRUSTED);
    unlink(link);
    assert_int_equal(symlink(writer.folder, link), 0);
    snprintf(path, sizeof(path), "%s/page", link);
    assert_int_equal(attach_to(path), TIMEBASE_E_UNTRUSTED);
    unlink(link);
}

static void what_is_no_regular_file_is_refused_and_not_waited_for(void **state)
{
    (void)state;
    const char *path = beside("thing");
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_int_equal(attach_to(path), TIMEBASE_E_UNTRUSTED);
    unlink(path);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(attach_to(path), TIMEBASE_E_UNTRUSTED);
    rmdir(path);
    assert_int_equal(attach_to("/dev/zero"), TIMEBASE_E_UNTRUSTED);
}

static void a_file_or_folder_that_others_may_write_is_refused(void **state)
{
    (void)state;
    assert_int_equal(chmod(writer.path, 0664), 0);
    assert_int_equal(attach_to(writer.path), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(chmod(writer.path, 0646), 0);
    assert_int_equal(attach_to(writer.path), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(chmod(writer.path, 0644), 0);
    assert_int_equal(chmod(writer.folder, 0775), 0);
    assert_int_equal(attach_to(writer.path), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(chmod(writer.folder, 0777), 0);
    assert_int_equal(attach_to(writer.path), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(chmod(writer.folder, 01777), 0);
    assert_int_equal(attach_to(writer.path), 0);
    assert_int_equal(chmod(writer.folder, 0755), 0);
}

#define NOBODY 65534

static void other_owners_are_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("only root can give files away");
    assert_int_equal(chown(writer.path, NOBODY, NOBODY), 0);
    assert_int_equal(attach_to(writer.path), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(chown(writer.path, 0, 0), 0);
    assert_int_equal(chown(writer.folder, NOBODY, NOBODY), 0);
    assert_int_equal(attach_to(writer.path), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(chown(writer.folder, 0, 0), 0);
    assert_int_equal(attach_to(writer.path), 0);
}

/* As systemd makes /run/timebase: root's folder in root's, given to the daemon's user. */
static void the_service_folder_has_its_own_owner(void **state)
{
    struct shared_file file;
    char folder[160], path[192];
    (void)state;
    if (geteuid() != 0)
        skip_because("only root can give files away");
    snprintf(folder, sizeof(folder), "%s", beside("service"));
    snprintf(path, sizeof(path), "%s/page", folder);
    struct timebase_page page = good();
    assert_int_equal(mkdir(folder, 0755), 0);
    write_file(path, &page, sizeof(page));
    assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
    assert_int_equal(chown(path, NOBODY, NOBODY), 0);
    assert_int_equal(shared_file_open(&file, path, "/none"), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(shared_file_open(&file, path, folder), 0);
    shared_file_close(&file);
    assert_int_equal(chown(path, NOBODY - 1, NOBODY - 1), 0);
    assert_int_equal(shared_file_open(&file, path, folder), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(chown(path, NOBODY, NOBODY), 0);
    assert_int_equal(chmod(writer.folder, 01777), 0); /* now anybody could have made it */
    assert_int_equal(shared_file_open(&file, path, folder), TIMEBASE_E_UNTRUSTED);
    assert_int_equal(chmod(writer.folder, 0755), 0);
    unlink(path);
    rmdir(folder);
}

static void a_file_that_is_too_short_is_refused(void **state)
{
    struct timebase_page page = good();
    const char *path = beside("short");
    (void)state;
    write_file(path, &page, sizeof(page) - 1);
    assert_int_equal(attach_to(path), TIMEBASE_E_FORMAT);
    write_file(path, &page, 0);
    assert_int_equal(attach_to(path), TIMEBASE_E_FORMAT);
    unlink(path);
}

static void another_format_is_refused(void **state)
{
    struct timebase_page page = good();
    (void)state;
    page.magic ^= 1;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_FORMAT);
    page = good();
    page.version++;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_FORMAT);
    page = good();
    page.size = 4096;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_FORMAT);
}

static void a_page_of_version_1_is_refused(void **state)
{
    struct timebase_page page = good();
    const char *path = beside("old");
    (void)state;
    page.version = 1;
    page.size = 512;
    write_file(path, &page, 512);
    assert_int_equal(attach_to(path), TIMEBASE_E_FORMAT);
    unlink(path);
}

static void a_feature_that_is_not_known_is_unsupported(void **state)
{
    struct timebase_page page = good();
    (void)state;
    page.incompatible = 0x80000000;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_UNSUPPORTED);
    page.incompatible |= TIMEBASE_PAGE_CORRECTED_BY_CPU;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_UNSUPPORTED);
}

/* And the counter of this process is as it was. */
static void corrected_ticks_without_the_corrections_are_refused(void **state)
{
    struct timebase_page page = good();
    int counter_id = timebase_counter_id();
    int error = by_cpu_is_possible() ? TIMEBASE_E_FORMAT : TIMEBASE_E_UNSUPPORTED;
    (void)state;
    page.incompatible = TIMEBASE_PAGE_CORRECTED_BY_CPU;
    assert_int_equal(attach_to_page(&page), error);
    page.counter_id = TIMEBASE_COUNTER_BY_CPU;
    assert_int_equal(attach_to_page(&page), error);
    page.incompatible = 0;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_FORMAT);
    assert_int_equal(timebase_counter_id(), counter_id);
    assert_int_equal(attach_to(writer.path), 0);
}

static void another_counter_is_unsupported(void **state)
{
    struct timebase_page page = good();
    (void)state;
    page.counter_id = TIMEBASE_COUNTER_INVALID;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_UNSUPPORTED);
}

static void a_page_without_lines_is_stale(void **state)
{
    struct timebase_page page = good();
    (void)state;
    page.seq = 0;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_STALE);
}

static void insane_lines_are_refused(void **state)
{
    struct timebase_page page = good();
    struct timebase_lines *lines = &page.copy[page.seq & 1];
    (void)state;
    lines->slew.maxerror_ns = (uint64_t)1 << 63;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_FORMAT);
    page = good();
    page.copy[page.seq & 1].after.start_ticks = page.copy[page.seq & 1].slew.start_ticks - 1;
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_FORMAT);
    page = good();
    page.copy[page.seq & 1].before.period_ns = 0;
    page.copy[page.seq & 1].before.period_frac = 1; /* would be divided by */
    assert_int_equal(attach_to_page(&page), TIMEBASE_E_FORMAT);
}

/* All lines, moved: another boot's counter, monotonic time or UTC. */
static struct timebase_page moved(uint64_t ticks, uint64_t mono_ns, uint64_t utc_ns)
{
    struct timebase_page page = good();
    struct timebase_lines *lines = &page.copy[page.seq & 1];
    struct timebase_line *all[] = {&lines->before, &lines->slew, &lines->after};
    for (int i = 0; i < 3; i++) {
        all[i]->start_ticks += ticks;
        all[i]->mono_ns += mono_ns;
        all[i]->utc_ns += utc_ns;
    }
    return page;
}

#define HOUR_NS 3600000000000

static void lines_of_another_boot_or_machine_are_stale(void **state)
{
    uint64_t hour_ticks = fixed_ticks(writer.period, 3600000000) * 1000;
    uint64_t second_ticks = hour_ticks / 3600;
    struct timebase_page ahead = moved(second_ticks, HOUR_NS / 3600, HOUR_NS / 3600);
    struct timebase_page future = moved(hour_ticks, 0, 0);
    struct timebase_page past = moved(-hour_ticks, 0, 0);
    struct timebase_page mono = moved(0, HOUR_NS, 0);
    struct timebase_page utc = moved(0, 0, HOUR_NS);
    struct timebase_page boot = moved(0, HOUR_NS, HOUR_NS);
    (void)state;
    assert_int_equal(attach_to_page(&ahead), TIMEBASE_E_STALE); /* right, and not begun */
    assert_int_equal(attach_to_page(&future), TIMEBASE_E_STALE);
    assert_int_equal(attach_to_page(&past), TIMEBASE_E_STALE);
    assert_int_equal(attach_to_page(&mono), TIMEBASE_E_STALE);
    assert_int_equal(attach_to_page(&utc), TIMEBASE_E_STALE);
    assert_int_equal(attach_to_page(&boot), TIMEBASE_E_STALE);
}

static void attach_as_nobody(void)
{
    timebase_clock *clock;
    if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        child_skip("this user cannot become another");
    EXPECT(timebase_clock_attach(&clock, writer.path) == 0);
    timebase_clock_detach(clock);
    EXPECT(timebase_clock_attach(&clock, beside("secret")) == TIMEBASE_E_PERMISSION);
}

static void other_users_may_attach_to_what_root_lets_them_read(void **state)
{
    struct timebase_page page = good();
    (void)state;
    if (geteuid() != 0)
        skip_because("only root can become another user");
    write_file(beside("secret"), &page, sizeof(page));
    chmod(beside("secret"), 0600);
    int result = child_run(attach_as_nobody);
    unlink(beside("secret"));
    if (result == SKIPPED)
        skip_because("see above");
    assert_int_equal(result, 0);
}

static void without_a_page_the_default_clock_serves(void **state)
{
    timebase_clock *clock = NULL;
    struct timebase_attachment attachment;
    (void)state;
    assert_int_equal(timebase_clock_attach_or_default(&clock, beside("none")),
                     TIMEBASE_E_NOT_FOUND);
    assert_ptr_equal(clock, timebase_clock_default());
    assert_int_equal(timebase_clock_attachment(clock, &attachment), 0);
    assert_int_equal(attachment.state, TIMEBASE_ATTACHMENT_PRIVATE);
    timebase_clock_detach(clock);
    timebase_clock_detach(NULL);
    assert_true(timebase_mono_ns(clock) > 0);
    assert_int_equal(timebase_clock_attach_or_default(&clock, writer.path), 0);
    assert_ptr_not_equal(clock, timebase_clock_default());
    timebase_clock_detach(clock);
}

/* Refusing a hundred times leaves nothing open. */
static void a_refusal_leaves_no_descriptor_behind(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    for (int i = 0; i < 100; i++) {
        attach_to("/dev/zero");
        attach_to(beside("none"));
        attach_to(writer.path);
    }
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

static int make_writer(void **state)
{
    (void)state;
    umask(022);
    writer = writer_new();
    return 0;
}

static int remove_writer(void **state)
{
    (void)state;
    writer_remove(&writer);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_page_is_accepted),
        cmocka_unit_test(a_file_system_in_user_space_is_not_believed),
        cmocka_unit_test(no_file_is_not_found),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(links_are_not_followed_as_file_or_folder),
        cmocka_unit_test(what_is_no_regular_file_is_refused_and_not_waited_for),
        cmocka_unit_test(a_file_or_folder_that_others_may_write_is_refused),
        cmocka_unit_test(other_owners_are_refused),
        cmocka_unit_test(the_service_folder_has_its_own_owner),
        cmocka_unit_test(a_file_that_is_too_short_is_refused),
        cmocka_unit_test(another_format_is_refused),
        cmocka_unit_test(a_page_of_version_1_is_refused),
        cmocka_unit_test(a_feature_that_is_not_known_is_unsupported),
        cmocka_unit_test(corrected_ticks_without_the_corrections_are_refused),
        cmocka_unit_test(another_counter_is_unsupported),
        cmocka_unit_test(a_page_without_lines_is_stale),
        cmocka_unit_test(insane_lines_are_refused),
        cmocka_unit_test(lines_of_another_boot_or_machine_are_stale),
        cmocka_unit_test(other_users_may_attach_to_what_root_lets_them_read),
        cmocka_unit_test(without_a_page_the_default_clock_serves),
        cmocka_unit_test(a_refusal_leaves_no_descriptor_behind),
    };
    int failed = cmocka_run_group_tests(tests, make_writer, remove_writer);
    return exit_status(failed, sizeof(tests) / sizeof(tests[0]));
}
