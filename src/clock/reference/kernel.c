/* SPDX-License-Identifier: MIT */
/*
 * The kernel's clocks as reference: CLOCK_MONOTONIC bracketed by the counter, CLOCK_REALTIME by its
 * exact distance from it, adjtimex for what the kernel knows of its own error and how it is slewed.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/timex.h>
#include <time.h>

#include "clock/counter/probe.h"
#include "clock/counter/readable.h"
#include "reference.h"
#include "slew.h"
#include <timebase/counter.h>
#include <timebase/error.h>

/* The narrowest of so many brackets is the sample. */
#define BRACKETS 5
/* Readings of the kernel's clock that show its step. */
#define REFERENCE_READS 24
/* Looks at the time asleep: an interruption of each of them is rare. */
#define SUSPEND_LOOKS 3
/* The coarsest kernel clock that is taken for a reference. */
#define STEP_MAX_NS 1000
/* Where ticks of the kernel are rare, few fall between two coarse reads. */
#define COARSE_ATTEMPTS 10
/*
 * The kernel renews maxerror once a second, by 500 µs: it may lag that much. It is asked more
 * often, in a microsecond, because its tick and pending phase say how fast it is slewed; not at
 * each of the first samples, which are a millisecond apart.
 */
#define ASK_INTERVAL_NS 50000000
#define KERNEL_STEP_NS 500000
#define KERNEL_GROWTH_PPB 500000
/* The kernel may have changed its clocksource since. */
#define JUDGE_INTERVAL_NS 1000000000
/*
 * The clocksource changes when the kernel's watchdog has found a fault. Longer than the daemon's
 * CLOCKSOURCE_LOOK_NS: it has looked before it samples, and has told the servo of a change.
 */
#define CLOCKSOURCE_AGE_MAX_NS 5000000000
/* What the kernel itself says of a clock nobody disciplines (NTP_PHASE_LIMIT). */
#define UNSYNCHRONIZED_NS 16000000000

/*
 * UTC - monotonic: both coarse clocks show the last kernel tick, so if none came between the reads,
 * their difference is the kernel's own constant. Nothing is averaged, and a step of a single
 * nanosecond is seen. Where ticks come faster than three reads (coarse clocks as fine as the
 * others, as in a sandbox, or calls that somebody traces) the constant lies between the two
 * differences.
 */
static int look_at_utc(struct reference_utc *seen)
{
    int64_t mono = counter_clock_ns(CLOCK_MONOTONIC_COARSE);
    int64_t utc = counter_clock_ns(CLOCK_REALTIME_COARSE);
    int64_t again = counter_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (mono == INT64_MIN || utc == INT64_MIN || again == INT64_MIN)
        return TIMEBASE_E_REFERENCE;
    seen->least_ns = utc - again;
    seen->most_ns = utc - mono;
    return TIMEBASE_OK;
}

int reference_utc(struct reference_utc *utc)
{
    int error = look_at_utc(utc);
    for (int i = 1; i < COARSE_ATTEMPTS && error == TIMEBASE_OK; i++) {
        struct reference_utc seen;
        if (utc->least_ns == utc->most_ns)
            return TIMEBASE_OK;
        error = look_at_utc(&seen);
        if (error == TIMEBASE_OK && seen.most_ns - seen.least_ns < utc->most_ns - utc->least_ns)
            *utc = seen;
    }
    return error;
}

int reference_utc_offset(int64_t *offset_ns)
{
    struct reference_utc utc;
    int error = reference_utc(&utc);
    *offset_ns = utc.least_ns;
    return error == TIMEBASE_OK && utc.least_ns != utc.most_ns ? TIMEBASE_E_REFERENCE : error;
}

/*
 * Each look shows a range that holds the constant. If the range of before and that of now have
 * nothing in common, somebody has stepped the clock. The told offset stays while it lies in both,
 * so that samples do not look like steps.
 */
