/* SPDX-License-Identifier: MIT */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The length of the address; 0: not usable. An abstract one has its name only, without a NUL. */
static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
    size_t length = strlen(name);
    int is_abstract = name[0] == '@';
    if ((name[0] != '/' && !is_abstract) || length < 2 || length >= sizeof(address->sun_path))
        return 0;
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, name, length);
    if (is_abstract)
        address->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + !is_abstract);
}

int notify_send(const char *text)
{
    struct sockaddr_un address;
    const char *name = getenv("NOTIFY_SOCKET");
    if (name == NULL)
        return 0;
    socklen_t length = address_of(name, &address);
    if (length == 0)
        return -1;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    ssize_t sent =
        sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address, length);
    close(fd);
    return sent < 0 ? -1 : 1;
}

/* A whole number; 0 for anything else, or one too large. */
static uint64_t number_in(const char *name)
{
    const char *text = getenv(name);
    char *end;
    if (text == NULL || text[0] < '0' || text[0] > '9')
        return 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    return *end != '\0' || errno != 0 ? 0 : number;
}

uint64_t notify_watchdog_ns(void)
{
    uint64_t usec = number_in("WATCHDOG_USEC");
    if (usec == 0 || usec > (uint64_t)INT64_MAX / 1000)
        return 0;
    if (getenv("WATCHDOG_PID") != NULL && number_in("WATCHDOG_PID") != (uint64_t)getpid())
        return 0;
    return usec * 1000 / 2;
}
