/* SPDX-License-Identifier: MIT */
/*
 * foresee: bring code into caches without executing it.
 *
 * What a program does between its waits drives their code, and its own behind them, out of the
 * innermost cache, and from the second level an instruction comes 8 ns late. A prefetch does not
 * reach further; and one into the first-level data cache, or a load, takes the line out of the
 * instruction cache (Zen 5: half of the waits after that were 8 ns late, and some for thirty more).
 *
 * So the core is made to predict wrongly that the code comes next: it fetches it, goes some way into
 * it, and finds out that it is elsewhere. No effect remains but what caches hold. This takes some
 * 30 ns. Not where a shadow stack forbids it, nor on other processors than x86-64.
 */
#ifndef APPROACH_FORESEE_H
#define APPROACH_FORESEE_H

/* As if code(argument) were called. */
typedef void approach_foresight(const void *code, void *argument);

/* As if the approach_from() with this frame returned. */
typedef void approach_foresight_of_return(const void *frame);

/*
 * Asks memory for a line of code, into the second level. The instruction that is none keeps compilers
 * from taking a function that does nothing else for one without effect: GCC left the calls of such a
 * function out.
 */
static inline void approach_fetch_code(const void *line)
{
    __builtin_prefetch(line, 0, 2);
    __asm__ volatile("");
}

enum { APPROACH_LINE = 64 }; /* bytes of a cache's line */

/* So many of them; of null none. */
static inline void approach_fetch_lines(const char *code, int lines)
{
    for (int line = 0; code != 0 && line < lines; line++)
        approach_fetch_code(code + line * APPROACH_LINE);
}

/* A line of data, into the first level. */
static inline void approach_fetch(const void *line)
{
    __builtin_prefetch(line, 0, 3);
    __asm__ volatile("");
}

/* The same, of data or code; an ordered reading of the counter behind it waits until it has come. */
static inline void approach_load(const void *line)
{
    (void)*(const volatile char *)line;
}

#endif
