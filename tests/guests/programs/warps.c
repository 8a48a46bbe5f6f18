/* SPDX-License-Identifier: MIT */
/*
 * Does a clock go back from one CPU to another? Two threads on two CPUs take turns, handing the
 * last reading over under a lock; and one thread is moved from CPU to CPU.
 *
 *     warps counter|kernel|mono|attached|bounded [READINGS [corrected]]
 *
 * prints "counter: 123 of 400000 went back, by 5000000000 at most", and exits with 0 either way.
 * `corrected`: the counters are corrected by CPU (timebase_cpus_correct()), all along, by a third
 * thread; exits with 3 if that is refused, and says why.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <timebase.h>

#include "affinity.h"
#include "keeper.h"
#include "readers.h"

#define THREADS 2

static struct {
    pthread_mutex_t lock;
    reader *read;
    uint64_t last, readings, left, back, most;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void take(void)
{
    uint64_t now = all.read();
    if (now < all.last) {
        uint64_t by = all.last - now;
        all.back++;
        all.most = by > all.most ? by : all.most;
    }
    all.last = now;
    all.readings++;
    all.left--;
}

static void *take_turns(void *cpu)
{
    go_to((int)(intptr_t)cpu);
    for (int goes_on = 1; goes_on;) {
        pthread_mutex_lock(&all.lock);
        goes_on = all.left > 0;
        if (goes_on)
            take();
        pthread_mutex_unlock(&all.lock);
        timebase_arch_relax(); /* the other's turn */
    }
    return NULL;
}

/* ---- the readers --------------------------------------------------------------------------- */

static void wander(void)
{
    for (int i = 0; i < 2000; i++) {
        go_to(i % THREADS);
        take();
    }
}

int main(int count, char **arguments)
{
    const char *name = count > 1 ? arguments[1] : "";
    all.read = reader_named(name);
    if (all.read == NULL) {
        fprintf(stderr, "usage: warps " READERS " [READINGS [corrected]]\n");
        return 2;
    }
    all.left = count > 2 ? strtoull(arguments[2], NULL, 10) : 400000;
    int is_corrected = count > 3 && strcmp(arguments[3], "corrected") == 0;
    pthread_t threads[THREADS];
    if (is_corrected)
        keeper_begin();
    for (int cpu = 0; cpu < THREADS; cpu++)
        if (pthread_create(&threads[cpu], NULL, take_turns, (void *)(intptr_t)cpu) != 0)
            return 2;
    for (int cpu = 0; cpu < THREADS; cpu++)
        pthread_join(threads[cpu], NULL);
    all.left = UINT64_MAX;
    wander();
    if (is_corrected)
        keeper_end();
    printf("%s: %" PRIu64 " of %" PRIu64 " went back, by %" PRIu64 " at most\n", name, all.back,
           all.readings, all.most);
    return 0;
}
