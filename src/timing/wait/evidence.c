/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include <timebase/wait.h>

#include "evidence.h"

#if defined(__has_include) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#if defined(RSEQ_SIG) && defined(__x86_64__)
#define HAVE_RSEQ 1
static char *thread_pointer(void)
{
    char *pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}
#elif defined(RSEQ_SIG) && (defined(__aarch64__) || defined(__s390x__))
#define HAVE_RSEQ 1
static char *thread_pointer(void)
{
    return (char *)__builtin_thread_pointer();
}
#else
#define HAVE_RSEQ 0
#endif

/* For threads without rseq: no CPU, and a mark that is always 0. Aligned like the kernel's
 * structure, because the mark is a 64-bit word. */
static uint32_t no_rseq[8] __attribute__((aligned(32))) = {0, UINT32_MAX};

#if HAVE_RSEQ
/* Absent before glibc 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* What must stand before an abort handler, and a place that is never executed. */
static const struct {
    uint32_t signature;
    uint32_t abort;
    uint32_t sequence;
} never_run = {RSEQ_SIG, 0, 0};

static uint32_t *find_rseq(void)
{
    if (&__rseq_offset == NULL || &__rseq_size == NULL || __rseq_size == 0)
        return NULL;
    return (uint32_t *)(void *)(thread_pointer() + __rseq_offset);
}

static void write_mark(uint32_t *rseq, uint64_t mark)
{
    __atomic_store_n((uint64_t *)(void *)(rseq + 2), mark, __ATOMIC_RELAXED);
}

/*
 * The kernel wants three addresses of this process; the sequence is one byte long. Several threads
 * may write it: they write the same values.
 */
static uint64_t make_mark(void)
{
    static struct rseq_cs sequence;
    uint64_t start = (uintptr_t)&never_run.sequence, abort = (uintptr_t)&never_run.abort;
    __atomic_store_n(&sequence.start_ip, start, __ATOMIC_RELAXED);
    __atomic_store_n(&sequence.post_commit_offset, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&sequence.abort_ip, abort, __ATOMIC_RELAXED);
    return (uintptr_t)&sequence;
}
#else
static uint32_t *find_rseq(void)
{
    return NULL;
}
static void write_mark(uint32_t *rseq, uint64_t mark)
{
    (void)rseq, (void)mark;
}
static uint64_t make_mark(void)
{
    return 0;
}
#endif

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
    evidence->rseq_mark = find_rseq() != NULL ? make_mark() : 0;
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
    uint32_t *rseq = evidence->rseq_mark != 0 ? find_rseq() : NULL;
    if (rseq != NULL) {
        approach->rseq = rseq;
        evidence->cpu_before = rseq[1];
        write_mark(rseq, evidence->rseq_mark);
    }
    if (evidence->marks_es &&
        evidence_marker() != 1) /* it takes 50 ns, and stays where nothing came */
        set_marker(1);
}

int evidence_cpu(const struct evidence *evidence)
{
    const uint32_t *rseq = evidence->rseq_mark != 0 ? find_rseq() : NULL;
    return rseq != NULL ? (int)rseq[1] : evidence_cpu_of_kernel();
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

uint32_t evidence_now(struct evidence *evidence, struct approach *approach)
{
    approach->marker = evidence_marker();
    approach->rseq_cpu = approach->rseq[1];
    approach->rseq_marker = evidence_rseq_marker(approach->rseq);
    approach->gap_ticks = 0;
    return evidence_judge(evidence, approach, UINT32_MAX);
}
