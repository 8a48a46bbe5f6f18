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

enum { COURTS = 4, LOOKS_PER_CLOCK = 64, POLITE_TURN = 4, POLITE_LOOKS = 8 };
enum { STACK_SIZE = 128 * 1024, PAUSE_NS = 50000 };
/* For the threads of a late pair to see the end by themselves. */
#define NOTICE_NS 2000000

/*
 * Each in a cache line of its own: what is thrown, and nothing else. The turn is raised when ticks
 * is new: release and acquire, for the reading behind it. The other side's answer comes before the
 * next throw; so ticks is nobody else's meanwhile, and no atomic, which has 32 bits at most on
 * some processors.
 */
struct lane {
    uint32_t turn;
    uint64_t ticks;
} __attribute__((aligned(128)));

struct court {
    struct lane here, there;
    unsigned users; /* the caller and its threads; 0: free */
    unsigned ended; /* threads of the pair at hand that are through */
    uint32_t rounds;
    int64_t limit_ns;
    unsigned is_over; /* nobody waits for the pair any more */
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

/* For the CPU that reads it alone: the kernel may take its time from the counters that differ. */
static int64_t deadline_of(const struct court *court)
{
    return counter_clock_ns(CLOCK_MONOTONIC) + court->limit_ns;
}

static bool is_late(const struct court *court, int64_t deadline_ns)
{
    int64_t now_ns = counter_clock_ns(CLOCK_MONOTONIC);
    return now_ns == INT64_MIN || now_ns > deadline_ns ||
        __atomic_load_n(&court->is_over, __ATOMIC_RELAXED);
}

/* The counter is read after the lane before was seen (ordered), and before this one is (release).
 */
static void throw(struct lane * lane, uint32_t turn, uint64_t ticks)
{
    lane->ticks = ticks;
    __atomic_store_n(&lane->turn, turn, __ATOMIC_RELEASE);
}

/* False when time is up. */
static bool catch (const struct court *court, int64_t deadline_ns, const struct lane *lane,
                   uint32_t turn, uint64_t *sent, uint64_t *received)
{
    /*
     * Some turns let the other go on after a few looks: where both share a core, or the thread of
     * an emulator, these are the quickest; everywhere else the others are.
     */
    unsigned patience = turn % POLITE_TURN == 0 ? POLITE_LOOKS : LOOKS_PER_CLOCK;
    for (unsigned looks = 1; __atomic_load_n(&lane->turn, __ATOMIC_ACQUIRE) != turn; looks++) {
        if (looks % LOOKS_PER_CLOCK == 0 && is_late(court, deadline_ns))
            return false;
        if (looks % patience == 0)
            timebase_arch_relax();
    }
    *received = raw_ticks();
    *sent = lane->ticks;
    return true;
}

static void leave(struct court *court)
{
    __atomic_fetch_add(&court->ended, 1, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&court->users, 1, __ATOMIC_ACQ_REL);
}

static void *play_here(void *context)
{
    struct court *court = context;
    int64_t deadline_ns = deadline_of(court);
    uint64_t sent, received;
    court->began_ticks = raw_ticks();
    for (uint32_t turn = 1; turn <= court->rounds; turn++) {
        throw(&court->here, turn, raw_ticks());
        if (!catch (court, deadline_ns, &court->there, turn, &sent, &received))
            break;
        skew_here(&court->range[0], sent, received);
    }
    leave(court);
    return NULL;
}

static void *play_there(void *context)
{
    struct court *court = context;
    int64_t deadline_ns = deadline_of(court);
    uint64_t sent, received;
    for (uint32_t turn = 1; turn <= court->rounds; turn++) {
        if (!catch (court, deadline_ns, &court->here, turn, &sent, &received))
            break;
        skew_there(&court->range[1], sent, received);
        throw(&court->there, turn, raw_ticks());
    }
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
    int64_t deadline_ns = deadline_of(court) + NOTICE_NS;
    while (__atomic_load_n(&court->ended, __ATOMIC_ACQUIRE) < ended) {
        /* They see the end by themselves, if they run at all. */
        if (is_late(court, deadline_ns)) {
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

enum court_result court_play(int here, int there, uint32_t rounds, int64_t limit_ns,
                             struct court_score *score)
{
    struct court *court = take_court();
    *score = (struct court_score){.range = SKEW_UNKNOWN};
    if (court == NULL)
        return COURT_FULL;
    court->rounds = rounds;
    enum court_result result = play(court, here, there, limit_ns, score);
    __atomic_fetch_sub(&court->users, 1, __ATOMIC_RELEASE);
    return result;
}
