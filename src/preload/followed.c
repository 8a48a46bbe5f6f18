/* SPDX-License-Identifier: MIT */
#include "followed.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include <timebase/counter.h>

#include "by_line.h"

#define CPUS_MAX BY_LINE_CPUS_MAX
/* Attempts at a narrow bracket. */
#define ATTEMPTS 3
/* The kernel's reading is dear if it takes so many times as long as one of a coarse clock: of either
 * the shortest of so many, lest a hold-up decides. */
#define DEAR 4
#define COMPARED 8
/* The first time that a counter lost time its CPU is read from the kernel for so long. */
#define BAN_NS UINT64_C(1000000000)
#define BAN_DOUBLINGS 20
#define NS_PER_SEC 1000000000

/* A clock that shows less than was told by more than `step_ns` was set, and has all told anew. */
struct clock {
    clockid_t id;
    uint64_t step_ns;
};

static const struct clock clocks[FOLLOWED_COUNT] = {
    [FOLLOWED_REALTIME] = {CLOCK_REALTIME, 100000},
    [FOLLOWED_MONOTONIC] = {CLOCK_MONOTONIC, 10000000},
    [FOLLOWED_RAW] = {CLOCK_MONOTONIC_RAW, 10000000},
    [FOLLOWED_BOOTTIME] = {CLOCK_BOOTTIME, 10000000},
    [FOLLOWED_TAI] = {CLOCK_TAI, 100000},
};

/* A CPU whose counter lost time. By CLOCK_MONOTONIC_COARSE. */
struct ban {
    uint64_t until_ns, times;
};

/* What an attempt knows. */
struct attempt {
    enum followed which;
    unsigned cpu; /* CPUS_MAX: the two readings of the counter are of two CPUs */
    uint64_t epoch;
    struct bracket bracket;
};

struct line by_line_lines[CPUS_MAX][FOLLOWED_COUNT];
struct told by_line_told[FOLLOWED_COUNT];
__thread bool by_line_is_likely;
static struct ban bans[CPUS_MAX];
static struct followed_counts counts;
static enum followed_mode mode;
static uint64_t coarse_ticks; /* what a reading of a coarse clock takes, with two of the counter */
static bool was_dear; /* the kernel's, when it was looked at last */
unsigned followed_drawn_sec;
__thread unsigned followed_cheap_calls;

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void set(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static void count(uint64_t *word)
{
    __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

/* ---- whether ------------------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

/* Does the processor promise that the counter goes on in idle, or is idle the hypervisor's affair? */
static bool is_steady(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1))
        return true;
    return __get_cpuid(1, &a, &b, &c, &d) && (c >> 31 & 1);
}

#else

static bool is_steady(void)
{
    return false;
}

#endif

/* Some emulators leave TSC_AUX at 0: then the counter does not tell its CPU. */
static bool tells_its_cpu(void)
{
    for (int i = 0; i < 100; i++) {
        unsigned before, after;
        by_cpu_here(&before);
        int cpu = sched_getcpu();
        by_cpu_here(&after);
        if (before == after)
            return cpu == (int)before;
    }
    return false;
}

/* Of many at once: a counter may have steps of more than one takes. */
static uint64_t cost_of_coarse(void)
{
    enum { AT_ONCE = 16 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < COMPARED; i++) {
        unsigned cpu;
        uint64_t begin = by_cpu_here(&cpu), end = begin;
        for (int n = 0; n < AT_ONCE; n++) {
            next_coarse_ns(CLOCK_MONOTONIC_COARSE);
            end = by_cpu_here(&cpu);
        }
        least = end - begin < least ? end - begin : least;
    }
    return least / AT_ONCE;
}

static bool is_word(const char *word, const char *which)
{
    return word != NULL && strcmp(word, which) == 0;
}

void followed_begin(const char *word)
{
    int saved_errno = errno;
    bool can = by_cpu_is_possible() && timebase_counter_id() == (int)TIMEBASE_ARCH_COUNTER &&
        tells_its_cpu();
    bool always = is_word(word, "always");
    followed_cheap_calls = 0; /* who has asked before knew nothing yet */
    by_line_is_likely = false;
    if (is_word(word, "kernel"))
        mode = FOLLOWED_OFF;
    else if (!can || (!is_steady() && !always))
        mode = FOLLOWED_NEVER;
    else
        mode = always ? FOLLOWED_ALWAYS : FOLLOWED_IF_DEAR;
    if (mode >= FOLLOWED_IF_DEAR)
        coarse_ticks = cost_of_coarse();
    errno = saved_errno;
}

