/* SPDX-License-Identifier: MIT */
/*
 * One datagram is the question, another the answer, which may come late or never. No call waits for
 * longer than its caller said. Answers to earlier questions are passed over.
 */
#include "chrony.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <timebase/counter.h>
#include <timebase/error.h>

/* Late answers that are passed over at a time. */
#define LATE_ANSWERS 16

static bool place_local(struct chrony_place *place, const char *path)
{
    struct sockaddr_un *local = &place->address.local;
    size_t length = strlen(path);
    if (length >= sizeof(local->sun_path))
        return false;
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path, length + 1);
    place->length = sizeof(*local);
    return true;
}

bool chrony_place(struct chrony_place *place, const char *host, uint16_t port)
{
    static const struct chrony_place none;
    *place = none;
    if (host[0] == '/')
        return place_local(place, host);
    if (strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &place->address.v4.sin_addr) == 1) {
        place->address.v4.sin_family = AF_INET;
        place->address.v4.sin_port = htons(port);
        place->length = sizeof(place->address.v4);
        return true;
    }
    if (inet_pton(AF_INET6, host, &place->address.v6.sin6_addr) != 1)
        return false;
    place->address.v6.sin6_family = AF_INET6;
    place->address.v6.sin6_port = htons(port);
    place->length = sizeof(place->address.v6);
    return true;
}

static int error_of(int number)
{
    return number == EACCES || number == EPERM ? TIMEBASE_E_PERMISSION : TIMEBASE_E_REFERENCE;
}

/*
 * chronyd, another user, must be able to write to our end. The mode comes from the mask, not from a
 * chmod() afterwards: by then the owner of the folder might have put another file in its place.
 */
static int bind_local(struct chrony_socket *socket, const struct chrony_place *place)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    const char *path = place->address.local.sun_path;
    int folder = (int)(strrchr(path, '/') - path);
    int length = snprintf(own.sun_path, sizeof(own.sun_path), "%.*s/timebased.%ld.%d.sock", folder,
                          path, (long)getpid(), socket->fd);
    if (length < 0 || (size_t)length >= sizeof(own.sun_path))
        return TIMEBASE_E_REFERENCE;
    unlink(own.sun_path); /* of a process that had our number and was killed */
    mode_t mask = umask(0);
    int result = bind(socket->fd, (struct sockaddr *)&own, sizeof(own));
    umask(mask);
    if (result != 0)
        return error_of(errno);
    memcpy(socket->own, own.sun_path, (size_t)length + 1);
    return TIMEBASE_OK;
}

static int open_socket(struct chrony_socket *chrony, const struct chrony_place *place)
{
    int family = place->address.any.sa_family;
    chrony->fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (chrony->fd < 0)
        return error_of(errno);
    int error = family == AF_UNIX ? bind_local(chrony, place) : TIMEBASE_OK;
    if (error == TIMEBASE_OK && connect(chrony->fd, &place->address.any, place->length) != 0)
        error = error_of(errno);
    return error;
}

int chrony_socket_ask(struct chrony_socket *socket, const struct chrony_place *place)
{
    unsigned char bytes[CHRONY_MESSAGE_SIZE];
    int error = socket->fd < 0 ? open_socket(socket, place) : TIMEBASE_OK;
    if (error == TIMEBASE_OK) {
        /* A sender that does not see the question cannot guess its number. */
        socket->sequence += 1 + (uint32_t)(timebase_ticks() & 0xffff);
        chrony_request(socket->sequence, bytes);
        ssize_t sent = send(socket->fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
        error = sent == (ssize_t)sizeof(bytes) ? TIMEBASE_OK : error_of(errno);
    }
    if (error != TIMEBASE_OK)
        chrony_socket_close(socket);
    return error;
}

int chrony_socket_hear(struct chrony_socket *socket, struct chrony_tracking *tracking)
{
    unsigned char bytes[CHRONY_MESSAGE_SIZE + 1]; /* a byte more, so that a longer answer shows */
    for (int i = 0; i < LATE_ANSWERS; i++) {
        ssize_t got = recv(socket->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return TIMEBASE_E_BUSY;
        if (got < 0)
            return error_of(errno);
        int error = chrony_parse(bytes, (size_t)got, socket->sequence, tracking);
        if (error != TIMEBASE_E_BUSY)
            return error;
    }
    return TIMEBASE_E_BUSY;
}

void chrony_socket_wait(const struct chrony_socket *socket, int64_t ns)
{
    struct pollfd answer = {.fd = socket->fd, .events = POLLIN};
    const struct timespec timeout = {.tv_sec = 0, .tv_nsec = (long)ns};
    ppoll(&answer, 1, &timeout, NULL);
}

void chrony_socket_close(struct chrony_socket *socket)
{
    if (socket->fd >= 0)
        close(socket->fd);
    if (socket->own[0] != '\0')
        unlink(socket->own);
    socket->fd = -1;
    socket->own[0] = '\0';
}
