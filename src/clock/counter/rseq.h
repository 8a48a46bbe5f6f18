/* SPDX-License-Identifier: MIT */
/*
 * rseq: this thread's restartable sequence, as the C library has registered it (glibc 2.35).
 *
 * The kernel keeps the number of the thread's CPU in it. And it clears rseq_cs when it preempts,
 * migrates or signals the thread outside of the sequence that rseq_cs names (Linux 4.18,
 * uapi/linux/rseq.h). The sequence named here covers one byte of data: the thread is never in it,
 * nothing is ever aborted, and rseq_cs is a mark that stands until one of these has happened.
 *
 *     rseq_set_mark(rseq);
 *     ...                      all of this was done on one CPU,
 *     rseq_has_mark(rseq)      if the mark still stands
 *     rseq_clear_mark(rseq);   for it must not outlast the library
 *
 * The kernel acts between two instructions of the thread, as a signal handler does, so the order of
 * the program suffices; what is volatile here the compiler keeps in it.
 *
 * There is one mark for all. Who finds it set is within somebody's (a wait's approach), and leaves
 * it alone: if it is cleared, both are to know. What else stands in rseq_cs is overwritten. Code
 * that calls us from within a restartable sequence of its own has left it with the call, by the
 * kernel's rules; and libraries leave theirs behind when they are through.
 *
 * The child of a vfork has its parent's sequence, and is not registered: the kernel neither keeps
 * its CPU's number there nor clears the mark. It must not look at either.
 */
#ifndef COUNTER_RSEQ_H
#define COUNTER_RSEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_include) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

/* The kernel's structure as 32-bit words: where the CPU's number is, and rseq_cs, of two words. */
enum { RSEQ_CPU = 1, RSEQ_CS = 2 };

#if defined(RSEQ_IS_PRETENDED)

/* A test is the kernel. */
uint32_t *rseq_here(void);
uint32_t rseq_cpu(const uint32_t *rseq);
void rseq_set_mark(uint32_t *rseq);
bool rseq_has_mark(const uint32_t *rseq);
void rseq_clear_mark(uint32_t *rseq);

#else

#if defined(RSEQ_SIG) && UINTPTR_MAX > UINT32_MAX

#define RSEQ_IS_KNOWN 1

/* Absent before glibc 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* What is never run (rseq.c). */
extern const struct rseq_cs counter_rseq_sequence __attribute__((visibility("hidden")));

/* What rseq_cs holds while the mark stands. */
#define RSEQ_MARK ((uintptr_t)&counter_rseq_sequence)

static inline char *rseq_thread_pointer(void)
{
#if defined(__x86_64__) || defined(__powerpc64__)
    /* Not every compiler has the built-in function for these. */
    char *pointer;
#if defined(__x86_64__)
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
#else
    __asm__("mr %0, 13" : "=r"(pointer));
#endif
    return pointer;
#else
    return (char *)__builtin_thread_pointer();
#endif
}

/* This thread's, or NULL: none is registered in this process. */
static inline uint32_t *rseq_here(void)
{
    if (&__rseq_offset == NULL || &__rseq_size == NULL || __rseq_size == 0)
        return NULL;
    return (uint32_t *)(void *)(rseq_thread_pointer() + __rseq_offset);
}

/* The same of a process in which one is known to be registered, so far from each thread's pointer. */
static inline uint32_t *rseq_at(ptrdiff_t offset)
{
    return (uint32_t *)(void *)(rseq_thread_pointer() + offset);
}

static inline ptrdiff_t rseq_offset(void)
{
    return __rseq_offset;
}

#else

/* The C library has none for this processor, or it is one of 32 bits. */
#define RSEQ_MARK ((uintptr_t)0)

static inline uint32_t *rseq_here(void)
{
    return NULL;
}

static inline uint32_t *rseq_at(ptrdiff_t offset)
{
    (void)offset;
    return NULL;
}

static inline ptrdiff_t rseq_offset(void)
{
    return 0;
}

#endif

/* Negative as an int: this thread alone is not registered. */
static inline uint32_t rseq_cpu(const uint32_t *rseq)
{
    return *(const volatile uint32_t *)(rseq + RSEQ_CPU);
}

static inline void rseq_write(uint32_t *rseq, uint64_t value)
{
    *(volatile uint64_t *)(void *)(rseq + RSEQ_CS) = value;
}

static inline void rseq_set_mark(uint32_t *rseq)
{
    rseq_write(rseq, RSEQ_MARK);
}

static inline bool rseq_has_mark(const uint32_t *rseq)
{
    return *(const volatile uint64_t *)(const void *)(rseq + RSEQ_CS) == RSEQ_MARK;
}

static inline void rseq_clear_mark(uint32_t *rseq)
{
    rseq_write(rseq, 0);
}

#endif

#endif
