/* SPDX-License-Identifier: MIT */
/*
 * relax: one turn of a polling loop that has time left, at less power where the processor offers it
 * (TIMEBASE_WAIT_SAVE_POWER). The processor is asked once which means there are. Pure functions
 * take its answers and decide which one to use, for how long and how deep.
 *
 * A turn ends before the given time, with generous room for waking up. Where the means end by
 * themselves, a turn is begun only if more time is left than it may take. TPAUSE and WFET have
 * deadlines, so a thread that is held up just before them does not sleep longer.
 */
#ifndef SLEEP_RELAX_H
#define SLEEP_RELAX_H

#include <stdint.h>

enum relax_means {
    RELAX_PAUSE,    /* the hint for spin loops: saves next to nothing */
    RELAX_TPAUSE,   /* x86 WAITPKG, until a deadline */
    RELAX_MWAITX,   /* x86 of AMD, for a time */
    RELAX_WFET,     /* Arm, until a deadline */
    RELAX_WFE,      /* Arm, until the kernel's event stream: up to 100 us */
    RELAX_ISB,      /* Arm: empties the pipeline; YIELD does nothing on most */
    RELAX_PRIORITY, /* Power: leaves the core to its other threads */
    RELAX_WRS,      /* RISC-V Zawrs, up to a short time that the processor chooses */
    RELAX_MEANS
};

/* What this process has. The processor is asked by the first call: some us, on a virtual CPU more.
 */
enum relax_means relax_means(void);

/*
 * One turn of waiting until a tick, by these means or a weaker one. RELAX_PAUSE does as little as
 * timebase_arch_relax(). Ticks are the processor's counter's, of period_ns.
 */
void relax(enum relax_means means, uint64_t until_ticks, double period_ns);

/* ---- pure --------------------------------------------------------------------------------- */

/* ECX of CPUID leaf 7, subleaf 0, and of leaf 0x80000001. */
enum relax_means relax_choose_x86(uint32_t leaf_7_ecx, uint32_t leaf_80000001_ecx);

/* AT_HWCAP and AT_HWCAP2 of the auxiliary vector. */
enum relax_means relax_choose_arm64(uint64_t hwcap, uint64_t hwcap2);
enum relax_means relax_choose_power(uint64_t hwcap2);

/* RISCV_HWPROBE_KEY_IMA_EXT_0 of riscv_hwprobe(). */
enum relax_means relax_choose_riscv(uint64_t extensions);

enum relax_depth {
    RELAX_AWAKE, /* too near for these means */
    RELAX_LIGHT, /* the state that wakes up soon */
    RELAX_DEEP,  /* the one that saves more */
};

struct relax_turn {
    enum relax_depth depth;
    uint32_t ticks; /* 0 only when awake: MWAITX would take it for no limit */
};

struct relax_turn relax_turn(enum relax_means means, int64_t left_ticks, double period_ns);

#endif
