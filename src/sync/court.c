/* SPDX-License-Identifier: MIT */
/*
 * The threads of a pair outlive the call if their CPU is never given to them; so what they work on
 * is static. There are a few courts: one on which somebody is still expected is left alone.
 */
#define _GNU_SOURCE
#include "court.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <timebase/counter.h>

#include "clock/counter/by_cpu.h"
#include "clock/counter/readable.h"
#include "lane.h"

enum { COURTS = 4 };
enum { STACK_SIZE = 128 * 1024, PAUSE_NS = 50000 };
/* For the threads of a late pair to see the end by themselves. */
#define NOTICE_NS 2000000

struct court {
    struct lane here, there;
    unsigned users; /* the caller and its threads; 0: free */
    unsigned ended; /* threads of the pair at hand that are through */
    uint32_t rounds;
    int64_t limit_ns;
    bool is_corrected;          /* the readings are those of the process */
    unsigned is_over;           /* nobody waits for the pair any more */
    uint64_t began_ticks;       /* here */
    struct skew_range range[2]; /* what each side has seen: only its own half is narrowed */
};

static struct court courts[COURTS];

/* Of the CPU itself, whether or not the rest of the process reads it corrected. */
static uint64_t raw_ticks(void)
{
    unsigned cpu;
    return counter_correction() != NULL ? by_cpu_read(&cpu) : timebase_ticks_ordered();
}

/* Who plays, or waits for the players. */
struct side {
    const struct court *court;
    int64_t deadline_ns;
};

/* For the CPU that reads it alone: the kernel may take its time from the counters that differ. */
static struct side side_of(const struct court *court)
{
    return (struct side){court, counter_clock_ns(CLOCK_MONOTONIC) + court->limit_ns};
}

static bool is_late(const void *game)
{
    const struct side *side = game;
    int64_t now_ns = counter_clock_ns(CLOCK_MONOTONIC);
    return now_ns == INT64_MIN || now_ns > side->deadline_ns ||
        __atomic_load_n(&side->court->is_over, __ATOMIC_RELAXED);
}

static void relax(void)
{
    timebase_arch_relax();
}

static const struct lane_player raw_player = {raw_ticks, relax, is_late};
static const struct lane_player corrected_player = {timebase_ticks_ordered, relax, is_late};

static void leave(struct court *court)
{
    __atomic_fetch_add(&court->ended, 1, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&court->users, 1, __ATOMIC_ACQ_REL);
}

/* Each with its player by name: so no throw calls its readings by a pointer. */
static void *play_here(void *context)
{
    struct court *court = context;
    const struct side side = side_of(court);
    court->began_ticks = raw_ticks();
    if (court->is_corrected)
        lane_play_here(&corrected_player, &side, &court->here, &court->there, court->rounds,
                       &court->range[0]);
    else
        lane_play_here(&raw_player, &side, &court->here, &court->there, court->rounds,
                       &court->range[0]);
    leave(court);
    return NULL;
}

static void *play_there(void *context)
{
    struct court *court = context;
    const struct side side = side_of(court);
    if (court->is_corrected)
        lane_play_there(&corrected_player, &side, &court->here, &court->there, court->rounds,
                        &court->range[1]);
    else
        lane_play_there(&raw_player, &side, &court->here, &court->there, court->rounds,
                        &court->range[1]);
    leave(court);
    return NULL;
}

static int start_on(pthread_attr_t *attributes, cpu_set_t *set, size_t size, struct court *court,
                    void *(*play)(void *))
{
    pthread_t thread;
    int error = pthread_attr_setaffinity_np(attributes, size, set);
    if (error == 0)
        error = pthread_attr_setstacksize(attributes, STACK_SIZE);
    if (error == 0)
        error = pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
    return error != 0 ? error : pthread_create(&thread, attributes, play, court);
}

static bool start(struct court *court, void *(*play)(void *), int cpu)
{
    pthread_attr_t attributes;
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    bool is_started = false;
    if (set != NULL && pthread_attr_init(&attributes) == 0) {
        CPU_ZERO_S(size, set);
        CPU_SET_S(cpu, size, set);
        __atomic_fetch_add(&court->users, 1, __ATOMIC_RELAXED);
        is_started = start_on(&attributes, set, size, court, play) == 0;
        if (!is_started)
            __atomic_fetch_sub(&court->users, 1, __ATOMIC_RELAXED);
        pthread_attr_destroy(&attributes);
    }
    if (set != NULL)
        CPU_FREE(set);
    return is_started;
}

/* Until both are through, or late: then nothing more may be asked of the court. */
static bool wait_for(struct court *court, unsigned ended)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct side waiting = side_of(court);
    waiting.deadline_ns += NOTICE_NS;
    while (__atomic_load_n(&court->ended, __ATOMIC_ACQUIRE) < ended) {
        /* They see the end by themselves, if they run at all. */
        if (is_late(&waiting)) {
            __atomic_store_n(&court->is_over, 1, __ATOMIC_RELAXED);
            return false;
        }
        nanosleep(&pause, NULL);
    }
    return true;
}

static struct court *take_court(void)
{
    for (unsigned i = 0; i < COURTS; i++) {
        unsigned none = 0;
        if (__atomic_compare_exchange_n(&courts[i].users, &none, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return &courts[i];
    }
    return NULL;
}

static enum court_result play(struct court *court, int here, int there, int64_t limit_ns,
                              struct court_score *score)
{
    court->here.turn = 0;
    court->there.turn = 0;
    court->ended = 0;
    court->began_ticks = 0;
    court->range[0] = SKEW_UNKNOWN;
    court->range[1] = SKEW_UNKNOWN;
    court->limit_ns = limit_ns;
    court->is_over = 0;
    if (!start(court, play_there, there))
        return COURT_REFUSED;
    unsigned started = 1 + start(court, play_here, here);
    if (wait_for(court, started) && started == 2) {
        score->range.low_ticks = court->range[0].low_ticks;
        score->range.high_ticks = court->range[1].high_ticks;
        score->ticks = court->began_ticks;
    }
    return COURT_PLAYED;
}

static enum court_result play_on_any(int here, int there, uint32_t rounds, int64_t limit_ns,
                                     bool is_corrected, struct court_score *score)
{
    struct court *court = take_court();
    *score = (struct court_score){.range = SKEW_UNKNOWN};
    if (court == NULL)
        return COURT_FULL;
    court->rounds = rounds;
    court->is_corrected = is_corrected;
    enum court_result result = play(court, here, there, limit_ns, score);
    __atomic_fetch_sub(&court->users, 1, __ATOMIC_RELEASE);
    return result;
}

enum court_result court_play(int here, int there, uint32_t rounds, int64_t limit_ns,
                             struct court_score *score)
{
    return play_on_any(here, there, rounds, limit_ns, false, score);
}

enum court_result court_compare(int here, int there, uint32_t rounds, int64_t limit_ns,
                                struct court_score *score)
{
    return play_on_any(here, there, rounds, limit_ns, true, score);
}
