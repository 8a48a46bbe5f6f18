/* SPDX-License-Identifier: MIT */
#include "online_list.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "clock/counter/probe.h"

/* FNV-1a, 64 bits: Fowler, Noll, Vo; draft-eastlake-fnv. */
#define DIGEST_BASIS UINT64_C(0xcbf29ce484222325)
#define DIGEST_PRIME UINT64_C(0x100000001b3)

static uint64_t digest_of(uint64_t digest, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ bytes[i]) * DIGEST_PRIME;
    return digest;
}

/* The kernel writes the list anew for whoever reads from its beginning. */
static bool read_digest(int fd, uint64_t *digest)
{
    unsigned char bytes[1024];
    off_t at = 0;
    ssize_t got;
    *digest = DIGEST_BASIS;
    do {
        got = pread(fd, bytes, sizeof(bytes), at);
        if (got > 0)
            *digest = digest_of(*digest, bytes, (size_t)got);
        at += got;
    } while (got == (ssize_t)sizeof(bytes));
    return got >= 0 && at > 0;
}

void online_list_open(struct online_list *list)
{
    char path[512];
    online_list_close(list);
    if (counter_full_path("/sys/devices/system/cpu/online", path, sizeof(path)) != 0)
        return;
    list->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    list->is_open = list->fd >= 0;
    if (list->is_open && !read_digest(list->fd, &list->digest))
        online_list_close(list);
}

void online_list_close(struct online_list *list)
{
    if (list->is_open)
        close(list->fd);
    list->is_open = false;
}

bool online_list_has_changed(struct online_list *list)
{
    uint64_t digest;
    if (!list->is_open) {
        online_list_open(list);
        return list->is_open;
    }
    if (!read_digest(list->fd, &digest)) {
        online_list_close(list);
        return false;
    }
    bool has_changed = digest != list->digest;
    list->digest = digest;
    return has_changed;
}
