/* SPDX-License-Identifier: MIT */
/*
 * wait: begin at a tick.
 *
 *     static struct timebase_waiter waiter;                    // 8 KiB, one per thread
 *     timebase_waiter_init(&waiter, timebase_clock_default()); // learns the machine, 7 to 20 ms
 *
 *     uint64_t target = timebase_ticks() + 5000;
 *     struct timebase_wait_result result;
 *     timebase_wait_until_ticks(&waiter, target, TIMEBASE_WAIT_PREPARE, &result);
 *     ...                                                      // begins at the target
 *     printf("%+.1f ns%s\n", result.error_ns, result.disturbance ? " (disturbed)" : "");
 *
 *     timebase_wait_call_mono(&waiter, next_ns, TIMEBASE_WAIT_SLEEP, send_packet, packet, &result);
 *     timebase_delay_ns(&waiter, 200, 0, NULL);
 *
 * How. The plain loop, which reads the counter until the target has passed, is late by anything up
 * to its own period, some 10 ns. The report "Temporal accuracy and modern high performance
 * processors: a case study using Pentium Pro" (1997) found a table of delays, indexed by the
 * target, that reduces this to 2 cycles for one alignment of the code. Here
 *
 *   1. from 8 us before the target the wait rehearses the steps below, again and again, to learn
 *      how long a cycle of the core is just now;
 *   2. then it polls, 40 ns from one poll to the next. If the counter moves in steps (10 ns on AMD's
 *      Zen), what the polls say is intersected, as with a vernier;
 *   3. after the last poll for which there is time, a run of dependent instructions fills the rest,
 *      as so many cycles. A chain of other instructions before it takes longer than the branch
 *      that enters the run, so the event comes at the same time whether the processor predicts this
 *      branch rightly or wrongly.
 *
 * If polls contradict each other, of this wait or of those shortly before, something else uses the
 * core, another busy thread for example; a run would rely on the core for too long. Then the loop
 * ends the wait, or does all of it; so it does if rehearsals show that it does better. Mechanism and
 * disturbance of the result say so. With TIMEBASE_WAIT_STEADY the tail of the errors counts in this
 * choice as well.
 * timebase_waiter_describe() names the mechanism, since not every processor and process allows the
 * best one.
 *
 * On processors other than x86-64 the last poll alone counts, so the counter's tick is the limit:
 * half a tick either way. Where a tick is longer than some 30 ns, as on Arm at 24 MHz or
 * RISC-V at 10 MHz, the instructions cannot fill it: all waits are plain there, good to a tick. So
 * they are where to read the counter takes longer than some 80 ns: emulated, or by the hypervisor.
 *
 * The event is the return of timebase_wait_until_*(), or the first instruction of the function
 * given to timebase_wait_call_*(). error_ticks is event - target: negative is early. About half of
 * all exact waits end a fraction of a nanosecond early; none with TIMEBASE_WAIT_NEVER_EARLY does.
 *
 * "At the target" means: timebase_ticks_ordered(), as the event's first act, reads it. What the
 * event writes is seen from about then on. As behind any loop the processor may begin with loads,
 * and with readings that wait for nothing, 5 to 30 ns sooner: where that matters, let a fence come
 * first.
 *
 * A waiter belongs to one thread and, as cores run at different clocks, to the CPU on which it was
 * calibrated: pin the thread first. If the thread has moved to another CPU, the waiter calibrates
 * itself again before the next wait that leaves the time for it. It must not be copied or moved in
 * memory. Nothing needs to be freed. After fork the child's copy is as good as the parent's. Do not
 * wait in signal handlers; a signal that arrives during a wait only delays it.
 *
 * A wait changes no setting of the machine. Sleeping waits need SCHED_FIFO, locked memory, a CPU of
 * their own and an idle state that wakes up quickly: realtime.h asks the kernel for them.
 */
#ifndef TIMEBASE_WAIT_H
#define TIMEBASE_WAIT_H

#include <stdint.h>

#include <timebase/attributes.h>
#include <timebase/clock.h>
#include <timebase/counter.h>
#include <timebase/error.h>

TIMEBASE_EXTERN_BEGIN

/* Opaque. */
struct timebase_waiter {
    uint64_t storage[1024];
};

