/* SPDX-License-Identifier: MIT */
/*
 * The sources that claim to know the frequency, and which of them is believed.
 *
 * A processor or a kernel states the frequency to all its digits, which no measurement of 4 ms
 * does; but sources are absent, say 0, or lie. QEMU's user emulation counts the host's ticks on
 * Power while the C library says 0; firmware leaves CNTFRQ at its reset value; a virtual machine
 * that moved shows the crystal of the processor that it came from. So the OS clock judges them all.
 */
#define _FILE_OFFSET_BITS 64 /* 32-bit readdir() fails on folders with large inode numbers */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

#if defined(__powerpc__) && defined(__GLIBC__) && __has_include(<sys/platform/ppc.h>)
#include <sys/platform/ppc.h>
#define HAVE_C_LIBRARY_FREQUENCY 1
#endif

/*
 * The OS clock has its own idea of a second. If the kernel knows the counter's frequency from the
 * same source as we, the two agree to 1 kHz. If it calibrated the counter against another timer at
 * boot, they differ by the tolerance of two crystals, for which boards allow 50 to 100 ppm each.
 * Lies are larger: the wrong crystal of two common ones (24 and 25 MHz) 40,000 ppm, a base
 * frequency cut to 100 MHz up to 38,000, the DPDK's truncated ratio (its bug 1869) 300,000.
 */
enum { TOLERANCE_PPM = 200 };

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

enum counter_verdict counter_judge_claim(const struct counter_claim *claim,
                                         const struct counter_measurement *measured)
{
    uint64_t tolerance = measured->hz / (1000000 / TOLERANCE_PPM);
    uint64_t allowed = add_saturated(measured->error_hz, tolerance);
    uint64_t apart = distance(claim->hz, measured->hz);
    if (claim->hz == 0)
        return COUNTER_CLAIM_ABSENT;
    if (apart > add_saturated(allowed, claim->rounding_hz))
        return COUNTER_CLAIM_LIES;
    if (apart > allowed || claim->rounding_hz > measured->error_hz)
        return COUNTER_CLAIM_ROUGH;
    return COUNTER_CLAIM_BELIEVED;
}

static void believe(struct timebase_counter *counter, const struct counter_claim *claim,
                    const struct counter_measurement *measured)
{
    uint64_t apart = distance(claim->hz, measured->hz);
    counter->frequency_hz = claim->hz;
    counter->frequency_error_hz = add_saturated(measured->error_hz, apart);
    counter->frequency_source = claim->source;
    counter->claimed_hz = claim->hz;
    counter->claimed_source = claim->source;
}

/*
 * A claim that is believed makes up for one that lies before it. If none is, the measurement
 * stands, and what the first claim said is on record.
 */
void counter_settle_frequency(struct timebase_counter *counter, const struct counter_claim *claims,
                              size_t count, const struct counter_measurement *measured)
{
    int lies = 0;
    counter->frequency_hz = measured->hz;
    counter->frequency_error_hz = measured->error_hz;
    counter->frequency_source = TIMEBASE_FREQUENCY_MEASURED;
    for (size_t i = 0; i < count; i++) {
        enum counter_verdict verdict = counter_judge_claim(&claims[i], measured);
        if (verdict == COUNTER_CLAIM_BELIEVED) {
            believe(counter, &claims[i], measured);
            return;
        }
        lies |= verdict == COUNTER_CLAIM_LIES;
        if (verdict != COUNTER_CLAIM_ABSENT && counter->claimed_hz == 0) {
            counter->claimed_hz = claims[i].hz;
            counter->claimed_source = claims[i].source;
        }
    }
    if (lies)
        counter->reasons |= TIMEBASE_REASON_FREQUENCY_LIES;
}

