/* SPDX-License-Identifier: MIT */
/*
 * The client's line has 14 fields, separated by commas (chrony's client.c, process_cmd_tracking):
 *
 *     reference id, its name or address, stratum, reference time, system time, last offset,
 *     RMS offset, frequency, residual frequency, skew, root delay, root dispersion,
 *     update interval, leap status
 *
 * The name is the one field whose text we have no use for.
 */
#include <string.h>

#include <timebase/error.h>

#include "chrony.h"
#include "decimal.h"

enum { FIELDS = 14, SECONDS = 9, PPM = 3, STRATUM_MAX = 16 };

/* Which numbers there are, where they go, and how many places their unit is below the client's. */
struct number {
    unsigned field;
    unsigned places;
    size_t offset; /* in struct chrony_tracking */
    bool is_signed;
};

#define TO(member) offsetof(struct chrony_tracking, member)
static const struct number numbers[] = {
    {3, SECONDS, TO(reference_time_ns), false},
    {4, SECONDS, TO(correction_ns), true},
    {5, SECONDS, TO(last_offset_ns), true},
    {6, SECONDS, TO(rms_offset_ns), false},
    {7, PPM, TO(frequency_ppb), true},
    {8, PPM, TO(residual_ppb), true},
    {9, PPM, TO(skew_ppb), false},
    {10, SECONDS, TO(root_delay_ns), false},
    {11, SECONDS, TO(root_dispersion_ns), false},
    {12, SECONDS, TO(update_interval_ns), false},
};

static bool split(const char *text, size_t length, struct decimal_field fields[FIELDS])
{
    struct decimal_field field;
    size_t count = 0;
    if (length == 0 || text[length - 1] != '\n')
        return false; /* cut off */
    length--;
    while (decimal_next(&text, &length, ',', &field)) {
        if (count == FIELDS)
            return false;
        fields[count++] = field;
    }
    return count == FIELDS;
}

/* Eight hexadecimal digits, as %08lX prints them. */
static bool parse_id(const struct decimal_field *field, uint32_t *id)
{
    static const char digits[] = "0123456789ABCDEF";
    *id = 0;
    for (size_t i = 0; i < field->length; i++) {
        const char *digit = memchr(digits, field->text[i], sizeof(digits) - 1);
        if (digit == NULL)
            return false;
        *id = *id << 4 | (uint32_t)(digit - digits);
    }
    return field->length == 8;
}

static bool parse_stratum(const struct decimal_field *field, unsigned *stratum)
{
    int64_t value;
    if (!decimal_parse(field->text, field->length, 0, &value) || value < 0 || value > STRATUM_MAX)
        return false;
    *stratum = (unsigned)value;
    return true;
}

static bool parse_leap(const struct decimal_field *field, enum chrony_leap *leap)
{
    static const char *const names[] = {
        [CHRONY_LEAP_NORMAL] = "Normal",
        [CHRONY_LEAP_INSERT] = "Insert second",
        [CHRONY_LEAP_DELETE] = "Delete second",
        [CHRONY_LEAP_UNSYNCHRONISED] = "Not synchronised",
    };
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == field->length && !memcmp(names[i], field->text, field->length)) {
            *leap = (enum chrony_leap)i;
            return true;
        }
    }
    return false;
}

static bool parse_numbers(const struct decimal_field *fields, struct chrony_tracking *out)
{
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const struct decimal_field *field = &fields[numbers[i].field];
        int64_t value;
        if (!decimal_parse(field->text, field->length, numbers[i].places, &value))
            return false;
        if (value == INT64_MIN || (value < 0 && !numbers[i].is_signed))
            return false;
        memcpy((char *)out + numbers[i].offset, &value, sizeof(value));
    }
    return true;
}

int chrony_parse(const char *text, size_t length, struct chrony_tracking *out)
{
    struct decimal_field fields[FIELDS];
    struct chrony_tracking parsed = {0};
    if (!split(text, length, fields) || !parse_id(&fields[0], &parsed.reference_id) ||
        !parse_stratum(&fields[2], &parsed.stratum) || !parse_numbers(fields, &parsed) ||
        !parse_leap(&fields[FIELDS - 1], &parsed.leap))
        return TIMEBASE_E_FORMAT;
    *out = parsed;
    return TIMEBASE_OK;
}
