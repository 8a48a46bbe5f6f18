/* SPDX-License-Identifier: MIT */
/*
 * Waits and delays of several builds of the library, in one process, in blocks that take turns, in
 * another order each time: each way meets the same machine, behind each other one. Prints "WAY
 * POSITION ERROR_NS" for each trial, POSITION within its block: the first of a block comes by code
 * that the others have driven out. Begun by bench/by_turns.py.
 *
 *     trials BLOCKS FROM_NS TO_NS STOPWATCH LIBRARY BETWEEN WAY...
 *
 * STOPWATCH is fine, by readings of that LIBRARY, which no way shares; or counter: one reading of the
 * counter, which is coarse, but hardly ever cold.
 * BETWEEN trials is nothing; lines: what a program does that writes a few lines of text about each;
 * memory: what one does that goes through 8 MiB; or pause: 20 ms; memory-series and pause-series: the
 * same before each block alone. All of them drive the code of waits out of caches.
 * WAY is KIND or KIND=libtimebase.so: exact, steady, plain, result, plain_result (waits that return),
 * call, plain_call (that call), never_early (returns), never_early_call, never_early_result, delay,
 * delay_steady, delay_plain, delay_after_empty (a plain one behind one of 0 ns); delay_loop_called=called_loop.so;
 * and without a library loop, delay_loop (the caller's own), nothing (the stopwatch alone).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <timebase/clock.h>
#include <timebase/wait.h>

#include "../../measure/phase.h"

#include "work.h"

enum { WAYS_MOST = 16, IN_BLOCK = 50, WARM_UP = 5 };

struct library {
    const timebase_clock *(*clock)(void);
    __typeof__(timebase_waiter_init) *init;
    __typeof__(timebase_wait_until_ticks) *until;
    __typeof__(timebase_wait_call_ticks) *call;
    __typeof__(timebase_delay_ns) *delay;
    __typeof__(timebase_delay_ns_from) *delay_from; /* null: its delays read the counter behind their call */
    __typeof__(timebase_wait_read_fine) *read_fine;
    __typeof__(timebase_waiter_describe) *describe;
    __typeof__(timebase_wait_take_fine) *take_fine; /* of the stopwatch alone, as the next one */
    __typeof__(timebase_wait_place_fine) *place_fine;
};

struct way;

/* One trial of so many ticks or nanoseconds; returns its error in ticks. */
typedef double trial(struct way *way, double ns);

struct way {
    trial *run;
    unsigned flags;
    struct library library;
    void (*called_loop)(uint64_t ticks);
    struct timebase_waiter waiter;
};

static struct library stopwatch;
static struct timebase_waiter stopwatch_waiter;
static double period_ns;
static double step_ticks; /* 0: by fine readings */

void fail(const char *why)
{
    fprintf(stderr, "by_turns: %s\n", why);
    exit(1);
}

/* A reading of the counter stands for a step that begins with it. */
static double read_counter_at(uint64_t base_ticks)
{
    return (double)(int64_t)(timebase_ticks_ordered() - base_ticks) + (step_ticks - 1) / 2;
}

static double read_at(uint64_t base_ticks)
{
    struct timebase_fine_reading reading;
    if (step_ticks != 0)
        return read_counter_at(base_ticks);
    stopwatch.read_fine(&stopwatch_waiter, base_ticks, &reading);
    return reading.ticks;
}

/* The beginning or the end of a lap. What it says is found when both have been taken. */
static uint64_t take(struct timebase_fine_readings *out)
{
    if (step_ticks != 0)
        return timebase_ticks_ordered();
    stopwatch.take_fine(&stopwatch_waiter, out);
    return out->ticks[0];
}

struct lap {
    uint64_t begin, end; /* by the counter */
    struct timebase_fine_readings before, after;
};

static double length_of(const struct lap *lap)
{
    struct timebase_fine_reading before, after;
    if (step_ticks != 0)
        return (double)(lap->end - lap->begin);
    stopwatch.place_fine(&stopwatch_waiter, &lap->before, lap->begin, &before);
    stopwatch.place_fine(&stopwatch_waiter, &lap->after, lap->begin, &after);
    return after.ticks - before.last_ticks;
}

/* ---- ways --------------------------------------------------------------------------------- */

static uint64_t ahead(double ns)
{
    return timebase_ticks_ordered() + (uint64_t)(ns / period_ns);
}

static double wait_by_library(struct way *way, double ns)
{
    uint64_t target = ahead(ns);
    way->library.until(&way->waiter, target, way->flags, NULL);
    return read_at(target);
}

static double wait_for_result(struct way *way, double ns)
{
    struct timebase_wait_result result;
    uint64_t target = ahead(ns);
    way->library.until(&way->waiter, target, way->flags, &result);
    return read_at(target);
}

struct event {
    uint64_t target;
    double error_ticks;
};

static void read_event(void *argument)
{
    struct event *event = (struct event *)argument;
    event->error_ticks = read_at(event->target);
}

