/* SPDX-License-Identifier: MIT */
/* What systemd hears of the daemon's status, and when it cannot hear. */
#include "cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/daemon_parts.h"
#include "daemon/log.h"
#include "shared_world.h"

static struct daemon daemon_state;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int listener = -1;

static void listen_here(void)
{
    listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
}

/* A clock with lines; and nobody listens yet. */
static int start(void **state)
{
    static const struct daemon none;
    (void)state;
    daemon_state = none;
    begin_world();
    struct shared_clock_outside outside = outside_of_world(NULL);
    shared_clock_start(&daemon_state.shared, &outside, 250 * MS, 50000);
    keep(&daemon_state.shared, 10 * SECOND);
    snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/timebased-tell-%ld", (long)getpid());
    return setenv("NOTIFY_SOCKET", address.sun_path, 1);
}

static int finish(void **state)
{
    (void)state;
    if (listener >= 0)
        close(listener);
    listener = -1;
    unlink(address.sun_path);
    return 0;
}

/* Does the next message begin so? Empty: there is none. */
static void assert_next_begins(const char *text)
{
    char heard[200] = "";
    ssize_t length = recv(listener, heard, sizeof(heard) - 1, 0);
    assert_int_equal(length > 0, text[0] != '\0');
    assert_memory_equal(heard, text, strlen(text));
}

static void ready_is_told_once_with_the_first_status(void **state)
{
    (void)state;
    listen_here();
    daemon_tell_status(&daemon_state, true);
    assert_next_begins("READY=1\nSTATUS=");
    daemon_tell_status(&daemon_state, false);
    assert_next_begins("");
    daemon_tell_status(&daemon_state, true);
    assert_next_begins("STATUS=");
}

/* systemd begins anew, or its socket is full. */
static void what_could_not_be_told_is_told_with_the_next_step(void **state)
{
    (void)state;
    daemon_tell_status(&daemon_state, true);
    daemon_tell_status(&daemon_state, false);
    listen_here();
    daemon_tell_status(&daemon_state, false);
    assert_next_begins("READY=1\nSTATUS=");
    daemon_tell_status(&daemon_state, false);
    assert_next_begins("");
    finish(NULL);
    daemon_tell_status(&daemon_state, true);
    listen_here();
    daemon_tell_status(&daemon_state, false);
    assert_next_begins("STATUS=");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ready_is_told_once_with_the_first_status, start, finish),
        cmocka_unit_test_setup_teardown(what_could_not_be_told_is_told_with_the_next_step, start,
                                        finish),
    };
    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
