/* SPDX-License-Identifier: MIT */
#include "digits.h"

enum { LAST = sizeof(((struct digits *)0)->text) - 1 };

/* From the right; returns where they begin. */
static int put_backwards(struct digits *out, int end, uint64_t value, unsigned base, int least)
{
    int at = end;
    do {
        out->text[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0 || end - at < least);
    return at;
}

static struct digits moved_to_front(struct digits from, int at)
{
    struct digits out;
    for (int i = 0; i + at <= LAST; i++)
        out.text[i] = from.text[i + at];
    return out;
}

static uint64_t size_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

struct digits digits_unsigned(uint64_t value)
{
    struct digits out;
    out.text[LAST] = 0;
    return moved_to_front(out, put_backwards(&out, LAST, value, 10, 1));
}

struct digits digits_hexadecimal(uint64_t value)
{
    struct digits out;
    out.text[LAST] = 0;
    int at = put_backwards(&out, LAST, value, 16, 1);
    out.text[--at] = 'x';
    out.text[--at] = '0';
    return moved_to_front(out, at);
}

struct digits digits_decimal(int64_t value)
{
    struct digits out;
    out.text[LAST] = 0;
    int at = put_backwards(&out, LAST, size_of(value), 10, 1);
    if (value < 0)
        out.text[--at] = '-';
    return moved_to_front(out, at);
}

struct digits digits_thousandths(int64_t value)
{
    struct digits out;
    out.text[LAST] = 0;
    int at = put_backwards(&out, LAST, size_of(value) % 1000, 10, 3);
    out.text[--at] = '.';
    at = put_backwards(&out, at, size_of(value) / 1000, 10, 1);
    if (value < 0)
        out.text[--at] = '-';
    return moved_to_front(out, at);
}