static double wait_and_call(struct way *way, double ns)
{
    struct event event = {.target = ahead(ns)};
    way->library.call(&way->waiter, event.target, way->flags, read_event, &event, NULL);
    return event.error_ticks;
}

static double wait_by_loop(struct way *way, double ns)
{
    uint64_t target = ahead(ns);
    (void)way;
    while ((int64_t)(timebase_ticks() - target) < 0)
        ;
    return read_at(target);
}

/* What readings add is read just before: it changes as the core's neighbour comes and goes. */
static double time_of_reading(void)
{
    struct lap lap;
    lap.begin = take(&lap.before);
    lap.end = take(&lap.after);
    return length_of(&lap);
}

/* A delay of so many nanoseconds, which are so many ticks. */
typedef void delay_call(struct way *way, double ns, double ticks);

/* In line, as the caller's own loop is to be. */
static inline __attribute__((always_inline)) double time_delay(delay_call *delay, struct way *way,
                                                               double ns)
{
    double reading = time_of_reading(), ticks = ns / period_ns;
    bench_pass_phases();
    struct lap lap;
    lap.begin = take(&lap.before);
    delay(way, ns, ticks);
    lap.end = take(&lap.after);
    return length_of(&lap) - reading - ticks;
}

static inline void delay_in_library(struct way *way, double ns, double ticks)
{
    (void)ticks;
    way->library.delay(&way->waiter, (uint64_t)ns, way->flags, NULL);
}

/* As timebase_delay_ns() is compiled in line. */
static inline void delay_from_here(struct way *way, double ns, double ticks)
{
    (void)ticks;
    uint64_t begin_ticks = timebase_delay_begin();
    way->library.delay_from(&way->waiter, (uint64_t)ns, way->flags, NULL, begin_ticks);
}

static inline void loop_here(struct way *way, double ns, double ticks)
{
    (void)way, (void)ns;
    uint64_t start = timebase_ticks();
    while (timebase_ticks() - start < (uint64_t)ticks)
        ;
}

/* That loop in a library: called_loop.c. */
static inline void loop_in_library(struct way *way, double ns, double ticks)
{
    (void)ns;
    way->called_loop((uint64_t)ticks);
}

/* It takes whole nanoseconds. */
static double delay_by_library(struct way *way, double ns)
{
    double whole_ns = (double)(uint64_t)ns;
    return way->library.delay_from != NULL ? time_delay(delay_from_here, way, whole_ns)
                                           : time_delay(delay_in_library, way, whole_ns);
}

/* What the way into the library takes is taken by one of no length. */
static double delay_after_empty(struct way *way, double ns)
{
    way->library.delay(&way->waiter, 0, way->flags, NULL);
    return delay_by_library(way, ns);
}

static double delay_by_loop(struct way *way, double ns)
{
    return time_delay(loop_here, way, ns);
}

static double delay_by_called_loop(struct way *way, double ns)
{
    return time_delay(loop_in_library, way, ns);
}

static double nothing(struct way *way, double ns)
{
    (void)way, (void)ns;
    double reading = time_of_reading();
    return time_of_reading() - reading;
}

static const struct {
    const char *name;
    trial *run;
    unsigned flags;
} kinds[] = {
    {"exact", wait_by_library, 0},
    {"steady", wait_by_library, TIMEBASE_WAIT_STEADY},
    {"plain", wait_by_library, TIMEBASE_WAIT_PLAIN},
    {"result", wait_for_result, 0},
    {"plain_result", wait_for_result, TIMEBASE_WAIT_PLAIN},
    {"call", wait_and_call, 0},
    {"plain_call", wait_and_call, TIMEBASE_WAIT_PLAIN},
    {"never_early", wait_by_library, TIMEBASE_WAIT_NEVER_EARLY},
    {"never_early_call", wait_and_call, TIMEBASE_WAIT_NEVER_EARLY},
    {"never_early_result", wait_for_result, TIMEBASE_WAIT_NEVER_EARLY},
    {"delay", delay_by_library, 0},
    {"delay_steady", delay_by_library, TIMEBASE_WAIT_STEADY},
    {"delay_plain", delay_by_library, TIMEBASE_WAIT_PLAIN},
    {"delay_after_empty", delay_after_empty, TIMEBASE_WAIT_PLAIN},
    {"loop", wait_by_loop, 0},
    {"delay_loop", delay_by_loop, 0},
    {"delay_loop_called", delay_by_called_loop, 0},
    {"nothing", nothing, 0},
};

/* ---- setting up --------------------------------------------------------------------------- */

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL)
        fail(dlerror());
    return found;
}

/* Each library calls its own functions, not those of the one before. */
static void *load(const char *path)
{
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (file == NULL)
        fail(dlerror());
    return file;
}

static struct library opened(const char *path)
{
    struct library library;
    void *file = load(path);
    *(void **)&library.clock = symbol(file, "timebase_clock_default");
    *(void **)&library.init = symbol(file, "timebase_waiter_init");
    *(void **)&library.until = symbol(file, "timebase_wait_until_ticks");
    *(void **)&library.call = symbol(file, "timebase_wait_call_ticks");
    *(void **)&library.delay = symbol(file, "timebase_delay_ns");
    *(void **)&library.delay_from = dlsym(file, "timebase_delay_ns_from");
    *(void **)&library.read_fine = symbol(file, "timebase_wait_read_fine");
    *(void **)&library.describe = symbol(file, "timebase_waiter_describe");
    return library;
}

