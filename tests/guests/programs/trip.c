/* SPDX-License-Identifier: MIT */
#include "trip.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <timebase.h>

#include "affinity.h"

/* The counter is read once for a batch: it adds nothing to a trip. Looks before the CPU is given to
 * who else wants it, which may be the other player. */
enum { BATCHES = 250, TRIPS = 8, LOOKS = 10000 };

static struct {
    uint32_t number;   /* odd: it is on its way there; even: it has come back */
    uint64_t quickest; /* here's alone, and no part of the trip: after the last one */
} ball __attribute__((aligned(128)));

static void wait_for(uint32_t number)
{
    for (unsigned looks = 1; __atomic_load_n(&ball.number, __ATOMIC_ACQUIRE) != number; looks++)
        if (looks % LOOKS == 0)
            sched_yield();
}

static void *play_there(void *cpu)
{
    go_to((int)(intptr_t)cpu);
    for (uint32_t number = 1; number <= 2 * BATCHES * TRIPS; number += 2) {
        wait_for(number);
        __atomic_store_n(&ball.number, number + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void *play_here(void *cpu)
{
    uint32_t number = 0;
    uint64_t quickest = UINT64_MAX;
    go_to((int)(intptr_t)cpu);
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t begin = timebase_ticks_ordered();
        for (int trip = 0; trip < TRIPS; trip++) {
            __atomic_store_n(&ball.number, ++number, __ATOMIC_RELEASE);
            wait_for(++number);
        }
        uint64_t ticks = (timebase_ticks_ordered() - begin) / TRIPS;
        quickest = ticks < quickest ? ticks : quickest;
    }
    ball.quickest = quickest;
    return NULL;
}

uint64_t trip_ticks(int here, int there)
{
    pthread_t one, other;
    ball.number = 0;
    if (pthread_create(&one, NULL, play_there, (void *)(intptr_t)there) != 0 ||
        pthread_create(&other, NULL, play_here, (void *)(intptr_t)here) != 0)
        exit(2);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return ball.quickest;
}
