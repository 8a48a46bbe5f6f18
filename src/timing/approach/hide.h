/* SPDX-License-Identifier: MIT */
/*
 * hide: what follows takes as long as a chain of square roots, whatever is predicted wrongly or has
 * to be fetched meanwhile, if it is less.
 *
 * Each root needs the one before, so they take a time of their own; and an `lfence` behind what is
 * to be hidden waits for their end. Roots, because a few long instructions leave room in the core's
 * queues, as many short ones would not. Where there is no such fence, nothing is hidden.
 */
#ifndef APPROACH_HIDE_H
#define APPROACH_HIDE_H

#include <stdint.h>

/* A compiler would find it where it is used, behind a reading, where it takes time. */
static inline double approach_found_here(double value)
{
    __asm__ volatile("" : "+m"(value));
    return value;
}

#ifdef __x86_64__
/* Some 20 cycles each. */
#define APPROACH_HIDE(roots)                                                                       \
    do {                                                                                           \
        double root_;                                                                              \
        __asm__ volatile("cvtsi2sdl %1, %0\n\t"                                                    \
                         ".rept " #roots "\n\tsqrtsd %0, %0\n\t.endr"                              \
                         : "=x"(root_)                                                             \
                         : "r"(1));                                                                \
    } while (0)
/*
 * The last of eight roots that begin when `start` is known. What needs it comes behind them,
 * without a fence.
 */
static inline uint64_t approach_link(uint64_t start)
{
    uint32_t one = (uint32_t)start;
    uint64_t link;
    double root;
    __asm__ volatile("andl $0, %k0\n\torl $1, %k0\n\tcvtsi2sdl %k0, %1\n\t"
                     ".rept 8\n\tsqrtsd %1, %1\n\t.endr\n\tmovq %1, %2"
                     : "+r"(one), "=x"(root), "=r"(link));
    return link;
}

/* So many times eight more, at least one, behind the last of them. */
static inline uint64_t approach_link_more(uint64_t link, unsigned eights)
{
    double root;
    __asm__ volatile("movq %0, %1\n"
                     "1:\n\t.rept 8\n\tsqrtsd %1, %1\n\t.endr\n\t"
                     "decl %2\n\tjnz 1b\n\tmovq %1, %0"
                     : "+r"(link), "=&x"(root), "+r"(eights));
    return link;
}
#else
#define APPROACH_HIDE(roots) ((void)0)

static inline uint64_t approach_link(uint64_t start)
{
    return start;
}

static inline uint64_t approach_link_more(uint64_t link, unsigned eights)
{
    (void)eights;
    return link;
}
#endif

#endif