uint64_t counter_cpuinfo_frequency(const char *path)
{
    struct counter_stream stream;
    char word[24] = "";
    uint64_t hz = 0;

    if (counter_stream_open(&stream, path) != 0)
        return 0;
    if (counter_stream_find(&stream, "timebase"))
        counter_stream_word(&stream, word, sizeof(word));
    counter_stream_close(&stream);
    for (const char *digit = word; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || digit - word >= 18)
            return 0; /* the frequency of nothing that counts */
        hz = hz * 10 + (uint64_t)(*digit - '0');
    }
    return hz;
}

/* A property of one or two cells, most significant byte first. */
static uint64_t read_cells(const char *path)
{
    unsigned char bytes[9];
    uint64_t value = 0;
    long length = counter_read_bytes(path, bytes, sizeof(bytes));
    if (length != 4 && length != 8)
        return 0;
    for (long i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    return value;
}

static uint64_t read_property(const char *folder, const char *node)
{
    char path[512];
    int length = snprintf(path, sizeof(path), "%s/%s/timebase-frequency", folder, node);
    return length > 0 && (size_t)length < sizeof(path) ? read_cells(path) : 0;
}

/* In /cpus itself (RISC-V) or in the first of its nodes that has it (Power). */
uint64_t counter_device_tree_frequency(const char *cpus_folder)
{
    char full[512];
    uint64_t hz = read_property(cpus_folder, ".");
    DIR *folder = NULL;

    if (hz == 0 && counter_full_path(cpus_folder, full, sizeof(full)) == 0)
        folder = opendir(full);
    if (folder == NULL)
        return hz;
    for (const struct dirent *node; hz == 0 && (node = readdir(folder)) != NULL;)
        if (node->d_name[0] != '.')
            hz = read_property(cpus_folder, node->d_name);
    closedir(folder);
    return hz;
}

#if defined(__x86_64__) || defined(__i386__)

/* Leaf 0x16 gives the processor's base frequency, which need not be the counter's: last resort. */
size_t counter_collect_claims(const struct counter_processor *processor,
                              struct counter_claim claims[COUNTER_CLAIMS_MAX])
{
    claims[0] = (struct counter_claim){TIMEBASE_FREQUENCY_CPUID, processor->crystal_hz, 1};
    claims[1] =
        (struct counter_claim){TIMEBASE_FREQUENCY_HYPERVISOR, processor->hypervisor_hz, 500};
    claims[2] = (struct counter_claim){TIMEBASE_FREQUENCY_CPUID, processor->base_hz, 500000};
    return 3;
}

#elif defined(__aarch64__)

size_t counter_collect_claims(const struct counter_processor *processor,
                              struct counter_claim claims[COUNTER_CLAIMS_MAX])
{
    uint64_t hz;
    (void)processor;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hz));
    claims[0] = (struct counter_claim){TIMEBASE_FREQUENCY_REGISTER, hz & 0xffffffff, 0};
    return 1;
}

#elif defined(__s390x__)

size_t counter_collect_claims(const struct counter_processor *processor,
                              struct counter_claim claims[COUNTER_CLAIMS_MAX])
{
    (void)processor;
    claims[0] = (struct counter_claim){TIMEBASE_FREQUENCY_ARCHITECTED, 4096000000, 0};
    return 1;
}

#else

static uint64_t c_library_frequency(void)
{
#if defined(HAVE_C_LIBRARY_FREQUENCY)
    return __ppc_get_timebase_freq();
#else
    return 0;
#endif
}

/* Power and RISC-V: the kernel tells what the firmware has told it. */
size_t counter_collect_claims(const struct counter_processor *processor,
                              struct counter_claim claims[COUNTER_CLAIMS_MAX])
{
    (void)processor;
    claims[0] = (struct counter_claim){TIMEBASE_FREQUENCY_C_LIBRARY, c_library_frequency(), 0};
    claims[1] = (struct counter_claim){TIMEBASE_FREQUENCY_DEVICE_TREE,
                                       counter_device_tree_frequency("/proc/device-tree/cpus"), 0};
    claims[2] = (struct counter_claim){TIMEBASE_FREQUENCY_CPUINFO,
                                       counter_cpuinfo_frequency("/proc/cpuinfo"), 0};
    return 3;
}

#endif
