/* SPDX-License-Identifier: MIT */
/*
 * How the functions of the other headers are declared. One source serves three uses:
 * inline code in C and C++, and (symbols.c and wait_symbols.c define TIMEBASE_INLINE to nothing) real
 * symbols in the shared library, for languages that cannot inline C.
 */
#ifndef TIMEBASE_ATTRIBUTES_H
#define TIMEBASE_ATTRIBUTES_H

#if !defined(__GNUC__)
#error "timebase needs GCC or Clang: it uses their atomic builtins and inline assembly"
#endif

#ifndef TIMEBASE_INLINE
#define TIMEBASE_INLINE static inline __attribute__((unused))
#endif

/* Parts of the hot path: no symbol of their own, and a constant argument must fold away. */
#define TIMEBASE_PART static inline __attribute__((always_inline, unused))

#define TIMEBASE_API __attribute__((visibility("default")))
#ifndef TIMEBASE_COLD /* where such functions are defined that are called often after all, it is */
#define TIMEBASE_COLD __attribute__((cold, noinline))
#endif

#define TIMEBASE_LIKELY(x) ((int)__builtin_expect(!!(x), 1))
#define TIMEBASE_UNLIKELY(x) ((int)__builtin_expect(!!(x), 0))

#ifdef __cplusplus
#define TIMEBASE_STATIC_ASSERT(condition, text) static_assert(condition, text)
#define TIMEBASE_EXTERN_BEGIN extern "C" {
#define TIMEBASE_EXTERN_END }
#else
/* C11; to -std=c99 and gnu99 an extension, of which -pedantic need not warn. */
#define TIMEBASE_STATIC_ASSERT(condition, text) __extension__ _Static_assert(condition, text)
#define TIMEBASE_EXTERN_BEGIN
#define TIMEBASE_EXTERN_END
#endif

#endif
