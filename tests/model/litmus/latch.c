/* SPDX-License-Identifier: MIT */
/*
 * The latch with one word a copy, for GenMC (RC11, IMM): genmc latch.c
 * With -DWITHOUT_A, _B, _C, _D or -DSLACK something is missing, and GenMC must find it.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef PUBLICATIONS
#define PUBLICATIONS 3
#endif
#ifdef WITHOUT_A
#define ORDER_A memory_order_relaxed
#else
#define ORDER_A memory_order_acquire
#endif
#ifdef WITHOUT_D
#define ORDER_D memory_order_relaxed
#else
#define ORDER_D memory_order_release
#endif
#ifdef SLACK
#define ACCEPTED(first, last) ((last) - (first) <= 1)
#else
#define ACCEPTED(first, last) ((last) == (first))
#endif

static atomic_uint seq, word[2];

static void *publish(void *unused)
{
    for (int i = 0; i < PUBLICATIONS; i++) {
        unsigned s = atomic_load_explicit(&seq, memory_order_relaxed);
#ifndef WITHOUT_B
        atomic_thread_fence(memory_order_release);
#endif
        atomic_store_explicit(&word[(s + 1) & 1], s + 1, memory_order_relaxed);
        atomic_store_explicit(&seq, s + 1, ORDER_D);
    }
    return unused;
}

static void *look(void *unused)
{
    unsigned first = atomic_load_explicit(&seq, ORDER_A);
    unsigned seen = atomic_load_explicit(&word[first & 1], memory_order_relaxed);
#ifndef WITHOUT_C
    atomic_thread_fence(memory_order_acquire);
#endif
    unsigned last = atomic_load_explicit(&seq, memory_order_relaxed);
    if (ACCEPTED(first, last))
        assert(seen == first);
    return unused;
}

int main(void)
{
    pthread_t writer, reader;
    pthread_create(&writer, NULL, publish, NULL);
    pthread_create(&reader, NULL, look, NULL);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return 0;
}