/* How a wait is done: the flags of each wait, 0 for an exact wait without preparation. */
enum timebase_wait_flag {
    TIMEBASE_WAIT_PLAIN = 1,       /* the polling loop alone, its mean lateness compensated; where the
                                    * counter steps far, what lies between its edges as well */
    TIMEBASE_WAIT_NEVER_EARLY = 2, /* the polling loop until the counter reads the target or more:
                                    * event_ticks, its last poll, is never less. As late as the
                                    * caller's own loop: by a poll, and the way from it to the event */
    TIMEBASE_WAIT_SLEEP = 4,       /* sleep until a learnt margin before the target */
    TIMEBASE_WAIT_PREPARE = 8,     /* the result says whether there was time for a rehearsal of the
                                    * wait, some 3 us. Every wait that has the time rehearses */
    TIMEBASE_WAIT_REHEARSE = 16,   /* PREPARE, and call the event's function once beforehand with
                                    * timebase_wait_rehearsing() true */
    TIMEBASE_WAIT_SAVE_POWER = 32, /* poll in the processor's own light sleep where it has one
                                    * (umwait, WFET, priority hints), until the last microseconds */
    TIMEBASE_WAIT_STEADY = 64, /* the shorter tail (p99) rather than the smaller error in most
                                * waits, while the core is shared */
};

/* What carries a wait over its last nanoseconds. */
enum timebase_wait_mechanism {
    TIMEBASE_MECHANISM_NONE = 0, /* the target had passed */
    TIMEBASE_MECHANISM_LOOP = 1, /* the polling loop, bias compensated */
    TIMEBASE_MECHANISM_JUMP = 2,   /* polls, indirect jump into a run of instructions */
    TIMEBASE_MECHANISM_RETURN = 3, /* the same by an overwritten return address: never predicted */
    TIMEBASE_MECHANISM_RUN = 4,    /* short delays: a run, which the counter checks */
};

/* Why a wait may have missed: evidence gathered beside the time of the event itself. */
enum timebase_wait_disturbance {
    TIMEBASE_DISTURBED_INTERRUPT = 1, /* the kernel ran on this CPU during the last approach */
    TIMEBASE_DISTURBED_PREEMPTED = 2, /* another thread ran on it, or a signal handler */
    TIMEBASE_DISTURBED_MIGRATED = 4,  /* the wait ended on another CPU than it began */
    TIMEBASE_DISTURBED_GAP = 8, /* polling stood still without any of these: hypervisor, SMI */
    TIMEBASE_DISTURBED_THROTTLED = 16, /* a real-time thread stood still as long as the kernel's
                                        * throttling of real-time threads lasts */
    TIMEBASE_DISTURBED_UNEVEN = 32,    /* the last poll contradicts those before it */
    TIMEBASE_DISTURBED_SHARED = 64,    /* the loop waited or ended the wait, as polls contradicted
                                        * each other or it did better in rehearsals: another thread,
                                        * perhaps of another virtual machine, shares the core */
};

/* What happened. All of it is about this wait alone. */
struct timebase_wait_result {
    uint64_t target_ticks; /* the target as a tick, by the clock's last line before the wait */
    uint64_t event_ticks;  /* the counter's last reading before the event, which comes 20 to 100 ns
                            * later; error_ticks allows for this */
    int64_t error_ticks; /* event - target, > 0: late. The reading's middle on a stepped counter */
    double error_ns;     /* the same in ns */
    double error_bound_ns; /* +/-, of the reading: half a step of the counter */
    int64_t wake_ns;       /* sleeping waits: wake-up after the time asked for; 0 if none slept */
    int64_t margin_ns;     /* sleeping waits: the margin used */
    int32_t mechanism;     /* enum timebase_wait_mechanism */
    int32_t late;          /* 1: the last approach began too late */
    uint32_t disturbance;  /* enum timebase_wait_disturbance, 0: no evidence of any */
    uint32_t prepared;     /* 1: there was time to prepare */
};

/* What the waiter has learnt of its machine. Times in ns; "spread" is 95th - 5th percentile. */
struct timebase_waiter_description {
    int32_t mechanism;      /* enum timebase_wait_mechanism of exact waits */
    int32_t readings;       /* the last polls that count together; 1: the last one alone */
    int32_t power_hint;     /* 1: TIMEBASE_WAIT_SAVE_POWER has an effect here */
    int32_t cpu;            /* calibrated on this CPU, -1 unknown */
    uint32_t evidence;      /* enum timebase_wait_disturbance: what could be noticed here */
    int32_t calibrations;   /* how often */
    double calibration_ns;  /* how long the last one took */
    double instruction_ns;  /* one cycle of the core: the finest step of a wait */
    double quantum_ns;      /* step of the counter */
    double sample_ns;       /* what readings leave unknown of their instant, at most */
    double exact_spread_ns; /* of the exact waits of the calibration */
    double plain_spread_ns; /* of the plain ones */
    double plain_bias_ns;   /* how late plain waits are, mean; they are started so much earlier */
    double least_ns;        /* the shortest exact wait; shorter ones are plain. 0 where none is exact */
    double margin_ns;       /* what sleeping waits now allow for waking up */
    uint64_t waits, late, disturbed; /* since init */
};

