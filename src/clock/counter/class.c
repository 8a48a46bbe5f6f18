/* SPDX-License-Identifier: MIT */
/*
 * The class of the counter, as "TSC resynchronization" (Chromium OS, 2011) divides them:
 *
 *     constant    P- and T-states do not change its rate; it may stop in deep C-states
 *     invariant   the processor promises one rate in all P-, C- and T-states
 *     non-stop    both, and the kernel agrees
 *     none        it follows the processor's pace
 *
 * On x86 the promise is CPUID 0x80000007 EDX bit 8, and the kernel speaks through the flags
 * constant_tsc and nonstop_tsc of /proc/cpuinfo. Elsewhere the promise is the architecture's
 * (processor.c), and the kernel agrees by using the counter as its clocksource.
 */
#include <string.h>

#include "probe.h"

/*
 * The kernel derives nonstop_tsc from the very bit that CPUID shows. If one has it and the other
 * not, the file is of another processor: an emulator shows us that of the machine it runs on.
 */
static int is_of_another_processor(int promised, int kernel_non_stop)
{
    return promised == 0 && kernel_non_stop == 1;
}

static int32_t class_of(int promised, int constant, int kernel_constant, int kernel_non_stop)
{
    if (promised == 1)
        return kernel_constant == 1 && kernel_non_stop == 1 ? TIMEBASE_CLASS_NON_STOP
                                                            : TIMEBASE_CLASS_INVARIANT;
    if (constant < 0)
        return TIMEBASE_CLASS_UNKNOWN;
    return constant ? TIMEBASE_CLASS_CONSTANT : TIMEBASE_CLASS_NONE;
}

void counter_decide_class(struct timebase_counter *counter, int promised, int kernel_constant,
                          int kernel_non_stop)
{
    if (is_of_another_processor(promised, kernel_non_stop))
        kernel_constant = kernel_non_stop = -1;
    if (promised < 0)
        promised = kernel_non_stop; /* the same bit, at second hand */
    int of_promise = promised == 1 ? 1 : -1;
    counter->constant = kernel_constant >= 0 ? kernel_constant : of_promise;
    counter->non_stop = kernel_non_stop >= 0 ? kernel_non_stop : of_promise;
    counter->counter_class =
        class_of(promised, counter->constant, kernel_constant, kernel_non_stop);
}

void counter_read_flags(const char *path, int *constant, int *non_stop)
{
    struct counter_stream stream;
    char word[24];

    *constant = *non_stop = -1;
    if (counter_stream_open(&stream, path) != 0)
        return;
    if (counter_stream_find(&stream, "flags")) {
        *constant = *non_stop = 0;
        while (counter_stream_word(&stream, word, sizeof(word)) > 0) {
            *constant |= strcmp(word, "constant_tsc") == 0;
            *non_stop |= strcmp(word, "nonstop_tsc") == 0;
        }
    }
    counter_stream_close(&stream);
}

#if defined(__x86_64__) || defined(__i386__)

static void ask_flags(struct timebase_counter *counter, enum counter_opinion opinion, int *constant,
                      int *non_stop)
{
    (void)opinion;
    counter_read_flags("/proc/cpuinfo", constant, non_stop);
    if (*constant < 0)
        counter->reasons |= TIMEBASE_REASON_KERNEL_SILENT;
}

#else

/* A kernel that uses another clocksource may have its reasons elsewhere: that is no denial. */
static void ask_flags(struct timebase_counter *counter, enum counter_opinion opinion, int *constant,
                      int *non_stop)
{
    (void)counter;
    *constant = *non_stop = opinion == COUNTER_OPINION_TRUSTS ? 1 : -1;
}

#endif

void counter_find_class(struct timebase_counter *counter, const struct counter_processor *processor,
                        enum counter_opinion opinion)
{
    int constant, non_stop;

    if (counter->id == TIMEBASE_COUNTER_OS) {
        /* By definition: a clock that changed pace or stopped in idle would not be
         * CLOCK_MONOTONIC_RAW. */
        counter_decide_class(counter, 1, 1, 1);
        return;
    }
    ask_flags(counter, opinion, &constant, &non_stop);
    counter_decide_class(counter, processor->invariant, constant, non_stop);
}
