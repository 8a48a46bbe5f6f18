/* SPDX-License-Identifier: MIT */
/* Questions and answers of the command protocol, over both kinds of socket. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>

#include <timebase/error.h>

#include "fake_chronyd.h"

static struct chrony_place place_of(const char *host, uint16_t port)
{
    struct chrony_place place;
    assert_true(chrony_place(&place, host, port));
    return place;
}

static struct chrony_place place_of_fake(void)
{
    return fake_chronyd.path[0] != '\0' ? place_of(fake_chronyd.path, 0)
                                        : place_of("127.0.0.1", fake_chronyd.port);
}

static void ask_and_be_answered(void)
{
    struct chrony_socket socket = {.fd = -1};
    struct chrony_place place = place_of_fake();
    struct chrony_tracking tracking;
    assert_int_equal(chrony_socket_ask(&socket, &place), TIMEBASE_OK);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_E_BUSY);
    assert_true(take_question());
    give_answer(6, 0);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_OK);
    assert_true(tracking.correction_ns == 250000000);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_E_BUSY);
    chrony_socket_close(&socket);
}

static void a_question_is_answered_at_the_socket_and_by_udp(void **state)
{
    (void)state;
    listen_local();
    ask_and_be_answered();
    hang_up();
    listen_udp();
    ask_and_be_answered();
    hang_up();
}

static void answers_to_earlier_questions_are_passed_over(void **state)
{
    struct chrony_socket socket = {.fd = -1};
    struct chrony_tracking tracking;
    (void)state;
    listen_udp();
    struct chrony_place place = place_of_fake();
    assert_int_equal(chrony_socket_ask(&socket, &place), TIMEBASE_OK);
    assert_true(take_question());
    give_answer(6, 1);
    give_answer(6, 2);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_E_BUSY);
    give_answer(6, 3);
    give_answer(6, 0);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_OK);
    uint32_t first = socket.sequence;
    assert_int_equal(chrony_socket_ask(&socket, &place), TIMEBASE_OK);
    assert_int_not_equal(socket.sequence, first);
    chrony_socket_close(&socket);
    hang_up();
}

static void a_flood_of_late_answers_holds_nobody_up(void **state)
{
    struct chrony_socket socket = {.fd = -1};
    struct chrony_tracking tracking;
    (void)state;
    listen_udp();
    struct chrony_place place = place_of_fake();
    assert_int_equal(chrony_socket_ask(&socket, &place), TIMEBASE_OK);
    assert_true(take_question());
    for (unsigned char late = 1; late <= 40; late++)
        give_answer(6, late);
    give_answer(6, 0);
    /* Some at a time; a caller who comes again gets to the end. */
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_E_BUSY);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_E_BUSY);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_OK);
    chrony_socket_close(&socket);
    hang_up();
}

static void an_answer_of_another_version_is_told_from_silence(void **state)
{
    struct chrony_socket socket = {.fd = -1};
    struct chrony_tracking tracking;
    (void)state;
    listen_udp();
    struct chrony_place place = place_of_fake();
    assert_int_equal(chrony_socket_ask(&socket, &place), TIMEBASE_OK);
    assert_true(take_question());
    give_answer(5, 0);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_E_UNSUPPORTED);
    chrony_socket_close(&socket);
    hang_up();
}

static void where_nobody_listens_it_is_said_at_once(void **state)
{
    struct chrony_socket socket = {.fd = -1};
    struct chrony_tracking tracking;
    (void)state;
    listen_udp();
    struct chrony_place nobody = place_of_fake(), folder = place_of("/tmp/no/such/folder/sock", 0);
    hang_up();
    assert_int_equal(chrony_socket_ask(&socket, &nobody), TIMEBASE_OK);
    assert_int_equal(chrony_socket_hear(&socket, &tracking), TIMEBASE_E_REFERENCE);
    chrony_socket_close(&socket);
    assert_int_equal(chrony_socket_ask(&socket, &folder), TIMEBASE_E_REFERENCE);
    assert_int_equal(socket.fd, -1);
    listen_local();
    struct chrony_place gone = place_of_fake();
    close(fake_chronyd.fd);
    fake_chronyd.fd = -1;
    assert_int_equal(chrony_socket_ask(&socket, &gone), TIMEBASE_E_REFERENCE);
    hang_up();
}

static unsigned files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* chronyd is another user, and must be able to write to our end; which is not left behind. */
static void our_end_is_writable_and_goes_with_us(void **state)
{
    struct chrony_socket socket = {.fd = -1};
    struct stat status;
    (void)state;
    listen_local();
    struct chrony_place place = place_of_fake();
    mode_t mask = umask(077);
    assert_int_equal(chrony_socket_ask(&socket, &place), TIMEBASE_OK);
    assert_int_equal(stat(socket.own, &status), 0);
    assert_int_equal(status.st_mode & 0666, 0666);
    assert_int_equal(umask(mask), 077);
    assert_int_equal(files_in(fake_chronyd.folder), 2);
    chrony_socket_close(&socket);
    assert_int_equal(files_in(fake_chronyd.folder), 1);
    hang_up();
}

static void a_place_is_an_address_or_a_path(void **state)
{
    static const char *const wrong[] = {"", "example.org", "1.2.3", "1.2.3.4.5", ":::", "host/x"};
    struct chrony_place place;
    char path[2 * CHRONY_PLACE_SIZE];
    (void)state;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(chrony_place(&place, wrong[i], 323));
    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[CHRONY_PLACE_SIZE] = '\0';
    assert_false(chrony_place(&place, path, 323));
    path[CHRONY_PLACE_SIZE - 1] = '\0';
    assert_true(chrony_place(&place, path, 323));
    assert_int_equal(place_of("::1", 323).address.any.sa_family, AF_INET6);
    assert_int_equal(place_of("localhost", 323).address.v4.sin_port, htons(323));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_answered_at_the_socket_and_by_udp),
        cmocka_unit_test(answers_to_earlier_questions_are_passed_over),
        cmocka_unit_test(a_flood_of_late_answers_holds_nobody_up),
        cmocka_unit_test(an_answer_of_another_version_is_told_from_silence),
        cmocka_unit_test(where_nobody_listens_it_is_said_at_once),
        cmocka_unit_test(our_end_is_writable_and_goes_with_us),
        cmocka_unit_test(a_place_is_an_address_or_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
