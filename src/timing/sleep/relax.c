/* SPDX-License-Identifier: MIT */
/* What to relax by, how deep and how long. Pure; relax_processor.c does it. */
#include "relax.h"

/*
 * Time that must be left, ns, for a turn in each state; it is also what a turn with a deadline ends
 * before. 0: no such state.
 *
 * TPAUSE   C0.1 and C0.2, the faster and the slower to wake from (SDM vol. 2B, TPAUSE).
 *          No manual says how fast: these are several times what is reported.
 * MWAITX   C0 and C1 (APM vol. 3, MWAITX: EAX 7:4).
 * WFE      ends by the event stream, at least every 100 us (Linux, arm_arch_timer.h).
 * WRS.STO  "roughly in the range of 10 to 100 times an on-chip cache miss latency or a cacheless
 *          access to main memory" (unprivileged ISA, Zawrs): 10 us; five times that.
 */
static const struct {
    int64_t light_ns, deep_ns;
} reserve[RELAX_MEANS] = {
    [RELAX_TPAUSE] = {1000, 10000}, [RELAX_MWAITX] = {1000, 10000}, [RELAX_WFET] = {2000, 0},
    [RELAX_WFE] = {150000, 0},      [RELAX_ISB] = {500, 0},         [RELAX_PRIORITY] = {2000, 0},
    [RELAX_WRS] = {50000, 0},
};

/*
 * A turn is no longer, so that a UTC target which is stepped to an earlier tick is noticed. Linux
 * limits TPAUSE to about as much (IA32_UMWAIT_CONTROL, 100,000 ticks by default).
 */
enum { LONGEST_NS = 100000 };

enum relax_means relax_choose_x86(uint32_t leaf_7_ecx, uint32_t leaf_80000001_ecx)
{
    if (leaf_7_ecx >> 5 & 1) /* WAITPKG */
        return RELAX_TPAUSE;
    if (leaf_80000001_ecx >> 29 & 1) /* MONITORX */
        return RELAX_MWAITX;
    return RELAX_PAUSE;
}

enum relax_means relax_choose_arm64(uint64_t hwcap, uint64_t hwcap2)
{
    if (hwcap2 >> 31 & 1) /* HWCAP2_WFXT */
        return RELAX_WFET;
    if (hwcap >> 2 & 1) /* HWCAP_EVTSTRM: without the stream WFE might wait for ever */
        return RELAX_WFE;
    return RELAX_ISB;
}

/* Before Power ISA 2.07 a program may not lower its priority so far. */
enum relax_means relax_choose_power(uint64_t hwcap2)
{
    return hwcap2 >> 31 & 1 ? RELAX_PRIORITY : RELAX_PAUSE; /* PPC_FEATURE2_ARCH_2_07 */
}

enum relax_means relax_choose_riscv(uint64_t extensions)
{
    return extensions >> 48 & 1 ? RELAX_WRS : RELAX_PAUSE; /* RISCV_HWPROBE_EXT_ZAWRS */
}

static enum relax_depth depth_for(enum relax_means means, double left_ns)
{
    if (reserve[means].deep_ns != 0 && left_ns > (double)reserve[means].deep_ns)
        return RELAX_DEEP;
    if (reserve[means].light_ns != 0 && left_ns > (double)reserve[means].light_ns)
        return RELAX_LIGHT;
    return RELAX_AWAKE;
}

struct relax_turn relax_turn(enum relax_means means, int64_t left_ticks, double period_ns)
{
    double left_ns = (double)left_ticks * period_ns;
    struct relax_turn turn = {depth_for(means, left_ns), 0};
    if (turn.depth == RELAX_AWAKE)
        return turn;
    double rest_ns =
        (double)(turn.depth == RELAX_DEEP ? reserve[means].deep_ns : reserve[means].light_ns);
    double ns = left_ns - rest_ns < LONGEST_NS ? left_ns - rest_ns : LONGEST_NS;
    turn.ticks = ns / period_ns < UINT32_MAX ? (uint32_t)(ns / period_ns) : UINT32_MAX;
    if (turn.ticks == 0)
        turn.depth = RELAX_AWAKE;
    return turn;
}
