/* SPDX-License-Identifier: MIT */
/*
 * The means of relax.h, as instructions. Written as numbers where older assemblers do not know
 * them; run only where the processor or the kernel has said that they are there.
 */
#include <stddef.h>

#include <timebase/counter.h>

#include "relax.h"

/* MWAITX and WRS.STO watch this word until their time is over; nothing writes to it. */
static const uint64_t watched[8] __attribute__((aligned(64), unused));

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

static enum relax_means ask(void)
{
    unsigned a, b, c, d, leaf_7 = 0, leaf_80000001 = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        leaf_7 = c;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        leaf_80000001 = c;
    return relax_choose_x86(leaf_7, leaf_80000001);
}

/* SDM vol. 2B, TPAUSE: the state in ECX, 0 for C0.2, 1 for C0.1; the deadline in EDX:EAX. */
static void tpause(struct relax_turn turn, uint64_t deadline)
{
    __asm__ __volatile__(".byte 0x66, 0x0f, 0xae, 0xf1" /* tpause %ecx */
                         :
                         : "a"((uint32_t)deadline), "d"((uint32_t)(deadline >> 32)),
                           "c"(turn.depth == RELAX_DEEP ? 0 : 1)
                         : "cc", "memory");
}

/*
 * APM vol. 3, MONITORX and MWAITX: EAX 7:4 is the C-state less one, so 0xf is C0; bit 1 of ECX
 * asks for the timer, whose ticks are in EBX.
 */
static void mwaitx(struct relax_turn turn)
{
    __asm__ __volatile__(".byte 0x0f, 0x01, 0xfa" : : "a"(watched), "c"(0), "d"(0) : "memory");
    __asm__ __volatile__(".byte 0x0f, 0x01, 0xfb"
                         :
                         : "a"(turn.depth == RELAX_DEEP ? 0 : 0xf0), "b"(turn.ticks), "c"(2)
                         : "memory");
}

static void take(enum relax_means means, struct relax_turn turn, uint64_t now)
{
    if (means == RELAX_TPAUSE)
        tpause(turn, now + turn.ticks);
    else if (means == RELAX_MWAITX)
        mwaitx(turn);
}

#elif defined(__aarch64__)

#include <sys/auxv.h>

static enum relax_means ask(void)
{
    return relax_choose_arm64(getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}

/* WFET: "a local timeout event occurs" when CNTVCT_EL0 has reached the register (FEAT_WFxT). */
static void take(enum relax_means means, struct relax_turn turn, uint64_t now)
{
    register uint64_t deadline __asm__("x0") = now + turn.ticks;
    if (means == RELAX_WFET)
        __asm__ __volatile__(".inst 0xd5031000" : : "r"(deadline) : "memory"); /* wfet x0 */
    else if (means == RELAX_WFE)
        __asm__ __volatile__("wfe" : : : "memory");
    else
        __asm__ __volatile__("isb" : : : "memory");
}

#elif defined(__powerpc__)

#include <sys/auxv.h>

static enum relax_means ask(void)
{
    return relax_choose_power(getauxval(AT_HWCAP2));
}

/*
 * Very low priority for a few dispatch slots, then medium (Power ISA Book II 3.1, "or" as a
 * program priority hint). At very low priority a slot may come every 64 cycles.
 */
static void take(enum relax_means means, struct relax_turn turn, uint64_t now)
{
    (void)means, (void)turn, (void)now;
    __asm__ __volatile__("or 31, 31, 31\n\tnop\n\tnop\n\tnop\n\tnop\n\tor 2, 2, 2" : : : "memory");
}

#elif defined(__riscv) && __riscv_xlen == 64

/*
 * The C library's (glibc 2.40), which asks the vDSO and so needs no system call that a sandbox
 * might punish. Without it nothing is known, and PAUSE does.
 */
struct riscv_hwprobe {
    int64_t key;
    uint64_t value;
};
extern int __riscv_hwprobe(struct riscv_hwprobe *pairs, size_t count, size_t cpu_count,
                           unsigned long *cpus, unsigned flags) __attribute__((weak));

static enum relax_means ask(void)
{
    struct riscv_hwprobe extensions = {4, 0}; /* RISCV_HWPROBE_KEY_IMA_EXT_0, of all CPUs */
    if (__riscv_hwprobe == NULL || __riscv_hwprobe(&extensions, 1, 0, NULL, 0) != 0 ||
        extensions.key < 0)
        return RELAX_PAUSE;
    return relax_choose_riscv(extensions.value);
}

/* It waits only as long as there is a reservation. */
static void take(enum relax_means means, struct relax_turn turn, uint64_t now)
{
    (void)means, (void)turn, (void)now;
    __asm__ __volatile__("lr.d zero, (%0)\n\t.4byte 0x01d00073" : : "r"(watched) : "memory");
}

#else

static enum relax_means ask(void)
{
    return RELAX_PAUSE;
}

static void take(enum relax_means means, struct relax_turn turn, uint64_t now)
{
    (void)means, (void)turn, (void)now;
}

#endif

/* Deadlines are in the processor's ticks: of another counter, or corrected ones, there are none. */
enum relax_means relax_means(void)
{
    static int known = -1;
    if (timebase_counter_id() >= TIMEBASE_COUNTER_OS)
        return RELAX_PAUSE;
    int means = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (means < 0) {
        means = (int)ask();
        __atomic_store_n(&known, means, __ATOMIC_RELAXED);
    }
    return (enum relax_means)means;
}

void relax(enum relax_means means, uint64_t until_ticks, double period_ns)
{
    struct relax_turn turn = {RELAX_AWAKE, 0};
    uint64_t now = 0;
    if (means != RELAX_PAUSE) {
        now = timebase_ticks();
        turn = relax_turn(means, (int64_t)(until_ticks - now), period_ns);
    }
    if (turn.depth == RELAX_AWAKE)
        timebase_arch_relax();
    else
        take(means, turn, now);
}
