/* SPDX-License-Identifier: MIT */
/*
 * evidence: what disturbed a wait. It does not depend on when the wait ended.
 *
 * Three marks are set before the last approach and looked at when it ends:
 *
 *   ES     x86-64 only. IRET clears a null selector other than 0: an interrupt or a fault came
 *          (x86_64.S).
 *   rseq   The kernel clears rseq_cs of the thread's restartable sequence when it preempts,
 *          migrates or signals the thread (clock/counter/rseq.h).
 *   polls  The time between two readings of the loop. If it is long and the other marks are
 *   unchanged, the hypervisor or the firmware ran.
 */
#ifndef APPROACH_EVIDENCE_H
#define APPROACH_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "clock/counter/rseq.h"

#include "approach.h"

struct evidence {
    uint64_t rseq_mark; /* what rseq_cs holds until the kernel clears it; 0: no rseq */
    ptrdiff_t rseq_offset; /* of it from each thread's pointer: the C library's own word is far away */
    uint32_t cpu_before;
    int marks_es;     /* ES may be written: not under valgrind */
    uint32_t noticed; /* what can be noticed here: bits of the disturbances */
};

/* Ask once what this process has. */
void evidence_init(struct evidence *evidence, struct approach *approach);

/*
 * Set the marks before an approach, in a few cycles. The approach looks at them and clears the mark
 * of rseq, which must not outlast the library. The mark in ES stays: it disturbs nobody, and to
 * write ES takes 50 ns.
 */
void evidence_begin(struct evidence *evidence, struct approach *approach);

/* On which CPU this thread runs, -1 unknown; by rseq, as the kernel's page may be far away. */
int evidence_cpu(const struct evidence *evidence);

/*
 * What only the process knows (evidence_process.c): may ES be written, on which CPU does this
 * thread run, and is it a real-time thread, which is stopped when it has used up its share?
 */
int evidence_may_write_es(void);
int evidence_cpu_of_kernel(void);
int evidence_is_realtime(void);

/*
 * Clear the mark of rseq, where no approach does. The mark is one 64-bit word to the kernel.
 * Processors of 32 bits may clear it by halves: their addresses fill only one, and the other is
 * always 0.
 */
static inline void evidence_forget(const struct approach *approach)
{
    uint32_t *rseq = (uint32_t *)(uintptr_t)approach->rseq;
#if UINTPTR_MAX > UINT32_MAX
    __atomic_store_n((uint64_t *)(void *)(rseq + 2), 0, __ATOMIC_RELAXED);
#else
    __atomic_store_n(rseq + 2, 0, __ATOMIC_RELAXED);
    __atomic_store_n(rseq + 3, 0, __ATOMIC_RELAXED);
#endif
}

/* The same without an approach: notes the marks as they are now; and judges them. */
void evidence_mark(struct approach *approach);
uint32_t evidence_now(struct evidence *evidence, struct approach *approach);

/*
 * What the approach found of them at its stamp: bits of enum timebase_wait_disturbance. Polls
 * further apart than gap_limit_ticks are a disturbance.
 */
uint32_t evidence_judge(struct evidence *evidence, const struct approach *approach,
                        uint32_t gap_limit_ticks);

/* Of a loop that is no approach: its marks are set, looked at when it ends (below), and judged. */
struct evidence_marks {
    uint32_t *rseq; /* null: none */
    uint32_t cpu_before, cpu, marker;
    uint64_t rseq_marker;
};
uint32_t evidence_judge_marks(const struct evidence *evidence, const struct evidence_marks *marks,
                              int is_gap);

/* As the approach found them. */
static inline struct evidence_marks evidence_marks_of(const struct evidence *evidence,
                                                      const struct approach *approach)
{
    return (struct evidence_marks){.cpu_before = evidence->cpu_before,
                                   .cpu = approach->rseq_cpu,
                                   .marker = approach->marker,
                                   .rseq_marker = approach->rseq_marker};
}

/* Would it find nothing, but for a gap? Without branches. */
static inline int evidence_has_clean_marks(const struct evidence *evidence,
                                           const struct evidence_marks *marks)
{
    int no_interrupt = !evidence->marks_es | (marks->marker == 1);
    int stayed = (marks->rseq_marker == evidence->rseq_mark) & (marks->cpu == marks->cpu_before);
    return no_interrupt & (stayed | (evidence->rseq_mark == 0));
}

static inline int evidence_is_clean(const struct evidence *evidence,
                                    const struct approach *approach, uint32_t gap_limit_ticks)
{
    const struct evidence_marks marks = evidence_marks_of(evidence, approach);
    return evidence_has_clean_marks(evidence, &marks) & (approach->gap_ticks <= gap_limit_ticks);
}

#ifdef __x86_64__
static inline uint32_t evidence_marker(void)
{
    uint32_t marker;
    __asm__ __volatile__("movl %%es, %0" : "=r"(marker));
    return marker;
}

static inline void evidence_set_marker(uint32_t marker)
{
    __asm__ __volatile__("movl %0, %%es" : : "r"(marker));
}
#else
static inline uint32_t evidence_marker(void)
{
    return 1;
}

static inline void evidence_set_marker(uint32_t marker)
{
    (void)marker;
}
#endif

/* To write ES takes 50 ns, and its mark stays where nothing came. */
static inline void evidence_mark_es(const struct evidence *evidence)
{
    if (__builtin_expect(evidence->marks_es && evidence_marker() != 1, 0))
        evidence_set_marker(1);
}

/* The field rseq_cs; the approach sees the structure as 32-bit words. */
static inline uint64_t evidence_rseq_marker(const uint32_t *rseq)
{
    const volatile uint32_t *words = rseq;
    uint32_t pair[2] = {words[2], words[3]};
    uint64_t marker;
    memcpy(&marker, pair, sizeof(marker));
    return marker;
}

/* The kernel's line of this thread, which may have gone. */
static inline void evidence_fetch_marks(const struct evidence *evidence)
{
    if (evidence->rseq_mark != 0)
        approach_fetch(rseq_at(evidence->rseq_offset));
}

/* In line, as these come before and behind a loop for which there is hardly any time. */
static inline void evidence_set_marks(const struct evidence *evidence, struct evidence_marks *marks)
{
    *marks = (struct evidence_marks){0};
    if (evidence->rseq_mark != 0) {
        marks->rseq = rseq_at(evidence->rseq_offset);
        marks->cpu_before = rseq_cpu(marks->rseq);
        rseq_set_mark(marks->rseq);
    }
    evidence_mark_es(evidence);
}

static inline void evidence_look(struct evidence_marks *marks)
{
    marks->marker = evidence_marker();
    if (marks->rseq == NULL)
        return;
    marks->cpu = rseq_cpu(marks->rseq);
    marks->rseq_marker = evidence_rseq_marker(marks->rseq);
    rseq_clear_mark(marks->rseq);
}

#endif
