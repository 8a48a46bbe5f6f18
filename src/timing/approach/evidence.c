/* SPDX-License-Identifier: MIT */
#include <timebase/wait.h>

#include "clock/counter/rseq.h"
#include "evidence.h"

/* For threads without rseq: no CPU, and a mark that is always 0. Aligned like the kernel's
 * structure, because the mark is a 64-bit word. */
static uint32_t no_rseq[8] __attribute__((aligned(32))) = {0, UINT32_MAX};

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
    evidence_mark_es(evidence);
}

APPROACH_WAY int evidence_cpu(const struct evidence *evidence)
{
    if (evidence->rseq_mark == 0)
        return evidence_cpu_of_kernel();
    return (int)rseq_cpu(rseq_at(evidence->rseq_offset));
}

APPROACH_WAY uint32_t evidence_judge_marks(const struct evidence *evidence,
                                           const struct evidence_marks *marks, int is_gap)
{
    uint32_t found = 0;
    if (evidence->marks_es && marks->marker != 1)
        found |= TIMEBASE_DISTURBED_INTERRUPT;
    if (evidence->rseq_mark != 0) {
        if (marks->rseq_marker != evidence->rseq_mark)
            found |= TIMEBASE_DISTURBED_PREEMPTED;
        if (marks->cpu != marks->cpu_before)
            found |= TIMEBASE_DISTURBED_MIGRATED;
    }
    return is_gap && found == 0 ? (uint32_t)TIMEBASE_DISTURBED_GAP : found;
}

APPROACH_WAY uint32_t evidence_judge(struct evidence *evidence, const struct approach *approach,
                                     uint32_t gap_limit_ticks)
{
    const struct evidence_marks marks = evidence_marks_of(evidence, approach);
    uint32_t found =
        evidence_judge_marks(evidence, &marks, approach->gap_ticks > gap_limit_ticks);
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