/*
 * Learn the machine: core clock, counter, loop. Takes some 7 ms if nothing holds it up, 20 ms by a
 * counter with far steps; there it waits up to 0.15 s for another user of the core, such as
 * another guest, to go: what is learnt beside one makes exact waits some ns early. The clock
 * converts times to ticks and must outlive the waiter. Returns 0 or TIMEBASE_E_INVALID if a pointer
 * is null.
 */
TIMEBASE_API int timebase_waiter_init(struct timebase_waiter *waiter, const timebase_clock *clock);

/* Learn again, e.g. after pinning the thread elsewhere; statistics and margin are kept. */
TIMEBASE_API int timebase_waiter_calibrate(struct timebase_waiter *waiter);

/*
 * How sleeping waits choose their margin. quantile is the quantile of wake-up latencies that the
 * margin should cover, (0, 1), default 0.995. cpu_share is the share of a period, or of the wait if
 * that is longer, that such waits may keep the CPU busy, the kernel's part included, (0, 1], default
 * 0.05. Latencies are clipped: one outlier moves the margin one step. The share is a strict cap: at
 * periods of a millisecond or less it cuts the margin, and waits are late. Raise the share there,
 * and do not sleep at all for periods of some 15 us. Returns 0 or TIMEBASE_E_INVALID.
 */
TIMEBASE_API int timebase_waiter_set_margin(struct timebase_waiter *waiter, double quantile,
                                            double cpu_share);

TIMEBASE_API int timebase_waiter_describe(const struct timebase_waiter *waiter,
                                          struct timebase_waiter_description *out);

/*
 * Wait until an instant. result may be null. If it is not, it is filled in after the event and
 * before the return, so the time of the return is less certain. Returns
 *   0                      in time; where the target was too near for a run, the polling loop
 *                          did the rest: result->mechanism says so
 *   1                      late: the target had passed when its time for polling came; the event
 *                          took place at once (calls are made all the same)
 *   TIMEBASE_E_INVALID     a null or uninitialised waiter, unknown flags, or a target more than
 *                          about 100 years or half of the counter's range ahead, or the tick
 *                          UINT64_MAX, which stands for "never"; no wait, no call.
 *                          Or the function, in a rehearsal or as the event, used the waiter itself:
 *                          result is not written
 *   TIMEBASE_E_UNSUPPORTED UTC or monotonic time is not known
 * A UTC target follows steps and slews of the clock until the last moment before it.
 */
TIMEBASE_API int timebase_wait_until_ticks(struct timebase_waiter *waiter, uint64_t target_ticks,
                                           unsigned flags, struct timebase_wait_result *result);
TIMEBASE_API int timebase_wait_until_mono(struct timebase_waiter *waiter, int64_t mono_ns,
                                          unsigned flags, struct timebase_wait_result *result);
TIMEBASE_API int timebase_wait_until_utc(struct timebase_waiter *waiter, int64_t utc_ns,
                                         unsigned flags, struct timebase_wait_result *result);

/*
 * The same, but the event is the first instruction of function(argument). If the function waits, it
 * needs another waiter. From this one it may take fine readings, and where exact waits are possible
 * delays of less than 1.6 us without a result and with no flag but PREPARE, STEADY or PLAIN. It is to
 * return: left by longjmp() or an exception, it makes later delays wider.
 */
TIMEBASE_API int timebase_wait_call_ticks(struct timebase_waiter *waiter, uint64_t target_ticks,
                                          unsigned flags, void (*function)(void *), void *argument,
                                          struct timebase_wait_result *result);
TIMEBASE_API int timebase_wait_call_mono(struct timebase_waiter *waiter, int64_t mono_ns,
                                         unsigned flags, void (*function)(void *), void *argument,
                                         struct timebase_wait_result *result);
TIMEBASE_API int timebase_wait_call_utc(struct timebase_waiter *waiter, int64_t utc_ns,
                                        unsigned flags, void (*function)(void *), void *argument,
                                        struct timebase_wait_result *result);

/* The counter, when all that was begun before has been done; what stands behind it may begin sooner. */
TIMEBASE_PART uint64_t timebase_delay_begin(void)
{
#ifdef __x86_64__
    __asm__ __volatile__("lfence" ::: "memory");
    if (timebase_counter_is_readable())
        return timebase_arch_ticks();
#endif
    return timebase_ticks_ordered();
}

/*
 * timebase_delay_ns() without its reading, for languages that cannot inline C but read the counter:
 * begin_ticks is to be read right before the call, as the delay counts from it.
 */
