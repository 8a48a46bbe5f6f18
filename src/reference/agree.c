/* SPDX-License-Identifier: MIT */
#include "agree.h"

/* Ends of intervals stop here: half of 2^63 leaves room for sums. */
#define END_MAX ((int64_t)1 << 61)

struct range {
    int64_t low_ns, high_ns;
};

static uint64_t grown_ns(const struct reference_claim *claim, int64_t mono_ns, uint32_t drift_ppb)
{
    uint64_t age_ns = mono_ns > claim->mono_ns ? (uint64_t)mono_ns - (uint64_t)claim->mono_ns : 0;
    uint64_t ppb = (uint64_t)claim->growth_ppb + drift_ppb;
    uint64_t sec = age_ns / 1000000000, rest_ns = age_ns % 1000000000, growth;
    if (__builtin_mul_overflow(sec, ppb, &growth) ||
        __builtin_add_overflow(growth, rest_ns * ppb / 1000000000 + 1, &growth) ||
        __builtin_add_overflow(growth, claim->error_ns, &growth) || growth > (uint64_t)END_MAX)
        return (uint64_t)END_MAX;
    return growth;
}

static struct range range_of(const struct reference_claim *claim, int64_t mono_ns,
                             uint32_t drift_ppb)
{
    int64_t error_ns = (int64_t)grown_ns(claim, mono_ns, drift_ppb);
    int64_t offset_ns = claim->offset_ns;
    offset_ns = offset_ns > END_MAX ? END_MAX : offset_ns < -END_MAX ? -END_MAX : offset_ns;
    struct range range = {offset_ns - error_ns, offset_ns + error_ns};
    return range;
}

/* How many ranges hold this point, and where the first of them ends. */
static unsigned holders(const struct range *ranges, unsigned count, int64_t point_ns,
                        int64_t *end_ns)
{
    unsigned holding = 0;
    *end_ns = INT64_MAX;
    for (unsigned i = 0; i < count; i++) {
        if (point_ns < ranges[i].low_ns || point_ns > ranges[i].high_ns)
            continue;
        holding++;
        *end_ns = ranges[i].high_ns < *end_ns ? ranges[i].high_ns : *end_ns;
    }
    return holding;
}

/* Where most overlap; if that is in several places, from the first to the last of them. */
static void find_overlap(const struct range *ranges, unsigned count, struct agreement *out)
{
    for (unsigned i = 0; i < count; i++) {
        int64_t end_ns;
        unsigned holding = holders(ranges, count, ranges[i].low_ns, &end_ns);
        if (holding < out->agreeing)
            continue;
        bool is_more = holding > out->agreeing;
        out->agreeing = holding;
        if (is_more || ranges[i].low_ns < out->low_ns)
            out->low_ns = ranges[i].low_ns;
        if (is_more || end_ns > out->high_ns)
            out->high_ns = end_ns;
    }
}

struct agreement agree(const struct reference_claim *claims, unsigned count, int64_t mono_ns,
                       uint32_t drift_ppb)
{
    struct range ranges[AGREE_CLAIMS];
    struct agreement out = {0};
    out.count = count < AGREE_CLAIMS ? count : AGREE_CLAIMS;
    for (unsigned i = 0; i < out.count; i++)
        ranges[i] = range_of(&claims[i], mono_ns, drift_ppb);
    find_overlap(ranges, out.count, &out);
    out.is_reached = out.agreeing * 2 > out.count;
    out.is_synchronized = out.is_reached;
    for (unsigned i = 0; i < out.count && out.is_reached; i++) {
        if (ranges[i].high_ns < out.low_ns || ranges[i].low_ns > out.high_ns)
            out.liars |= (uint64_t)1 << i;
        else
            out.is_synchronized = out.is_synchronized && claims[i].is_synchronized;
    }
    return out;
}
