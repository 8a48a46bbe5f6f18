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
#else
#define APPROACH_HIDE(roots) ((void)0)
#endif

#endif
