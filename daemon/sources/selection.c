/* SPDX-License-Identifier: MIT */
/*
 * Each claim that votes is a closed interval, so two edges. Going up through the edges, the number
 * of intervals that one is in rises at a lower edge and falls after an upper one; where it first
 * reaches the number that is wanted, the range begins. The way down finds its end.
 */
#include "selection.h"

#include <stddef.h>

struct extent {
    int64_t low_ns, high_ns;
};

struct edges {
    int64_t low_ns[SELECTION_CLAIMS]; /* each sorted upwards */
    int64_t high_ns[SELECTION_CLAIMS];
    unsigned count;
};

/* At most SELECTION_CLAIMS numbers, nearly none: by insertion. */
static void insert(int64_t *sorted, unsigned count, int64_t value)
{
    unsigned place = count;
    for (; place > 0 && sorted[place - 1] > value; place--)
        sorted[place] = sorted[place - 1];
    sorted[place] = value;
}

static void add_range(struct edges *edges, const struct extent *range)
{
    insert(edges->low_ns, edges->count, range->low_ns);
    insert(edges->high_ns, edges->count, range->high_ns);
    edges->count++;
}

/*
 * The first point, from below, that `wanted` ranges contain. At the i-th lower edge, i + 1 ranges
 * have begun; those whose upper edge is lower have ended. (Touching ranges have a point in common.)
 */
static bool first_point(const struct edges *edges, unsigned wanted, int64_t *point_ns)
{
    unsigned ended = 0;
    for (unsigned i = 0; i < edges->count; i++) {
        while (ended < edges->count && edges->high_ns[ended] < edges->low_ns[i])
            ended++;
        if (i + 1 - ended >= wanted) {
            *point_ns = edges->low_ns[i];
            return true;
        }
    }
    return false;
}

/* The same from above. */
static bool last_point(const struct edges *edges, unsigned wanted, int64_t *point_ns)
{
    unsigned begun = edges->count;
    for (unsigned i = edges->count; i-- > 0;) {
        while (begun > 0 && edges->low_ns[begun - 1] > edges->high_ns[i])
            begun--;
        if (begun - i >= wanted) {
            *point_ns = edges->high_ns[i];
            return true;
        }
    }
    return false;
}

/* With as few falsetickers as will do, but fewer than half. */
static bool find_range(const struct edges *edges, struct extent *range)
{
    for (unsigned falsetickers = 0; 2 * falsetickers < edges->count; falsetickers++) {
        unsigned wanted = edges->count - falsetickers;
        if (first_point(edges, wanted, &range->low_ns) &&
            last_point(edges, wanted, &range->high_ns))
            return true;
    }
    return false;
}

static bool knows_something(const struct claim *claim)
{
    return claim->error_ns != UINT64_MAX;
}

/* Where anybody follows UTC, the others have no vote. */
static bool is_any_bound(const struct claim *claims, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (claims[i].is_synchronized && knows_something(&claims[i]))
            return true;
    return false;
}

static bool has_common_point(const struct extent *a, const struct extent *b)
{
    return a->low_ns <= b->high_ns && b->low_ns <= a->high_ns;
}

struct selection selection_of(const struct claim *claims, unsigned count, int64_t mono_ns,
                              uint32_t drift_ppb)
{
    struct selection agreement = {.low_ns = INT64_MIN, .high_ns = INT64_MAX};
    struct extent ranges[SELECTION_CLAIMS], common;
    bool votes[SELECTION_CLAIMS];
    struct edges edges = {.count = 0};
    count = count < SELECTION_CLAIMS ? count : SELECTION_CLAIMS;
    bool is_bound = is_any_bound(claims, count);
    for (unsigned i = 0; i < count; i++) {
        claim_ends(&claims[i], mono_ns, drift_ppb, &ranges[i].low_ns, &ranges[i].high_ns);
        votes[i] = knows_something(&claims[i]) && (claims[i].is_synchronized || !is_bound);
        if (votes[i])
            add_range(&edges, &ranges[i]);
    }
    agreement.count = edges.count;
    if (!find_range(&edges, &common))
        return agreement;
    agreement.is_reached = true;
    agreement.is_synchronized = is_bound;
    agreement.low_ns = common.low_ns;
    agreement.high_ns = common.high_ns;
    for (unsigned i = 0; i < count; i++) {
        bool agrees = !knows_something(&claims[i]) || has_common_point(&ranges[i], &common);
        agreement.agreeing += agrees && votes[i];
        agreement.falsetickers |= (uint64_t)!agrees << i;
    }
    return agreement;
}
