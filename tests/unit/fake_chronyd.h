/* SPDX-License-Identifier: MIT */
/* fake_chronyd: a socket that answers what a test tells it to, when the test tells it to. */
#ifndef TEST_FAKE_CHRONYD_H
#define TEST_FAKE_CHRONYD_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/sources/chrony.h"

static struct fake_chronyd {
    int fd;
    char folder[64];
    char path[96];
    uint16_t port; /* UDP */
    struct sockaddr_storage from;
    socklen_t from_length;
    unsigned char question[CHRONY_MESSAGE_SIZE];
} fake_chronyd = {.fd = -1};

/* In a folder of its own, at "/tmp/.../chronyd.sock". */
static inline void listen_local(void)
{
    struct fake_chronyd *fake = &fake_chronyd;
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    strcpy(fake->folder, "/tmp/timebase-chronyd-XXXXXX");
    assert_non_null(mkdtemp(fake->folder));
    snprintf(fake->path, sizeof(fake->path), "%s/chronyd.sock", fake->folder);
    strcpy(local.sun_path, fake->path);
    fake->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fake->fd, (struct sockaddr *)&local, sizeof(local)), 0);
}

/* On the loopback, at a free port. */
static inline void listen_udp(void)
{
    struct fake_chronyd *fake = &fake_chronyd;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(v4);
    fake->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fake->fd, (struct sockaddr *)&v4, sizeof(v4)), 0);
    assert_int_equal(getsockname(fake->fd, (struct sockaddr *)&v4, &length), 0);
    fake->port = ntohs(v4.sin_port);
    fake->path[0] = '\0';
    fake->folder[0] = '\0';
}

static inline void hang_up(void)
{
    struct fake_chronyd *fake = &fake_chronyd;
    close(fake->fd);
    if (fake->path[0] != '\0')
        assert_int_equal(unlink(fake->path) | rmdir(fake->folder), 0);
    fake->fd = -1;
    fake->path[0] = '\0';
}

/* A question is there, for it was sent before. False: there is none. */
static inline bool take_question(void)
{
    struct fake_chronyd *fake = &fake_chronyd;
    fake->from_length = sizeof(fake->from);
    return recvfrom(fake->fd, fake->question, sizeof(fake->question), MSG_DONTWAIT,
                    (struct sockaddr *)&fake->from,
                    &fake->from_length) == (ssize_t)sizeof(fake->question);
}

/* The last of those that are there. */
static inline bool take_newest_question(void)
{
    bool is_there = false;
    while (take_question())
        is_there = true;
    return is_there;
}

/* A synchronised chronyd, 250 ms from UTC: its last question less so many. */
static inline void give_answer(unsigned char version, unsigned char late)
{
    struct fake_chronyd *fake = &fake_chronyd;
    unsigned char bytes[CHRONY_MESSAGE_SIZE] = {version, 2, 0, 0, 0, 33, 0, 5};
    memcpy(bytes + 16, fake->question + 8, 4);
    bytes[19] = (unsigned char)(bytes[19] - late);
    bytes[28] = 10;
    bytes[53] = 2;
    memcpy(bytes + 68, (unsigned char[]){0, 0x80, 0, 0}, 4); /* 2^23 * 2^-25 s */
    assert_int_equal(sendto(fake->fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&fake->from,
                            fake->from_length),
                     sizeof(bytes));
}

#endif
