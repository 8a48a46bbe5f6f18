/* SPDX-License-Identifier: MIT */
/*
 * The threads of a pair outlive the call if their CPU is never given to them; so what they work on
 * is static, one measurement at a time, and the last to leave frees it for the next.
 */
#define _GNU_SOURCE
#include "skew.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "clock/counter/readable.h"

enum { CPUS_MAX = 1024, ROUNDS = 200, LOOKS_PER_CLOCK = 64 };
enum { STACK_SIZE = 128 * 1024, PAUSE_NS = 50000 };
/* Of the 50 ms; the rest is for the threads of the last pair to notice the end. */
#define TOTAL_NS 40000000
#define NOTICE_NS 8000000

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

static struct court {
    struct lane here, there;
    unsigned users; /* the caller and its threads; 0: free */
    unsigned ended; /* threads of the pair at hand that are through */
    int64_t deadline_ns;
    struct spread_range range[2]; /* what each side has seen: only its own half is narrowed */
} court;

static struct spread_range ranges[CPUS_MAX];
static int cpu_numbers[CPUS_MAX];

static bool is_late(void)
{
    int64_t now_ns = counter_clock_ns(CLOCK_MONOTONIC);
    return now_ns == INT64_MIN || now_ns > court.deadline_ns;
}

/* The counter is read after the lane before was seen (ordered), and before this one is (release).
 */
static void throw(struct lane * lane, uint32_t turn, uint64_t ticks)
{
    lane->ticks = ticks;
    __atomic_store_n(&lane->turn, turn, __ATOMIC_RELEASE);
}

/* False when time is up. */
static bool catch (const struct lane *lane, uint32_t turn, uint64_t *sent, uint64_t *received)
{
    for (unsigned looks = 1; __atomic_load_n(&lane->turn, __ATOMIC_ACQUIRE) != turn; looks++)
        if (looks % LOOKS_PER_CLOCK == 0 && is_late())
            return false;
    *received = timebase_ticks_ordered();
    *sent = lane->ticks;
    return true;
}

static void leave(void)
{
    __atomic_fetch_add(&court.ended, 1, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&court.users, 1, __ATOMIC_ACQ_REL);
}

static void *play_here(void *unused)
{
    uint64_t sent, received;
    for (uint32_t turn = 1; turn <= ROUNDS; turn++) {
        throw(&court.here, turn, timebase_ticks_ordered());
        if (!catch (&court.there, turn, &sent, &received))
            break;
        spread_here(&court.range[0], sent, received);
    }
    leave();
    return unused;
}

static void *play_there(void *unused)
{
    uint64_t sent, received;
    for (uint32_t turn = 1; turn <= ROUNDS; turn++) {
        if (!catch (&court.here, turn, &sent, &received))
            break;
        spread_there(&court.range[1], sent, received);
        throw(&court.there, turn, timebase_ticks_ordered());
    }
    leave();
    return unused;
}

static bool start(void *(*play)(void *), int cpu)
{
    pthread_attr_t attributes;
    pthread_t thread;
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    bool is_started = false;
    if (set != NULL && pthread_attr_init(&attributes) == 0) {
        CPU_ZERO_S(CPU_ALLOC_SIZE(CPUS_MAX), set);
        CPU_SET_S(cpu, CPU_ALLOC_SIZE(CPUS_MAX), set);
        __atomic_fetch_add(&court.users, 1, __ATOMIC_RELAXED);
        is_started = pthread_attr_setaffinity_np(&attributes, CPU_ALLOC_SIZE(CPUS_MAX), set) == 0 &&
            pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0 &&
            pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
            pthread_create(&thread, &attributes, play, NULL) == 0;
        if (!is_started)
            __atomic_fetch_sub(&court.users, 1, __ATOMIC_RELAXED);
        pthread_attr_destroy(&attributes);
    }
    if (set != NULL)
        CPU_FREE(set);
    return is_started;
}

/* Until both are through, or late: then nothing more may be asked of the court. */
static bool wait_for(unsigned ended)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    while (__atomic_load_n(&court.ended, __ATOMIC_ACQUIRE) < ended) {
        /* They see the end by themselves, if they run at all. */
        if (counter_clock_ns(CLOCK_MONOTONIC) > court.deadline_ns + NOTICE_NS)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* False: a thread is still on its way, and the measurement is over. */
static bool measure_pair(int first, int second, int64_t deadline_ns, struct spread_range *range)
{
    court.here.turn = 0;
    court.there.turn = 0;
    court.ended = 0;
    court.range[0] = SPREAD_UNKNOWN;
    court.range[1] = SPREAD_UNKNOWN;
    court.deadline_ns = deadline_ns;
    unsigned started = start(play_there, second);
    if (started == 1)
        started += start(play_here, first);
    if (!wait_for(started))
        return false;
    range->low_ticks = court.range[0].low_ticks;
    range->high_ticks = court.range[1].high_ticks;
    return true;
}

/* The CPUs that this process may use: how many, 0 if the kernel does not tell. */
static unsigned list_cpus(void)
{
    unsigned count = 0;
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    if (set != NULL && sched_getaffinity(0, size, set) == 0)
        for (int cpu = 0; cpu < CPUS_MAX; cpu++)
            if (CPU_ISSET_S(cpu, size, set))
                cpu_numbers[count++] = cpu;
    if (set != NULL)
        CPU_FREE(set);
    return count;
}

static void judge(struct spread *spread, const struct spread_range *range)
{
    if (range->low_ticks > range->high_ticks)
        spread->is_inconsistent = true;
    else if (range->low_ticks > 0 || range->high_ticks < 0)
        spread->excludes_zero = true;
}

static bool is_known(const struct spread_range *range)
{
    return range->low_ticks != INT64_MIN && range->high_ticks != INT64_MAX;
}

int spread_measure(struct spread *spread)
{
    unsigned none = 0, known = 0;
    *spread = (struct spread){.cpus = 0};
    if (!__atomic_compare_exchange_n(&court.users, &none, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return TIMEBASE_E_BUSY;
    int64_t end_ns = counter_clock_ns(CLOCK_MONOTONIC) + TOTAL_NS;
    spread->cpus = list_cpus();
    for (unsigned i = 1; i < spread->cpus; i++) {
        /* Each pair has its share of what is left, so that a slow one starves no other. */
        struct spread_range range;
        int64_t now_ns = counter_clock_ns(CLOCK_MONOTONIC);
        int64_t share_ns = (end_ns - now_ns) / (int64_t)(spread->cpus - i);
        if (now_ns > end_ns ||
            !measure_pair(cpu_numbers[0], cpu_numbers[i], now_ns + share_ns, &range))
            break;
        if (is_known(&range))
            ranges[known++] = range;
        judge(spread, &range);
    }
    spread->measured_cpus = known > 0 ? known + 1 : 0;
    spread->is_measured = known > 0 && known + 1 == spread->cpus && !spread->is_inconsistent;
    spread->spread_ticks = known > 0 ? spread_of(ranges, known + 1) : 0;
    __atomic_fetch_sub(&court.users, 1, __ATOMIC_RELEASE);
    return spread->cpus > 0 ? TIMEBASE_OK : TIMEBASE_E_UNSUPPORTED;
}
