/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MADV_WIPEONFORK */
#include "space.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* The number, in memory that a fork sets to 0; and the last one, which a fork copies. */
static uint32_t *wiped;
static uint32_t last;

/*
 * Where fork wipes nothing: the same word in ordinary memory, and the process that it belongs to.
 */
static uint32_t copied;
static int32_t copied_pid;

/* Some emulators accept any advice and follow none. They also accept -1, which is no advice. */
static int is_wiped_by_fork(void *page)
{
    return madvise(page, sizeof(*wiped), -1) != 0 &&
        madvise(page, sizeof(*wiped), MADV_WIPEONFORK) == 0;
}

static uint32_t *make_word(void)
{
    void *page =
        mmap(NULL, sizeof(*wiped), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return &copied;
    if (is_wiped_by_fork(page))
        return (uint32_t *)page;
    munmap(page, sizeof(*wiped));
    return &copied;
}

/* The first caller makes it; threads that call at the same time agree on one. */
static uint32_t *the_word(void)
{
    uint32_t *word = __atomic_load_n(&wiped, __ATOMIC_ACQUIRE);
    if (word != NULL)
        return word;
    int saved_errno = errno;
    uint32_t *made = make_word();
    errno = saved_errno;
    if (__atomic_compare_exchange_n(&wiped, &word, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    if (made != &copied)
        munmap(made, sizeof(*made));
    return word;
}

static void forget_if_forked(void)
{
    int32_t me = (int32_t)getpid();
    if (__atomic_exchange_n(&copied_pid, me, __ATOMIC_RELAXED) != me)
        __atomic_store_n(&copied, 0, __ATOMIC_RELAXED);
}

/* Stores `last` before the word: a child that is forked in between takes the next number. */
static uint32_t begin(uint32_t *word)
{
    uint32_t number = 0;
    uint32_t next = __atomic_load_n(&last, __ATOMIC_RELAXED) % SPACE_NUMBERS + 1;
    __atomic_store_n(&last, next, __ATOMIC_RELEASE);
    if (__atomic_compare_exchange_n(word, &number, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return next;
    return number;
}

uint32_t space_number(void)
{
    uint32_t *word = the_word();
    if (word == &copied)
        forget_if_forked();
    uint32_t number = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    return number != 0 ? number : begin(word);
}
