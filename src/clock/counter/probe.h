/* SPDX-License-Identifier: MIT */
/*
 * probe: the parts of timebase_counter_probe().
 *
 *     processor   what the processor says of itself (x86: CPUID)
 *     kernel      what the kernel thinks of the counter         file: how its files are read
 *     class       constant, invariant, non-stop, none
 *     granularity, cost                                         measured
 *     frequency   measured; frequency_sources: claimed, and judged by the measurement
 *     quality     a number, with reasons in words
 *
 * Decisions are pure functions of numbers and strings; other functions ask the machine.
 */
#ifndef COUNTER_PROBE_H
#define COUNTER_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include <timebase/counter.h>

/* ---- file: bounded reads without stdio or allocation ------------------------------------- */

/* Look for /sys and /proc below this folder; "" for the machine's own. Not copied. For tests. */
void counter_set_root(const char *root);

/* root + path in full[size]; 0, or -1 if it does not fit. */
int counter_full_path(const char *path, char *full, size_t size);

/* Up to size bytes of a file: how many, or -1 if it cannot be opened or read. */
long counter_read_bytes(const char *path, void *bytes, size_t size);

/*
 * The first line of a file, without the blanks at its end, into text[size]; a longer one is cut.
 * Empty, and -1, if the file is absent or empty, or the line is not printable ASCII.
 */
int counter_read_line(const char *path, char *text, size_t size);

/* A file of "key : value" lines, such as /proc/cpuinfo, read piece by piece. */
struct counter_stream {
    int fd;
    size_t at, end; /* of bytes */
    size_t left;    /* how much more may be read: a bound for endless files */
    unsigned char bytes[512];
};

int counter_stream_open(struct counter_stream *stream, const char *path);
void counter_stream_close(struct counter_stream *stream);

/* Go to the value of the first line with this key: 1, or 0 at the end of the file. */
int counter_stream_find(struct counter_stream *stream, const char *key);

/* The next word of this line, cut to size - 1 characters: its length, 0 at the line's end. */
size_t counter_stream_word(struct counter_stream *stream, char *word, size_t size);

/* ---- processor --------------------------------------------------------------------------- */

/* 1 yes, 0 no, -1 the processor does not say; frequencies are 0 where it does not say. */
struct counter_processor {
    int invariant; /* promises one rate in P-, C- and T-states */
    int hypervisor;
    char hypervisor_name[16];
    uint64_t crystal_hz;    /* of the counter, from CPUID leaf 0x15 */
    uint64_t base_hz;       /* of the processor, from leaf 0x16: a whole number of MHz */
    uint64_t hypervisor_hz; /* of the counter, from leaf 0x40000010: a whole number of kHz */
};

void counter_ask_processor(struct counter_processor *processor);

/* Leaf 0x15: the counter runs at crystal_hz * numerator / denominator; 0 if one is missing. */
uint64_t counter_crystal_frequency(uint32_t denominator, uint32_t numerator, uint32_t crystal_hz);

/* ---- kernel ------------------------------------------------------------------------------ */

enum counter_opinion {
    COUNTER_OPINION_NONE,      /* not known, or not about this counter */
    COUNTER_OPINION_TRUSTS,    /* it is the kernel's own clock */
    COUNTER_OPINION_NEUTRAL,   /* a paravirtual clock on the same counter is */
    COUNTER_OPINION_DISTRUSTS, /* the kernel uses another, slower one instead */
};

/* What the kernel showed of its clocksources when it was last looked at. */
struct counter_clocksource {
    char current[32];    /* "tsc"; empty: never seen */
    char available[128]; /* all that it offers */
    int64_t looked_ns;   /* monotonic; 0 never */
};

/*
 * Looks again if the last look is older than that: two small files, some microseconds. The kernel
 * tells nobody of a change. A file that cannot be read leaves what was seen of it.
 */
void counter_look_at_clocksource(struct counter_clocksource *seen, int64_t mono_ns,
                                 int64_t max_age_ns);

/* From the names of the clocksource in use and of those available. */
enum counter_opinion counter_judge_clocksource(int id, const char *current, const char *available);

/* Fills kernel_clocksource, kernel_available and the reasons that follow from them. */
enum counter_opinion counter_ask_kernel(struct timebase_counter *counter);

/* ---- class ------------------------------------------------------------------------------- */

/* Each 1, 0 or -1 for unknown: the processor's promise, the kernel's word. Sets class and words. */
void counter_decide_class(struct timebase_counter *counter, int promised, int kernel_constant,
                          int kernel_non_stop);

