/* SPDX-License-Identifier: MIT */
#include <timebase/wait.h>

#include "clock/counter/rseq.h"
#include "evidence.h"

/* For threads without rseq: no CPU, and a mark that is always 0. Aligned like the kernel's
 * structure, because the mark is a 64-bit word. */
static uint32_t no_rseq[8] __attribute__((aligned(32))) = {0, UINT32_MAX};

static void set_marker(uint32_t marker)
{
#ifdef __x86_64__
    __asm__ __volatile__("movl %0, %%es" : : "r"(marker));
#else
    (void)marker;
#endif
}

void evidence_init(struct evidence *evidence, struct approach *approach)
{
    approach->rseq = no_rseq;
    evidence->rseq_mark = rseq_here() != NULL ? RSEQ_MARK : 0;
    evidence->rseq_offset = evidence->rseq_mark != 0 ? rseq_offset() : 0;
    evidence->marks_es = evidence_may_write_es();
    evidence->noticed = TIMEBASE_DISTURBED_GAP;
    if (evidence->marks_es)
        evidence->noticed |= TIMEBASE_DISTURBED_INTERRUPT;
    if (evidence->rseq_mark != 0)
        evidence->noticed |= TIMEBASE_DISTURBED_PREEMPTED | TIMEBASE_DISTURBED_MIGRATED |
            TIMEBASE_DISTURBED_THROTTLED;
}

APPROACH_WAY void evidence_begin(struct evidence *evidence, struct approach *approach)
{
    if (evidence->rseq_mark != 0) {
        uint32_t *rseq = rseq_at(evidence->rseq_offset);
        approach->rseq = rseq;
        evidence->cpu_before = rseq_cpu(rseq);
        rseq_set_mark(rseq);
    }
    if (evidence->marks_es &&
        evidence_marker() != 1) /* it takes 50 ns, and stays where nothing came */
        set_marker(1);
}

int evidence_cpu(const struct evidence *evidence)
{
    if (evidence->rseq_mark == 0)
        return evidence_cpu_of_kernel();
    return (int)rseq_cpu(rseq_at(evidence->rseq_offset));
}

APPROACH_WAY uint32_t evidence_judge(struct evidence *evidence, const struct approach *approach,
                                     uint32_t gap_limit_ticks)
{
    uint32_t found = 0;
    if (evidence->marks_es && approach->marker != 1)
        found |= TIMEBASE_DISTURBED_INTERRUPT;
    if (evidence->rseq_mark != 0) {
        if (approach->rseq_marker != evidence->rseq_mark)
            found |= TIMEBASE_DISTURBED_PREEMPTED;
        if (approach->rseq_cpu != evidence->cpu_before)
            found |= TIMEBASE_DISTURBED_MIGRATED;
    }
    if (approach->gap_ticks > gap_limit_ticks && found == 0)
        found |= TIMEBASE_DISTURBED_GAP;
    evidence->noticed |= found;
    return found;
}

void evidence_mark(struct approach *approach)
{
    approach->marker = evidence_marker();
    approach->rseq_cpu = approach->rseq[1];
    approach->rseq_marker = evidence_rseq_marker(approach->rseq);
    approach->gap_ticks = 0;
}

uint32_t evidence_now(struct evidence *evidence, struct approach *approach)
{
    evidence_mark(approach);
    return evidence_judge(evidence, approach, UINT32_MAX);
}
