/* SPDX-License-Identifier: MIT */
#include "witness.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock/counter/uncancelled.h"

/* Of Linux' vmclock-abi.h: offsets, all little endian. */
enum {
    MAGIC_AT = 0x00,
    SIZE_AT = 0x04,
    VERSION_AT = 0x08,
    SEQ_AT = 0x0c,
    MARKER_AT = 0x10,
    FLAGS_AT = 0x18,
    STATUS_AT = 0x22,
    GENERATION_AT = 0x68,
};
enum { MAGIC = 0x4b4c4356, VERSION = 1, UNRELIABLE = 4, GENERATION_PRESENT = 1 << 8 };
enum { ATTEMPTS = 8 };

static uint32_t word(const unsigned char *page, size_t at)
{
    return le32toh(__atomic_load_n((const uint32_t *)(const void *)(page + at), __ATOMIC_RELAXED));
}

/* In halves, for processors without atomics of 64 bits; seq says whether they belong together. */
static uint64_t long_word(const unsigned char *page, size_t at)
{
    return (uint64_t)word(page, at + 4) << 32 | word(page, at);
}

static bool is_vmclock(const unsigned char *page)
{
    return word(page, MAGIC_AT) == MAGIC && word(page, SIZE_AT) >= GENERATION_AT &&
        (word(page, VERSION_AT) & 0xffff) == VERSION;
}

static void copy(const unsigned char *page, struct witness_mark *mark)
{
    bool has_generation = word(page, SIZE_AT) >= GENERATION_AT + sizeof(uint64_t) &&
        (word(page, FLAGS_AT) & GENERATION_PRESENT);
    mark->marker = long_word(page, MARKER_AT);
    mark->generation = has_generation ? long_word(page, GENERATION_AT) : 0;
    mark->status = __atomic_load_n(page + STATUS_AT, __ATOMIC_RELAXED);
}

/* The hypervisor makes seq odd, writes, and makes it even again, with barriers in between. */
void witness_read_page(const unsigned char *page, struct witness_mark *mark)
{
    static const struct witness_mark unknown;
    *mark = unknown;
    for (int i = 0; i < ATTEMPTS && !mark->is_known; i++) {
        uint32_t seq = word(page, SEQ_AT);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        copy(page, mark);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        mark->is_known = !(seq & 1) && word(page, SEQ_AT) == seq;
    }
    if (!mark->is_known)
        *mark = unknown;
}

void witness_read(const struct witness *witness, struct witness_mark *mark)
{
    static const struct witness_mark unknown;
    if (witness->page == NULL)
        *mark = unknown;
    else
        witness_read_page(witness->page, mark);
}

enum witness_seen witness_compare(const struct witness_mark *then, const struct witness_mark *now)
{
    if (!then->is_known)
        return WITNESS_SILENT;
    if (!now->is_known)
        return WITNESS_UPDATING;
    if (now->marker != then->marker || now->generation != then->generation)
        return WITNESS_MOVED;
    return now->status == UNRELIABLE ? WITNESS_UNRELIABLE : WITNESS_UNMOVED;
}

/* A regular file could be cut short under the mapping, and anybody could own it. */
static bool is_device(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_uid == 0;
}

void witness_open(struct witness *witness, const char *device)
{
    int saved_errno = errno;
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
    int fd = uncancelled_openat(AT_FDCWD, device, flags);
    witness->page = NULL;
    if (fd >= 0 && is_device(fd)) {
        void *page = mmap(NULL, WITNESS_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
        if (page != MAP_FAILED)
            witness->page = page;
    }
    if (fd >= 0)
        uncancelled_close(fd);
    if (witness->page != NULL && !is_vmclock(witness->page))
        witness_close(witness);
    errno = saved_errno;
}

void witness_close(struct witness *witness)
{
    int saved_errno = errno;
    if (witness->page != NULL)
        munmap((void *)(uintptr_t)witness->page, WITNESS_PAGE_SIZE);
    witness->page = NULL;
    errno = saved_errno;
}
