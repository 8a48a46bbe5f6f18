/* SPDX-License-Identifier: MIT */
/* What may become of the file, and of its descriptor, while a process is attached to the page. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "clock/attach/mirror.h"
#include "attached.h"

static struct timebase_page saved;

static void cut_and_mend(void)
{
    int fd = open(writer.path, O_WRONLY | O_CLOEXEC);
    for (off_t size = 0; size < 512; size += 100) {
        (void)!ftruncate(fd, size);
        usleep(500);
    }
    (void)!pwrite(fd, &saved, sizeof(saved), 0);
    close(fd);
}

/* A mapping would raise SIGBUS. */
static void a_truncated_file_kills_nobody(void **state)
{
    (void)state;
    memcpy(&saved, writer.page, sizeof(saved));
    pid_t child = start_writing(cut_and_mend);
    read_for(300 * MS);
    stop(child);
    assert_int_equal(truncate(writer.path, 4), 0);
    assert_int_equal(attachment().error, TIMEBASE_E_FORMAT);
    read_for(10 * MS);
    assert_true(attachment().refusals > 0);
}

static void a_vanished_file_is_told_and_a_new_one_taken_up(void **state)
{
    (void)state;
    unlink(writer.path);
    read_for(700 * MS);
    assert_int_equal(attachment().error, TIMEBASE_E_NOT_FOUND);
    writer_replace(&writer);
    read_for(200 * MS);
    assert_int_equal(attachment().error, 0);
    assert_int_equal(attachment().openings, 2);
    assert_int_equal(attachment().seq, writer.page->seq);
}

static void a_replaced_file_is_noticed(void **state)
{
    (void)state;
    writer_replace(&writer);
    read_for(800 * MS);
    assert_int_equal(attachment().openings, 2);
    writer_publish(&writer);
    assert_int_equal(attachment().seq, writer.page->seq);
}

static void a_page_made_writable_for_others_is_no_longer_followed(void **state)
{
    (void)state;
    uint64_t seq = attachment().seq;
    chmod(writer.path, 0666);
    writer_publish(&writer);
    assert_int_equal(attachment().error, TIMEBASE_E_UNTRUSTED);
    assert_int_equal(attachment().seq, seq);
    read_for(10 * MS);
    chmod(writer.path, 0644);
    assert_int_equal(attachment().error, 0);
    assert_int_equal(attachment().seq, writer.page->seq);
}

/* closefrom(3), as daemons do; the number then belongs to somebody else. */
static void a_descriptor_closed_by_the_program_is_opened_again(void **state)
{
    (void)state;
    int number = mirror_of(cell_of(shared))->file.fd;
    int other = open("/dev/null", O_RDWR);
    assert_int_equal(dup2(other, number), number);
    close(other);
    read_for(150 * MS);
    assert_int_equal(attachment().error, 0);
    writer_publish(&writer);
    assert_int_equal(attachment().seq, writer.page->seq);
    assert_int_equal(write(number, "x", 1), 1); /* still what the program opened */
    close(number);
}

/* Its number was given to a copy of the page, say: that is not looked at for a moment. */
static void a_descriptor_of_somebody_else_is_not_read(void **state)
{
    (void)state;
    int number = mirror_of(cell_of(shared))->file.fd;
    assert_int_equal(attachment().seq, writer.page->seq);
    int other = open(writer.folder, O_TMPFILE | O_RDWR, 0600);
    if (other < 0)
        skip_because("no unnamed files here");
    assert_int_equal(write(other, writer.page, sizeof(*writer.page)), sizeof(*writer.page));
    assert_int_equal(dup2(other, number), number);
    close(other);
    writer_publish(&writer);
    usleep(25000);
    assert_int_equal(attachment().seq, writer.page->seq);
    close(number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        A_PAGE(a_truncated_file_kills_nobody),
        A_PAGE(a_vanished_file_is_told_and_a_new_one_taken_up),
        A_PAGE(a_replaced_file_is_noticed),
        A_PAGE(a_page_made_writable_for_others_is_no_longer_followed),
        A_PAGE(a_descriptor_closed_by_the_program_is_opened_again),
        A_PAGE(a_descriptor_of_somebody_else_is_not_read),
    };
    return run_all(tests);
}
