/* SPDX-License-Identifier: MIT */
#include "rseq.h"

#if defined(RSEQ_IS_KNOWN)

/* What must stand before an abort handler, and a place that is never executed. */
static const struct {
    uint32_t signature;
    uint32_t abort;
    uint32_t sequence;
} never_run = {RSEQ_SIG, 0, 0};

/* The kernel wants three addresses of this process; the sequence is one byte long. */
const struct rseq_cs counter_rseq_sequence = {.start_ip = (uintptr_t)&never_run.sequence,
                                              .post_commit_offset = 1,
                                              .abort_ip = (uintptr_t)&never_run.abort};

#else

typedef int rseq_is_not_known;

#endif
