/* SPDX-License-Identifier: MIT */
/*
 * Compiled with -fno-builtin, or each of these loops would become a call of itself. In parentheses where
 * string.h has a macro of the name.
 */
#include <stdint.h>
#include <string.h>

void *(memcpy)(void *restrict to, const void *restrict from, size_t size)
{
    return memmove(to, from, size);
}

void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *out = to;
    const unsigned char *in = from;
    if ((uintptr_t)out <= (uintptr_t)in)
        for (size_t i = 0; i < size; i++)
            out[i] = in[i];
    else
        for (size_t i = size; i > 0; i--)
            out[i - 1] = in[i - 1];
    return to;
}

void *(memset)(void *to, int byte, size_t size)
{
    unsigned char *out = to;
    for (size_t i = 0; i < size; i++)
        out[i] = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *left = a, *right = b;
    for (size_t i = 0; i < size; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}