static void follow_utc(struct reference_kernel *kernel, const struct reference_utc *seen)
{
    struct reference_utc *known = &kernel->utc;
    bool is_known =
        kernel->knows_utc && known->least_ns <= seen->most_ns && seen->least_ns <= known->most_ns;
    if (!is_known) {
        *known = *seen;
        kernel->told_utc_ns = seen->least_ns + (seen->most_ns - seen->least_ns) / 2;
    }
    if (seen->least_ns > known->least_ns)
        known->least_ns = seen->least_ns;
    if (seen->most_ns < known->most_ns)
        known->most_ns = seen->most_ns;
    kernel->knows_utc = true;
}

/* How far the offset that is told can be from the constant; 0 where that was seen. */
static uint64_t utc_error_ns(const struct reference_kernel *kernel)
{
    int64_t below_ns = kernel->told_utc_ns - kernel->utc.least_ns;
    int64_t above_ns = kernel->utc.most_ns - kernel->told_utc_ns;
    return (uint64_t)(below_ns > above_ns ? below_ns : above_ns);
}

/*
 * The step of the kernel's clock. Two readings are a call apart, so their distance says nothing of
 * the step. But the distances on a clock with steps are multiples of the step, so two unequal ones
 * differ by a step at least. A difference of 1 ns is rounding. Where all calls take the same time
 * the result is too large, by a call at most.
 */
static uint64_t measure_reference_step(void)
{
    int64_t distances[REFERENCE_READS];
    uint64_t step = UINT64_MAX;
    int64_t last = counter_clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < REFERENCE_READS; i++) {
        int64_t now = counter_clock_ns(CLOCK_MONOTONIC);
        distances[i] = now - last;
        last = now;
        for (int j = 0; j < i; j++) {
            int64_t apart = distances[i] - distances[j];
            uint64_t size = (uint64_t)(apart < 0 ? -apart : apart);
            if (size > 1 && size < step)
                step = size;
        }
    }
    return step == UINT64_MAX ? 1 : step;
}

/* Also corrects a step that was measured while reads were slow, as cold code is: none is longer
 * than a distance that was seen. */
static int read_brackets(struct discipline_sample *sample, uint64_t *step_ticks)
{
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < BRACKETS; i++) {
        uint64_t before = timebase_ticks_ordered();
        int64_t mono = counter_clock_ns(CLOCK_MONOTONIC);
        uint64_t after = timebase_ticks_ordered();
        if (mono == INT64_MIN)
            return TIMEBASE_E_REFERENCE;
        if (after != before && after - before < *step_ticks)
            *step_ticks = after - before;
        if (after - before < narrowest) {
            narrowest = after - before;
            sample->ticks_before = before;
            sample->ticks_after = after;
            sample->mono_ns = mono;
        }
    }
    return TIMEBASE_OK;
}

/*
 * Time asleep: two reads a moment apart. Whatever interrupts them makes it less, never more. So the
 * largest of a few looks is good to a microsecond. INT64_MIN: the kernel does not tell.
 */
static int64_t read_suspended(void)
{
    int64_t most_ns = INT64_MIN;
    for (int i = 0; i < SUSPEND_LOOKS; i++) {
        int64_t boot = counter_clock_ns(CLOCK_BOOTTIME);
        int64_t mono = counter_clock_ns(CLOCK_MONOTONIC);
        if (boot != INT64_MIN && mono != INT64_MIN && boot - mono > most_ns)
            most_ns = boot - mono;
    }
    return most_ns;
}

/*
 * It never falls. Where it seems to, all looks were interrupted; a rise after that is no sleep. In
 * a time namespace whose CLOCK_MONOTONIC is ahead it is below 0.
 */
static int64_t follow_suspended(struct reference_kernel *kernel)
{
    int64_t seen_ns = read_suspended();
    if (seen_ns == INT64_MIN)
        return kernel->suspended_ns;
    if (!kernel->knows_suspended || seen_ns > kernel->suspended_ns)
        kernel->suspended_ns = seen_ns;
    kernel->knows_suspended = 1;
    return kernel->suspended_ns;
}

