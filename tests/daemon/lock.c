/* SPDX-License-Identifier: MIT */
/* One writer a page, whoever else wants to. */
#include "cmocka_first.h"

#include "daemon/lock.h"
#include "folder.h"
#include "system/child.h"

static int folder_fd;
static struct problem problem;

static int take(struct lock *lock)
{
    lock->fd = -1;
    return lock_take(lock, folder_fd, "page.lock", page_path, &problem);
}

static void expect_refused(void)
{
    struct lock lock;
    char parent[32];
    snprintf(parent, sizeof(parent), "process %ld, ", (long)getppid());
    EXPECT(take(&lock) == -1);
    EXPECT(strstr(problem.text, parent) != NULL);
    EXPECT(lock.fd == -1);
}

static void the_second_is_refused_and_told_who_the_first_is(void **state)
{
    struct lock lock;
    (void)state;
    assert_int_equal(take(&lock), 0);
    child_must_pass(expect_refused);
    lock_release(&lock);
}

static void hold_and_die(void)
{
    struct lock lock;
    EXPECT(take(&lock) == 0);
    raise(SIGKILL);
}

static void it_is_free_again_when_its_holder_is_killed(void **state)
{
    struct lock lock;
    (void)state;
    assert_int_equal(child_run(hold_and_die), 128 + SIGKILL);
    assert_int_equal(take(&lock), 0);
    lock_release(&lock);
}

/* Who can open it can lock it, and keep the daemon out. */
static void nobody_else_can_open_it(void **state)
{
    struct lock lock;
    struct stat status;
    (void)state;
    assert_int_equal(take(&lock), 0);
    assert_int_equal(fstat(lock.fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    lock_release(&lock);
}

static void write_lock(const char *text)
{
    int fd = openat(folder_fd, "page.lock", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void another_boot_is_told_from_this_one(void **state)
{
    struct lock lock;
    (void)state;
    assert_int_equal(take(&lock), 0);
    lock_release(&lock);
    assert_int_equal(take(&lock), 0);
    assert_true(lock.is_same_boot);
    lock_release(&lock);
    if (access("/proc/sys/kernel/random/boot_id", R_OK) != 0)
        return;
    write_lock("1 11111111-2222-3333-4444-555555555555\n");
    assert_int_equal(take(&lock), 0);
    assert_false(lock.is_same_boot);
    lock_release(&lock);
}

static void garbage_in_it_does_no_harm(void **state)
{
    struct lock lock;
    (void)state;
    write_lock("\xff\xfe%s%n 99999999999999999999999999999999999999 x\n\n\n");
    assert_int_equal(take(&lock), 0);
    lock_release(&lock);
}

static void a_link_is_not_followed(void **state)
{
    struct lock lock;
    struct stat status;
    (void)state;
    unlinkat(folder_fd, "page.lock", 0);
    assert_int_equal(symlinkat("target", folder_fd, "page.lock"), 0);
    assert_int_equal(take(&lock), -1);
    assert_int_equal(fstatat(folder_fd, "target", &status, 0), -1);
    unlinkat(folder_fd, "page.lock", 0);
}

static void a_lock_that_was_removed_is_noticed(void **state)
{
    struct lock lock;
    (void)state;
    assert_int_equal(take(&lock), 0);
    assert_true(lock_is_held(&lock, folder_fd, "page.lock"));
    unlinkat(folder_fd, "page.lock", 0);
    assert_false(lock_is_held(&lock, folder_fd, "page.lock"));
    lock_release(&lock);
}

static int open_folder(void **state)
{
    int result = make_folder(state);
    folder_fd = open(folder, O_RDONLY | O_DIRECTORY);
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_is_refused_and_told_who_the_first_is),
        cmocka_unit_test(it_is_free_again_when_its_holder_is_killed),
        cmocka_unit_test(nobody_else_can_open_it),
        cmocka_unit_test(another_boot_is_told_from_this_one),
        cmocka_unit_test(garbage_in_it_does_no_harm),
        cmocka_unit_test(a_link_is_not_followed),
        cmocka_unit_test(a_lock_that_was_removed_is_noticed),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