void counter_find_class(struct timebase_counter *counter, const struct counter_processor *processor,
                        enum counter_opinion opinion);

/* The flags constant_tsc and nonstop_tsc of a cpuinfo file, 1 or 0; both -1 if it has no flags. */
void counter_read_flags(const char *path, int *constant, int *non_stop);

/* ---- frequency --------------------------------------------------------------------------- */

/* The frequency lies within hz +/- error_hz, as the OS clock counts seconds. */
struct counter_measurement {
    uint64_t hz;       /* never 0 */
    uint64_t error_hz; /* UINT64_MAX: could not be measured */
};

/*
 * From what was counted between two readings of the clock. Each difference is wrong by no more
 * than its error.
 */
struct counter_measurement counter_rate(uint64_t ticks, uint64_t ticks_error, uint64_t ns,
                                        uint64_t ns_error);

/* Takes 4 ms. The counter steps by no more than step_ticks. */
struct counter_measurement counter_measure_frequency(uint64_t step_ticks);

/* The most by which a counter with this granularity and smallest step can step. */
uint64_t counter_largest_step(const struct timebase_counter *counter);

/* The frequency that a source states, and half a unit of the last digit that it states. */
struct counter_claim {
    int32_t source; /* enum timebase_frequency_source */
    uint64_t hz;    /* 0: says nothing */
    uint64_t rounding_hz;
};

enum counter_verdict {
    COUNTER_CLAIM_ABSENT,
    COUNTER_CLAIM_LIES,  /* contradicts the OS clock */
    COUNTER_CLAIM_ROUGH, /* agrees, but the measurement says more */
    COUNTER_CLAIM_BELIEVED,
};

enum counter_verdict counter_judge_claim(const struct counter_claim *claim,
                                         const struct counter_measurement *measured);

/* Sets frequency and claim of *counter: the first claim that is believed, or the measurement. */
void counter_settle_frequency(struct timebase_counter *counter, const struct counter_claim *claims,
                              size_t count, const struct counter_measurement *measured);

enum { COUNTER_CLAIMS_MAX = 4 };

/* All the claims there are on this machine, the best first: how many. */
size_t counter_collect_claims(const struct counter_processor *processor,
                              struct counter_claim claims[COUNTER_CLAIMS_MAX]);

/* The `timebase` line of a cpuinfo file, in Hz, and a device tree's property; 0 if absent. */
uint64_t counter_cpuinfo_frequency(const char *path);
uint64_t counter_device_tree_frequency(const char *cpus_folder);

/* ---- granularity and cost ---------------------------------------------------------------- */

enum { COUNTER_GROUP_STEPS = 16, COUNTER_GROUPS = 32 };

/* The steps between reads. Divisors are taken of groups of steps: see granularity.c. */
struct counter_steps {
    uint64_t divisors[COUNTER_GROUPS]; /* of the groups that are full */
    unsigned groups;
    uint64_t divisor;   /* of the group at hand; 0 before its first step */
    uint64_t smallest;  /* of all steps forward; 0 before the first */
    uint64_t count;     /* of steps forward */
    uint64_t backwards; /* of steps back */
};

/* Add the steps between count successive reads. */
void counter_add_steps(struct counter_steps *steps, const uint64_t *reads, size_t count);

/* What nearly all steps are multiples of; 1 if there were none. */
uint64_t counter_common_step(const struct counter_steps *steps);

/*
 * How far the counter steps, by successive reads that are unevenly spaced; ticks, which need not be
 * whole ones. 0 if it does not step evenly, or by fewer than 12.
 */
double counter_even_step(const uint64_t *reads, size_t count);

/* Returns the step itself, which granularity_ticks is rounded up from. */
double counter_find_granularity(struct timebase_counter *counter);

/*
 * What the counter shows may be so many ticks old: the usual difference of two reads in a row, at
 * least 1, found in less than 5,000 of them. Where a read takes longer than a step, this is the
 * time of a read, which does no harm: step.c says why it is not the common step.
 */
uint64_t counter_measure_step(void);
void counter_find_cost(struct timebase_counter *counter);

/* Ticks of so many reads as picoseconds a read, at most UINT32_MAX. */
uint32_t counter_cost_ps(uint64_t ticks, uint64_t reads, uint64_t frequency_hz);

/* ---- quality ----------------------------------------------------------------------------- */

/* Adds the reasons that follow from the other fields; sets the quality that follows from all. */
void counter_judge_quality(struct timebase_counter *counter);

#endif
