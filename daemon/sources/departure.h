/* SPDX-License-Identifier: MIT */
/*
 * departure: how fast CLOCK_REALTIME leaves UTC, measured between two answers of a source that has
 * a clock of its own, or knows how it steers CLOCK_REALTIME. Lines go on at the pace of the last
 * samples, so they leave UTC as fast. This is a part of their bound's dispersion. Pure.
 */
#ifndef SOURCES_DEPARTURE_H
#define SOURCES_DEPARTURE_H

#include "claim.h"
#include "clock/reference/slew.h"

struct departure {
    bool has_answer;
    struct claim claim; /* of the last answer */
    int64_t rate_ppb;   /* as the kernel told then */
    bool is_rate_known;
    uint32_t ppb; /* of that answer against the one before: at most */
};

/*
 * Takes an answer in, and the kernel's word of the same moment. Sets what the claim says of paces:
 *
 *     |offset's change| + both readings' errors     over the time between,
 *                                                   + the change of the rate that the kernel tells
 *
 * or, where that says less, and where there was no answer before, slew->most_ppb.
 */
void departure_take(struct departure *departure, struct claim *claim, const struct slew *slew);

#endif