void reference_restart(struct reference_kernel *kernel)
{
    kernel->knows_suspended = 0;
}

static uint32_t leap_flags(int state)
{
    if (state == TIME_INS)
        return TIMEBASE_LINE_LEAP_INSERT;
    return state == TIME_DEL ? TIMEBASE_LINE_LEAP_DELETE : 0;
}

/* How fast its pace may leave UTC's: as its maxerror grows, or faster where it is slewed so. */
static uint32_t growth_ppb(const struct reference_kernel *kernel)
{
    uint64_t told_ppb = kernel->slew_most_ppb;
    if (told_ppb <= KERNEL_GROWTH_PPB)
        return KERNEL_GROWTH_PPB;
    return told_ppb < UINT32_MAX ? (uint32_t)told_ppb : UINT32_MAX;
}

/*
 * maxerror is the kernel's claim (its unit is the microsecond, and it ages in steps of a second);
 * the phase that the kernel's own loop has still to correct is known to be wrong and comes on
 * top. An estimate (kernel_claim.c). Refused by a sandbox: nothing is known.
 */
void reference_ask_kernel(struct reference_kernel *kernel)
{
    struct timex timex = {0};
    int state = adjtimex(&timex);
    kernel->flags = TIMEBASE_LINE_ESTIMATE;
    kernel->is_synchronized = 0;
    kernel->maxerror_ns = UNSYNCHRONIZED_NS;
    kernel->slew_most_ppb = 0;
    if (state < 0)
        return;
    kernel->slew_most_ppb = slew_of(&timex, 0).most_ppb;
    int64_t offset_ns = slew_pending_ns(&timex);
    kernel->is_synchronized = !(timex.status & STA_UNSYNC) && state != TIME_ERROR;
    kernel->maxerror_ns = (int64_t)timex.maxerror * 1000 + KERNEL_STEP_NS + 1000 +
        (offset_ns < 0 ? -offset_ns : offset_ns);
    kernel->flags |= leap_flags(state) | (uint32_t)timex.tai << TIMEBASE_LINE_TAI_SHIFT;
    if (timex.tai != 0)
        kernel->flags |= TIMEBASE_LINE_TAI_VALID;
}

static void refresh_state(struct reference_kernel *kernel, const struct discipline_sample *sample)
{
    int64_t age_ns = sample->mono_ns - kernel->asked_ns;
    if (kernel->asked_ns != 0 && age_ns >= 0 && age_ns < ASK_INTERVAL_NS &&
        sample->utc_offset_ns == kernel->utc_offset_ns)
        return;
    reference_ask_kernel(kernel);
    kernel->asked_ns = sample->mono_ns;
    kernel->utc_offset_ns = sample->utc_offset_ns;
}

/*
 * A clock that moves in steps (the jiffies clocksource) is no reference: its steps are not in any
 * bracket. Readers then get the kernel's own time, which is as good as it is.
 */
static int is_fine(struct reference_kernel *kernel)
{
    struct timespec step;
    if (kernel->is_fine == 0)
        kernel->is_fine = clock_getres(CLOCK_MONOTONIC, &step) == 0 && step.tv_sec == 0 &&
                step.tv_nsec <= STEP_MAX_NS
            ? 1
            : -1;
    return kernel->is_fine > 0;
}

/* The kernel may have changed its clocksource, and with it what its clock can tell apart. */
static void judge_again(struct reference_kernel *kernel, int64_t mono_ns)
{
    int64_t age_ns = mono_ns - kernel->judged_ns;
    if (kernel->judged_ns != 0 && age_ns >= 0 && age_ns < JUDGE_INTERVAL_NS)
        return;
    kernel->is_fine = 0;
    kernel->reference_step_ns = 0;
    kernel->judged_ns = mono_ns;
}

/*
 * Its own watchdog compares the counter with other clocks all day; readers are not to trust what it
 * has thrown away.
 */