enum followed_mode followed_mode(void)
{
    return mode;
}

void followed_counts(struct followed_counts *out)
{
    out->by_kernel = load(&counts.by_kernel);
    out->lost = load(&counts.lost);
    out->steps = load(&counts.steps);
}

/* ---- what is told -------------------------------------------------------------------------- */

/*
 * Did the clock go back by more than lines are ahead of it? `told_ns` was told before `ns` was read: a
 * thread that is held up between the two sees no step. If anybody has told more since, it may be this
 * thread that is late, and the next one will see. No line of before a step is one.
 */
static bool see_step(enum followed which, uint64_t told_ns, uint64_t ns)
{
    struct told *told = &by_line_told[which];
    if (told_ns <= ns || told_ns - ns <= clocks[which].step_ns)
        return false;
    if (!__atomic_compare_exchange_n(&told->highest_ns, &told_ns, ns, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return false;
    count(&told->epoch);
    count(&counts.steps);
    return true;
}

/* ---- whether lines may have told more than the kernel's clocks show -------------------------- */

static bool may_be_ahead(void)
{
    return __atomic_load_n(&followed_drawn_sec, __ATOMIC_RELAXED) != 0;
}

static unsigned drawn_sec(uint64_t now_ns)
{
    return (unsigned)(now_ns / NS_PER_SEC) + 1;
}

/* Never back: the line of a thread that was held up is over. */
static void note_drawn(uint64_t now_ns)
{
    unsigned now_sec = drawn_sec(now_ns);
    unsigned old_sec = __atomic_load_n(&followed_drawn_sec, __ATOMIC_RELAXED);
    while (old_sec < now_sec &&
           !__atomic_compare_exchange_n(&followed_drawn_sec, &old_sec, now_sec, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/*
 * Of a second ago, no line is used and none is ahead: by_line_is_plausible() refuses it,
 * though its counter stood still. Unless another was drawn meanwhile.
 */
static void forget_drawn(uint64_t now_ns)
{
    unsigned old_sec = __atomic_load_n(&followed_drawn_sec, __ATOMIC_RELAXED);
    if (old_sec != 0 && drawn_sec(now_ns) > old_sec + 1)
        __atomic_compare_exchange_n(&followed_drawn_sec, &old_sec, 0, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

/* ---- by the kernel, and a new line --------------------------------------------------------- */

/* False: the kernel refuses. */
static bool read_bracket(struct attempt *attempt)
{
    unsigned before, after;
    struct timespec now;
    attempt->bracket.before_ticks = by_cpu_here(&before);
    if (next.gettime(clocks[attempt->which].id, &now) != 0)
        return false;
    attempt->bracket.after_ticks = by_cpu_here(&after);
    attempt->bracket.ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    attempt->cpu = before == after && before < CPUS_MAX ? before : CPUS_MAX;
    return true;
}

static bool is_banned(unsigned cpu, uint64_t now_ns)
{
    return now_ns < load(&bans[cpu].until_ns);
}

/* The first time for a second, the next for two. */
static void ban(unsigned cpu, uint64_t now_ns, bool is_to_grow)
{
    uint64_t times = load(&bans[cpu].times);
    uint64_t doublings = times < BAN_DOUBLINGS ? times : BAN_DOUBLINGS;
    set(&bans[cpu].until_ns, now_ns + (BAN_NS << (is_to_grow ? doublings : 0)));
    set(&bans[cpu].times, times + is_to_grow);
    count(&counts.lost);
}

static bool is_wide(const struct bracket *bracket)
{
    return bracket->after_ticks - bracket->before_ticks >= DEAR * coarse_ticks;
}

/* The kernel was quick, or nobody has looked: not one of several may be quick now. */
static bool has_become_dear(enum followed which)
{
    struct attempt attempt = {.which = which};
    for (int i = 1; i < COMPARED; i++)
        if (read_bracket(&attempt) && !is_wide(&attempt.bracket))
            return false;
    return true;
}

/*
 * Is there something to be gained? Else the next calls do not ask. By this bracket: the kernel may have
 * changed its clocksource. It was quick, and is not: by some more, or a hold-up would do that.
 */
static bool is_dear(const struct attempt *attempt)
{
    bool dear = mode == FOLLOWED_ALWAYS || is_wide(&attempt->bracket);
    if (dear && mode != FOLLOWED_ALWAYS && !__atomic_load_n(&was_dear, __ATOMIC_RELAXED))
        dear = has_become_dear(attempt->which);
    __atomic_store_n(&was_dear, dear, __ATOMIC_RELAXED);
    by_line_is_likely = dear;
    if (!dear) {
        followed_cheap_calls = FOLLOWED_CHEAP_CALLS;
        forget_drawn(next_coarse_ns(CLOCK_MONOTONIC_COARSE));
    }
    return dear;
}

/* The clock has gained on the counter. More than has passed: then the clock was set forward. */
static bool was_set(const struct attempt *attempt, uint64_t gained_ns, uint64_t now_ns)
{
    struct line_read present;
    return line_load(&by_line_lines[attempt->cpu][attempt->which], &present) &&
        gained_ns > now_ns - present.coarse_ns + BY_LINE_AGE_MAX_NS;
}

static void draw(const struct attempt *attempt, struct line_past *past)
{
    struct line_read line;
    unsigned cpu = attempt->cpu;
    uint64_t now_ns = next_coarse_ns(CLOCK_MONOTONIC_COARSE);
    uint64_t gained_ns = attempt->bracket.ns - past->last_ns;
    if (line_go_on(past, &attempt->bracket) == LINE_LOST)
        ban(cpu, now_ns, !was_set(attempt, gained_ns, now_ns));
    if (is_banned(cpu, now_ns) || !line_make(past, &line))
        return;
    line.epoch = attempt->epoch;
    line.coarse_ns = now_ns;
    note_drawn(now_ns); /* first: who sees the line is to see this */
    line_store(&by_line_lines[cpu][attempt->which], &line);
}

/* True if it came to something: a narrow bracket, or the knowledge that none is needed. */
static bool renew(const struct attempt *attempt)
{
    struct line_past past;
    struct line *line;
    if (attempt->cpu == CPUS_MAX)
        return false;
    line = &by_line_lines[attempt->cpu][attempt->which];
    if (!line_load_past(line, &past))
        past = (struct line_past){0};
    bool is_narrow = line_is_narrow(&past, &attempt->bracket);
    bool dear = is_dear(attempt);
    if (is_narrow && dear)
        draw(attempt, &past);
    line_store_past(line, &past);
    return is_narrow || !dear;
}

/* Without a look at what this says of the counter. */
static bool ask_plainly(enum followed which, uint64_t *ns)
{
    uint64_t told_ns = load(&by_line_told[which].highest_ns);
    *ns = next_ns(clocks[which].id);
    if (*ns == 0 || !may_be_ahead())
        return *ns != 0;
    see_step(which, told_ns, *ns);
    *ns = by_line_tell(which, *ns);
    return true;
}

static bool ask_kernel(enum followed which, uint64_t *ns)
{
    struct attempt attempt = {.which = which};
    unsigned cpu;
    count(&counts.by_kernel);
    by_cpu_here(&cpu);
    if (cpu >= CPUS_MAX || is_banned(cpu, next_coarse_ns(CLOCK_MONOTONIC_COARSE)))
        return ask_plainly(which, ns);
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t told_ns = load(&by_line_told[which].highest_ns);
        attempt.epoch = load(&by_line_told[which].epoch);
        if (!read_bracket(&attempt))
            return false;
        attempt.epoch += see_step(which, told_ns, attempt.bracket.ns);
        if (renew(&attempt))
            break;
    }
    *ns = by_line_tell(which, attempt.bracket.ns);
    return true;
}

/* Nothing is gained. Beside lines of before, what was told still counts. */
static bool pass(enum followed which, uint64_t *ns)
{
    return may_be_ahead() && ask_plainly(which, ns);
}

/* Apart, so that the way by a line saves no registers for it. */
static __attribute__((noinline)) bool read_without_line(enum followed which, uint64_t *ns)
{
    int saved_errno = errno;
    bool is_done = followed_take_cheap_call() ? pass(which, ns) : ask_kernel(which, ns);
    errno = saved_errno;
    return is_done;
}

bool followed_read(enum followed which, uint64_t *ns)
{
    if (mode < FOLLOWED_IF_DEAR) {
        followed_cheap_calls = FOLLOWED_CHEAP_CALLS;
        return false;
    }
    return by_line_read(which, ns) || read_without_line(which, ns);
}
