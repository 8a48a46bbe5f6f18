/* SPDX-License-Identifier: MIT */
/*
 * chronyd's command protocol (chrony's candm.h), as much of it as `tracking` needs; all in network
 * order. A question is a head of 20 bytes, filled up with zeros. An answer:
 *
 *      0  version, type, 2 of zeros         28  reference id           56  reference time:
 *      4  the question's code               32  address (20)               s high, s low, ns
 *      6  the answer's code                 52  stratum                68  nine numbers (9 x 4)
 *      8  status (2), zeros (6)             54  leap status
 *     16  the question's sequence number
 *
 * A number is 7 bits of exponent and 25 bits of coefficient, both in two's complement: its value is
 * coefficient * 2^(exponent - 25).
 */
#include <string.h>

#include <timebase/error.h>

#include "chrony.h"

enum { VERSION = 6, TYPE_REQUEST = 1, TYPE_REPLY = 2, TRACKING_REQUEST = 33, TRACKING_REPLY = 5 };
enum { HEAD_SIZE = 28, STRATUM_MAX = 16, NUMBERS_AT = 68 };
enum { STATUS_OK = 0, STATUS_UNAUTHORISED = 2, STATUS_NO_ACCESS = 10, STATUS_BAD_VERSION = 18 };
enum { COEFFICIENT_BITS = 25 };

/* The high word of seconds that chronyd's of 32 bits do not have. */
#define NO_HIGH_SECONDS 0x7fffffffu
/* The year 2200: its nanoseconds fit. */
#define SEC_MAX 7258118400
#define SEC_NS 1000000000
#define PPM_PPB 1000

/* The numbers in their order: where each goes, how many of its unit make one of chronyd's, its
 * sign. */
#define TO(member) offsetof(struct chrony_tracking, member)
static const struct {
    size_t offset;
    int64_t unit;
    bool is_signed;
} numbers[] = {
    {TO(correction_ns), SEC_NS, true},       {TO(last_offset_ns), SEC_NS, true},
    {TO(rms_offset_ns), SEC_NS, false},      {TO(frequency_ppb), PPM_PPB, true},
    {TO(residual_ppb), PPM_PPB, true},       {TO(skew_ppb), PPM_PPB, false},
    {TO(root_delay_ns), SEC_NS, false},      {TO(root_dispersion_ns), SEC_NS, false},
    {TO(update_interval_ns), SEC_NS, false},
};

static void put(unsigned char *bytes, size_t at, unsigned width, uint32_t value)
{
    for (unsigned i = width; i-- > 0; value >>= 8)
        bytes[at + i] = (unsigned char)value;
}

static uint32_t get(const unsigned char *bytes, size_t at, unsigned width)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | bytes[at + i];
    return value;
}

void chrony_request(uint32_t sequence, unsigned char bytes[CHRONY_MESSAGE_SIZE])
{
    memset(bytes, 0, CHRONY_MESSAGE_SIZE);
    bytes[0] = VERSION;
    bytes[1] = TYPE_REQUEST;
    put(bytes, 4, 2, TRACKING_REQUEST);
    put(bytes, 8, 4, sequence);
}

/* The lowest `bits` of value as a number with a sign. */
static int32_t with_sign(uint32_t value, unsigned bits)
{
    uint32_t sign = (uint32_t)1 << (bits - 1);
    return (int32_t)((value & (2 * sign - 1)) ^ sign) - (int32_t)sign;
}

/* False: it does not fit. The coefficient and the unit have 55 bits together. */
static bool number(uint32_t word, int64_t unit, int64_t *out)
{
    int64_t value = with_sign(word, COEFFICIENT_BITS) * unit;
    int shift = with_sign(word >> COEFFICIENT_BITS, 32 - COEFFICIENT_BITS) - COEFFICIENT_BITS;
    if (shift <= -63)
        *out = 0;
    else if (shift <= 0)
        *out = value / ((int64_t)1 << -shift);
    else if (__builtin_mul_overflow(value, (int64_t)1 << shift, out))
        return false;
    return true;
}

static bool parse_numbers(const unsigned char *bytes, struct chrony_tracking *out)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        int64_t value;
        if (!number(get(bytes, NUMBERS_AT + 4 * i, 4), numbers[i].unit, &value) ||
            value == INT64_MIN || (value < 0 && !numbers[i].is_signed))
            return false;
        memcpy((char *)out + numbers[i].offset, &value, sizeof(value));
    }
    return true;
}

static bool parse_time(const unsigned char *bytes, int64_t *ns)
{
    uint32_t high = get(bytes, 56, 4), rest = get(bytes, 64, 4);
    uint64_t sec = get(bytes, 60, 4);
    if (high != NO_HIGH_SECONDS)
        sec |= (uint64_t)high << 32;
    if (sec > SEC_MAX || rest >= SEC_NS)
        return false;
    *ns = (int64_t)(sec * SEC_NS + rest);
    return true;
}

/* Does the head say that this is an answer to our question, and that chronyd has granted it? */
static int parse_head(const unsigned char *bytes, size_t length, uint32_t sequence)
{
    if (length < HEAD_SIZE || bytes[1] != TYPE_REPLY || bytes[2] != 0 || bytes[3] != 0 ||
        get(bytes, 4, 2) != TRACKING_REQUEST)
        return TIMEBASE_E_FORMAT;
    if (get(bytes, 16, 4) != sequence)
        return TIMEBASE_E_BUSY;
    uint32_t status = get(bytes, 8, 2);
    if (bytes[0] != VERSION || status == STATUS_BAD_VERSION)
        return TIMEBASE_E_UNSUPPORTED;
    if (status == STATUS_UNAUTHORISED || status == STATUS_NO_ACCESS)
        return TIMEBASE_E_PERMISSION;
    return status == STATUS_OK ? TIMEBASE_OK : TIMEBASE_E_REFERENCE;
}

int chrony_parse(const unsigned char *bytes, size_t length, uint32_t sequence,
                 struct chrony_tracking *out)
{
    struct chrony_tracking parsed = {0};
    int error = parse_head(bytes, length, sequence);
    if (error != TIMEBASE_OK)
        return error;
    if (length != CHRONY_MESSAGE_SIZE || get(bytes, 6, 2) != TRACKING_REPLY)
        return TIMEBASE_E_FORMAT;
    uint32_t leap = get(bytes, 54, 2);
    parsed.reference_id = get(bytes, 28, 4);
    parsed.stratum = get(bytes, 52, 2);
    parsed.leap = (enum chrony_leap)leap;
    if (parsed.stratum > STRATUM_MAX || leap > CHRONY_LEAP_UNSYNCHRONISED ||
        !parse_time(bytes, &parsed.reference_time_ns) || !parse_numbers(bytes, &parsed))
        return TIMEBASE_E_FORMAT;
    *out = parsed;
    return TIMEBASE_OK;
}