static uint32_t verdict_flag(const struct reference_kernel *kernel)
{
    const struct counter_clocksource *seen = &kernel->clocksource;
    return counter_judge_clocksource(timebase_counter_id(), seen->current, seen->available) ==
            COUNTER_OPINION_DISTRUSTS
        ? TIMEBASE_LINE_COUNTER_DISTRUSTED
        : 0;
}

static void measure(struct reference_kernel *kernel)
{
    if (kernel->step_ticks == 0 || kernel->counter_id != timebase_counter_id()) {
        kernel->counter_id = timebase_counter_id();
        kernel->step_ticks = counter_measure_step();
    }
    if (kernel->reference_step_ns == 0)
        kernel->reference_step_ns = measure_reference_step();
}

static int sample_clocks(struct reference_kernel *kernel, struct discipline_sample *sample)
{
    struct reference_utc seen;
    int64_t mono_ns = counter_clock_ns(CLOCK_MONOTONIC);
    judge_again(kernel, mono_ns);
    counter_look_at_clocksource(&kernel->clocksource, mono_ns, CLOCKSOURCE_AGE_MAX_NS);
    if (!is_fine(kernel) || reference_utc(&seen) != TIMEBASE_OK)
        return TIMEBASE_E_REFERENCE;
    measure(kernel);
    int error = read_brackets(sample, &kernel->step_ticks);
    if (error != TIMEBASE_OK)
        return error;
    follow_utc(kernel, &seen);
    sample->utc_offset_ns = kernel->told_utc_ns;
    sample->suspended_ns = follow_suspended(kernel);
    refresh_state(kernel, sample);
    return TIMEBASE_OK;
}

/* An inexact offset counts as a coarser step of the clock: readers' UTC is off by no more. */
static int sample_kernel(void *context, struct discipline_sample *sample)
{
    struct reference_kernel *kernel = (struct reference_kernel *)context;
    int saved_errno = errno;
    int error = sample_clocks(kernel, sample);
    sample->maxerror_ns = kernel->maxerror_ns;
    sample->maxerror_ppb = growth_ppb(kernel);
    sample->slew_limit_ppm = (uint32_t)((kernel->slew_most_ppb + 999) / 1000);
    sample->flags = kernel->flags | verdict_flag(kernel);
    sample->is_synchronized = kernel->is_synchronized;
    sample->step_ticks = kernel->step_ticks;
    sample->spread_ticks = 0; /* the daemon measures it */
    sample->reference_step_ns = kernel->reference_step_ns + utc_error_ns(kernel);
    errno = saved_errno;
    return error;
}

static int moment_kernel(void *context, struct reference_moment *moment)
{
    /* Not the context: its owner may be at work, or be the thread that this one interrupted. */
    struct reference_kernel kernel;
    struct reference_utc utc = {0, 0};
    (void)context;
    int saved_errno = errno;
    int error = reference_utc(&utc);
    reference_ask_kernel(&kernel);
    moment->maxerror_ns = kernel.maxerror_ns;
    moment->flags = kernel.flags;
    int64_t first = counter_clock_ns(CLOCK_MONOTONIC);
    int64_t last = counter_clock_ns(CLOCK_MONOTONIC);
    moment->mono_ns = first;
    moment->utc_offset_ns = utc.least_ns;
    int64_t suspended_ns = read_suspended();
    moment->suspended_ns = suspended_ns == INT64_MIN ? 0 : suspended_ns;
    moment->error_ns = (uint64_t)(last - first) + (uint64_t)(utc.most_ns - utc.least_ns) + 1;
    errno = saved_errno;
    return first == INT64_MIN || last == INT64_MIN ? TIMEBASE_E_REFERENCE : error;
}

static void close_kernel(void *context)
{
    (void)context;
}

const struct reference reference_kernel = {
    .name = "kernel",
    .sample = sample_kernel,
    .moment = moment_kernel,
    .close = close_kernel,
};
