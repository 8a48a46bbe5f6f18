/* SPDX-License-Identifier: MIT */
/*
 * What the processor says of itself. On x86 this is CPUID, which a virtual machine answers by a
 * trap to the hypervisor (4 to 30 microseconds each): every leaf is read at most once, here, and
 * nowhere near a read of the counter.
 *
 * Leaves: Intel SDM vol. 2A, CPUID (0x15, 0x16, 0x80000007); AMD APM vol. 3, appendix E
 * (0x80000007); 0x40000000 and 0x40000010: the interface that VMware proposed in 2008 and that KVM,
 * Xen, bhyve and others share.
 */
#include <string.h>

#include "probe.h"

uint64_t counter_crystal_frequency(uint32_t denominator, uint32_t numerator, uint32_t crystal_hz)
{
    if (denominator == 0 || numerator == 0)
        return 0;
    /* Multiply first: the ratio is no whole number, 24 MHz * 242 / 2 or 25 MHz * 196 / 3. */
    return ((uint64_t)crystal_hz * numerator + denominator / 2) / denominator;
}

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

struct leaf {
    uint32_t a, b, c, d;
};

enum {
    LEAF_FEATURES = 0x1,
    LEAF_CRYSTAL = 0x15,
    LEAF_BASE = 0x16,
};
#define LEAF_HYPERVISOR 0x40000000u
#define LEAF_HYPERVISOR_TIMING 0x40000010u
#define LEAF_EXTENDED 0x80000000u
#define LEAF_POWER 0x80000007u

/*
 * CPUID can be switched off for a process and then raises SIGSEGV, like RDTSC. Kernels that
 * cannot switch it off do not know the call.
 */
static int cpuid_is_off(void)
{
#if defined(SYS_arch_prctl)
    enum { GET_CPUID = 0x1011 }; /* ARCH_GET_CPUID of <asm/prctl.h>, since Linux 4.12 */
    return syscall(SYS_arch_prctl, GET_CPUID, 0) == 0;
#else
    return 0;
#endif
}

/* Zeroes for a leaf beyond the last one: what lies there is undefined, often another leaf. */
static struct leaf read_leaf(uint32_t number, uint32_t last)
{
    struct leaf leaf = {0, 0, 0, 0};
    if (number <= last)
        __cpuid_count(number, 0, leaf.a, leaf.b, leaf.c, leaf.d);
    return leaf;
}

static void copy_name(char name[16], const struct leaf *leaf)
{
    memcpy(name, &leaf->b, 4);
    memcpy(name + 4, &leaf->c, 4);
    memcpy(name + 8, &leaf->d, 4);
    for (int i = 0; i < 12; i++)
        if (name[i] != '\0' && (name[i] < ' ' || name[i] > '~'))
            name[i] = '?';
}

static void ask_hypervisor(struct counter_processor *processor)
{
    struct leaf first = read_leaf(LEAF_HYPERVISOR, LEAF_HYPERVISOR);
    copy_name(processor->hypervisor_name, &first);
    uint32_t khz = read_leaf(LEAF_HYPERVISOR_TIMING, first.a).a;
    processor->hypervisor_hz = (uint64_t)khz * 1000;
}

static void ask_frequency(struct counter_processor *processor, uint32_t last)
{
    struct leaf crystal = read_leaf(LEAF_CRYSTAL, last);
    uint32_t base_mhz = read_leaf(LEAF_BASE, last).a & 0xffff;
    processor->crystal_hz = counter_crystal_frequency(crystal.a, crystal.b, crystal.c);
    processor->base_hz = (uint64_t)base_mhz * 1000000;
}

void counter_ask_processor(struct counter_processor *processor)
{
    memset(processor, 0, sizeof(*processor));
    processor->invariant = -1;
    processor->hypervisor = -1;
    uint32_t last = cpuid_is_off() ? 0 : __get_cpuid_max(0, NULL);
    if (last == 0)
        return;
    ask_frequency(processor, last);
    processor->hypervisor = (int)(read_leaf(LEAF_FEATURES, last).c >> 31);
    if (processor->hypervisor)
        ask_hypervisor(processor);
    uint32_t last_extended = __get_cpuid_max(LEAF_EXTENDED, NULL);
    processor->invariant = (int)(read_leaf(LEAF_POWER, last_extended).d >> 8 & 1);
}

#else

/*
 * The other architectures promise a constant rate in their manuals instead of a register:
 *
 * - Power ISA book II, "Time Base": should the update frequency change at all, the operating system
 *   is told and can keep the time; Linux lets it change on no processor.
 * - Arm ARM, "The Generic Timer": the system counter has a fixed frequency and lies in the
 *   always-on power domain.
 * - RISC-V unprivileged ISA, "Zicntr": the period of `time` is constant.
 * - z/Architecture Principles of Operation, "Time-of-Day Clock": the rate does not depend on
 *   the state of the CPU, which may even be stopped.
 */
void counter_ask_processor(struct counter_processor *processor)
{
    memset(processor, 0, sizeof(*processor));
    processor->invariant = TIMEBASE_ARCH_COUNTER == TIMEBASE_COUNTER_OS ? -1 : 1;
    processor->hypervisor = -1;
}

#endif
