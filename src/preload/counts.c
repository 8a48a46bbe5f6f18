/* SPDX-License-Identifier: MIT */
#include "counts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <timebase/counter.h>

/* Slots that are tried for a key. */
#define ATTEMPTS 256
#define PATH_MAX_BYTES 4096

struct counts_table *counts_table;
static uint64_t image;
static bool has_ticks;
static char maps_path[PATH_MAX_BYTES];

static struct counts_table *map(const char *path)
{
    struct counts_table *found = MAP_FAILED;
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return NULL;
    if (lseek(file, 0, SEEK_END) == (off_t)COUNTS_BYTES)
        found = mmap(NULL, COUNTS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return found == MAP_FAILED || found->magic != COUNTS_MAGIC ? NULL : found;
}

static void copy(int from, int to)
{
    char some[4096];
    ssize_t bytes;
    while ((bytes = read(from, some, sizeof(some))) > 0)
        if (write(to, some, (size_t)bytes) != bytes)
            return;
}

static void write_maps(void)
{
    int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    int to = open(maps_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (from >= 0 && to >= 0)
        copy(from, to);
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
}

void counts_begin(const char *path)
{
    int saved_errno = errno;
    struct counts_table *table = path != NULL ? map(path) : NULL;
    if (table != NULL) {
        has_ticks = timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER;
        image = __atomic_add_fetch(&table->images, 1, __ATOMIC_RELAXED);
        snprintf(maps_path, sizeof(maps_path), "%s.%llu", path, (unsigned long long)image);
        write_maps();
        counts_table = table;
    }
    errno = saved_errno;
}

void counts_end(void)
{
    if (counts_table != NULL)
        write_maps();
}

/* Without a counter costs are 0: the clock that would be read in its place is what is counted. */
uint64_t counts_ticks(void)
{
    return has_ticks ? timebase_arch_ticks_ordered() | 1 : 1;
}

/* Spreads over all bits what differs in a few (SplitMix64). */
static uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Whoever takes a slot fills it; others of the same key would write the same. */
static struct counts_slot *slot_of(uint64_t image_function, int64_t clock, uint64_t caller)
{
    uint64_t key = mixed(mixed(mixed(image_function) + (uint64_t)clock) + caller) | 1;
    for (uint64_t i = 0; i < ATTEMPTS; i++) {
        struct counts_slot *slot = &counts_table->slots[(key + i) % COUNTS_SLOTS];
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&slot->key, &found, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            slot->image_function = image_function;
            slot->clock = clock;
            slot->caller = caller;
            return slot;
        }
        if (found == key)
            return slot;
    }
    return NULL;
}

void counts_add(enum counted function, int64_t clock, const void *caller, uint64_t begin_ticks)
{
    uint64_t ticks = counts_ticks() - begin_ticks;
    struct counts_slot *slot =
        slot_of(image << 8 | (uint64_t)function, clock, (uint64_t)(uintptr_t)caller);
    if (slot == NULL) {
        __atomic_fetch_add(&counts_table->missed, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_add(&slot->calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&slot->ticks, ticks, __ATOMIC_RELAXED);
}
