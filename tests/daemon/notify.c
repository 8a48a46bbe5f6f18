/* SPDX-License-Identifier: MIT */
/* What systemd is told, and through which socket. */
#include "cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/notify.h"

static int listen_at(const char *name, socklen_t length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    memcpy(address.sun_path, name, length);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    return fd;
}

static void assert_heard(int fd, const char *text)
{
    char heard[100] = "";
    assert_int_equal(recv(fd, heard, sizeof(heard), 0), (ssize_t)strlen(text));
    assert_string_equal(heard, text);
}

static void without_a_socket_nothing_is_wrong(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(notify_send("READY=1\n"), 0);
}

static void a_path_is_sent_to(void **state)
{
    char name[64];
    (void)state;
    snprintf(name, sizeof(name), "/tmp/timebased-notify-%ld", (long)getpid());
    int fd = listen_at(name, (socklen_t)strlen(name) + 1);
    setenv("NOTIFY_SOCKET", name, 1);
    assert_int_equal(notify_send("READY=1\nSTATUS=x\n"), 1);
    assert_heard(fd, "READY=1\nSTATUS=x\n");
    close(fd);
    assert_int_equal(notify_send("WATCHDOG=1\n"), -1);
    unlink(name);
}

/* Its name ends where it ends: an end of text would be part of another name. */
static void an_abstract_socket_is_sent_to(void **state)
{
    char name[64];
    (void)state;
    snprintf(name, sizeof(name), "@timebased-notify-%ld", (long)getpid());
    setenv("NOTIFY_SOCKET", name, 1);
    socklen_t length = (socklen_t)strlen(name);
    name[0] = '\0';
    int fd = listen_at(name, length);
    assert_int_equal(notify_send("STOPPING=1\n"), 1);
    assert_heard(fd, "STOPPING=1\n");
    close(fd);
}

static void a_listener_who_does_not_read_is_not_waited_for(void **state)
{
    char name[64];
    (void)state;
    snprintf(name, sizeof(name), "/tmp/timebased-full-%ld", (long)getpid());
    int fd = listen_at(name, (socklen_t)strlen(name) + 1), sent = 1;
    setenv("NOTIFY_SOCKET", name, 1);
    for (int i = 0; i < 100000 && sent == 1; i++)
        sent = notify_send("WATCHDOG=1\n");
    assert_int_equal(sent, -1);
    close(fd);
    unlink(name);
}

static void nonsense_is_refused(void **state)
{
    char name[200];
    (void)state;
    memset(name, 'x', sizeof(name));
    name[0] = '/';
    name[199] = '\0';
    setenv("NOTIFY_SOCKET", name, 1);
    assert_int_equal(notify_send("READY=1\n"), -1);
    setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
    assert_int_equal(notify_send("READY=1\n"), -1);
    setenv("NOTIFY_SOCKET", "@", 1);
    assert_int_equal(notify_send("READY=1\n"), -1);
    setenv("NOTIFY_SOCKET", "", 1);
    assert_int_equal(notify_send("READY=1\n"), -1);
}

static uint64_t watchdog(const char *usec, const char *pid)
{
    setenv("WATCHDOG_USEC", usec, 1);
    if (pid != NULL)
        setenv("WATCHDOG_PID", pid, 1);
    else
        unsetenv("WATCHDOG_PID");
    return notify_watchdog_ns();
}

static void the_watchdog_is_told_in_half_its_time_and_only_by_us(void **state)
{
    char me[32];
    (void)state;
    snprintf(me, sizeof(me), "%ld", (long)getpid());
    assert_true(watchdog("10000000", NULL) == 5000000000);
    assert_true(watchdog("10000000", me) == 5000000000);
    assert_true(watchdog("10000000", "1") == 0);
    assert_true(watchdog("0", me) == 0);
    assert_true(watchdog("-5", me) == 0);
    assert_true(watchdog("10 s", me) == 0);
    assert_true(watchdog("99999999999999999999999", me) == 0);
    unsetenv("WATCHDOG_USEC");
    assert_true(notify_watchdog_ns() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_socket_nothing_is_wrong),
        cmocka_unit_test(a_path_is_sent_to),
        cmocka_unit_test(an_abstract_socket_is_sent_to),
        cmocka_unit_test(a_listener_who_does_not_read_is_not_waited_for),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(the_watchdog_is_told_in_half_its_time_and_only_by_us),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