TIMEBASE_API int timebase_delay_ns_from(struct timebase_waiter *waiter, uint64_t delay_ns,
                                        unsigned flags, struct timebase_wait_result *result,
                                        uint64_t begin_ticks);

/*
 * Wait for delay_ns, from the call to the return (the paper's mdelay); at most as long as a wait.
 * It counts from a reading of the counter, inlined and ordered after all that was done before: how
 * long the way into the library takes, 10 to 30 ns longer where it is not predicted, is no part of
 * it. Below the cost of the call (some 40 ns) it returns at once.
 *
 * By a counter with fine steps one of less than 1.6 us is so many instructions, from another reading
 * on, behind all that has to be done first; from some 170 ns on the first part of them says how fast the
 * core is now. One in 64 reads the counter at its end, first one in 16, and the others follow it. Those
 * above 0.8 us are exact waits, if there is time for that, and no pause before it. By a counter with
 * far ones it is counted from the reading at its call, from some 80 ns on: each reads the counter at its
 * end, and the next ones follow that. What is shorter is a run of instructions that nothing checks. Where
 * counting looks worse, as something else uses the core, the loop has the next ones. With 20 us since
 * the last delay those of less than 3 us load their code first; where that was too far away lately, the
 * loop has them, and by a counter with far steps all above 1.6 us.
 *
 * The loop has all below 1.6 us with TIMEBASE_WAIT_STEADY, from 150 ns on, or TIMEBASE_WAIT_PLAIN.
 * With a result the error is known to a step of the counter: the event, which is the return, is told
 * so long after the last reading as it usually is. Such a delay is a run, takes at least some 80
 * ns, more on slow cores; a plain one is a wait, and takes about a microsecond. Returns as above.
 */
TIMEBASE_INLINE int timebase_delay_ns(struct timebase_waiter *waiter, uint64_t delay_ns,
                                      unsigned flags, struct timebase_wait_result *result)
{
    uint64_t begin_ticks = timebase_delay_begin();
    return timebase_delay_ns_from(waiter, delay_ns, flags, result, begin_ticks);
}

/*
 * True while TIMEBASE_WAIT_REHEARSE calls the function beforehand: it should touch its code and
 * data, and have no effect.
 */
TIMEBASE_API int timebase_wait_rehearsing(void);

/* Names for people: "return into a run of instructions", "interrupt". Constant text, never NULL. */
TIMEBASE_API const char *timebase_wait_mechanism_name(int mechanism);
TIMEBASE_API const char *timebase_wait_disturbance_name(int disturbance_bit);

/*
 * Read the counter more finely than its step: several readings are intersected. For measuring
 * events on counters that step by 10 ns. Takes about 1 us there; the instant meant is that of the
 * call, relative to base_ticks, which must be less than 2^31 ticks away. Returns 0, 1 if
 * the readings were not evenly spaced (the bound is then a whole step), or TIMEBASE_E_INVALID. A busy
 * neighbour of the core changes how far apart they are. The waiter learns that from those that stay
 * contradictory, the 4th in a row, the 8th, the 16th: so some 30 readings later it is known. Where
 * the counter steps finely it is a single reading, and a neighbour makes it late by up to 8 ns: the
 * waiter takes that off, and looks again how much it is every 2 us, when readings are placed, for 50
 * ns. Like a waiter, for one thread.
 */
struct timebase_fine_reading {
    double ticks;       /* since base_ticks */
    double bound_ticks; /* +/- */
    double last_ticks;  /* when the last of its readings was: laps begin here */
};
TIMEBASE_API int timebase_wait_read_fine(const struct timebase_waiter *waiter, uint64_t base_ticks,
                                         struct timebase_fine_reading *out);

/*
 * The halves of it, for laps: to take one is to read the counter and nothing else, 750 ns; what it
 * says is found when it is placed, at any later time. What lies between two that were taken is
 * second.ticks - first.last_ticks, less the same of two with nothing between. To find it takes 250 ns,
 * and 350 beside a busy neighbour: between the two this would be a part of the lap. Both return what
 * timebase_wait_read_fine() does.
 */
struct timebase_fine_readings {
    uint32_t ticks[32]; /* the counter's lower half; where one reading is enough, of it the first */
};
TIMEBASE_API int timebase_wait_take_fine(const struct timebase_waiter *waiter,
                                         struct timebase_fine_readings *out);
TIMEBASE_API int timebase_wait_place_fine(const struct timebase_waiter *waiter,
                                          const struct timebase_fine_readings *readings,
                                          uint64_t base_ticks, struct timebase_fine_reading *out);

TIMEBASE_EXTERN_END

#endif