static struct library opened_as_stopwatch(const char *path)
{
    struct library library = opened(path);
    void *file = load(path);
    *(void **)&library.take_fine = symbol(file, "timebase_wait_take_fine");
    *(void **)&library.place_fine = symbol(file, "timebase_wait_place_fine");
    return library;
}

static void calibrate(const struct library *library, struct timebase_waiter *waiter)
{
    if (library->init(waiter, library->clock()) != 0)
        fail("no waiter could be made");
}

static void set_up(struct way *way, const char *name)
{
    const char *path = strchr(name, '=');
    size_t length = path != NULL ? (size_t)(path - name) : strlen(name);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strncmp(kinds[i].name, name, length) == 0 && kinds[i].name[length] == '\0') {
            way->run = kinds[i].run;
            way->flags = kinds[i].flags;
        }
    if (way->run == NULL) {
        fprintf(stderr, "by_turns: no way %s\n", name);
        exit(2);
    }
    if (path == NULL)
        return;
    if (way->run == delay_by_called_loop) {
        *(void **)&way->called_loop = symbol(load(path + 1), "called_loop");
        return;
    }
    way->library = opened(path + 1);
    calibrate(&way->library, &way->waiter);
}

/* It need not be a whole number of ticks. */
static double find_step(void)
{
    struct timebase_waiter_description description;
    stopwatch.describe(&stopwatch_waiter, &description);
    return description.quantum_ns / period_ns;
}

static void find_period(void)
{
    const timebase_clock *clock = stopwatch.clock();
    int64_t now_ns = timebase_mono_ns(clock);
    uint64_t start = timebase_ticks_at_mono(clock, now_ns);
    period_ns = 1e9 / (double)(timebase_ticks_at_mono(clock, now_ns + 1000000000) - start);
}

/* The last CPU that is ours, or the one before it. */
static void take_cpu(int from_last)
{
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof(cpus), &cpus);
    if (CPU_COUNT(&cpus) <= from_last)
        fail("there is no other CPU");
    int cpu = CPU_SETSIZE - 1;
    for (;; cpu--)
        if (CPU_ISSET(cpu, &cpus) && from_last-- == 0)
            break;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Alone on its CPU; where that is not allowed, as a program without rights. */
static void ask_for_quiet(void)
{
    struct sched_param realtime = {.sched_priority = 50};
    take_cpu(0);
    if (sched_setscheduler(0, SCHED_FIFO, &realtime) != 0 ||
        mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        fprintf(stderr, "by_turns: without real-time rights or locked memory\n");
}

/* ---- trials ------------------------------------------------------------------------------- */

double between(double least, double most)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (most - least) * (double)(state >> 33) / (double)(UINT64_C(1) << 31);
}

static void block(struct way *way, int number, double from_ns, double to_ns, int counts)
{
    double errors[IN_BLOCK];
    for (int i = 0; i < IN_BLOCK; i++) {
        if (i == 0 || !work_once)
            work();
        read_at(0); /* what follows is about waits, not about a cold stopwatch */
        errors[i] = way->run(way, between(from_ns, to_ns));
    }
    for (int i = 0; counts && i < IN_BLOCK; i++)
        printf("%d %d %.2f\n", number, i, errors[i] * period_ns);
}

/* What comes behind the loop's code is colder than what comes behind its like. */
static void shuffle(int *order, int count)
{
    for (int i = 0; i < count; i++) {
        int other = (int)between(0, i + 1);
        order[i] = other == i ? i : order[other];
        order[other] = i;
    }
}

int main(int argc, char **argv)
{
    static struct way ways[WAYS_MOST];
    enum { OTHERS = 7 };
    int count = argc - OTHERS, order[WAYS_MOST];
    if (argc == 2 && strcmp(argv[1], "walk") == 0) {
        take_cpu(1);
        walk_for_ever();
    }
    if (count < 1 || count > WAYS_MOST) {
        fprintf(stderr, "usage: trials BLOCKS FROM_NS TO_NS fine|counter LIBRARY WORK WAY...\n"
                        "       trials walk\n");
        return 2;
    }
    ask_for_quiet();
    stopwatch = opened_as_stopwatch(argv[5]);
    calibrate(&stopwatch, &stopwatch_waiter);
    find_period();
    for (int i = 0; i < count; i++)
        set_up(&ways[i], argv[i + OTHERS]);
    if (strcmp(argv[4], "counter") == 0)
        step_ticks = find_step();
    find_work(argv[6]);
    for (int turn = 0; turn < atoi(argv[1]) + WARM_UP; turn++) {
        shuffle(order, count);
        for (int i = 0; i < count; i++)
            block(&ways[order[i]], order[i], atof(argv[2]), atof(argv[3]), turn >= WARM_UP);
    }
    return 0;
}
