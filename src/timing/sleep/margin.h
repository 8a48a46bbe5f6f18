/* SPDX-License-Identifier: MIT */
/*
 * margin: learns how much earlier than necessary to ask to be woken. Pure: no clock, no I/O, no
 * allocation; the same inputs give the same outputs.
 *
 *              sleep                     margin                lead
 *     |------------------------|--------------------------|------------|
 *                              asked   woken  <- latency             target
 *
 * The lead is the caller's: what the last approach and its preparation need. The margin is for
 * the kernel. A wake-up is late if its latency is longer than the margin; what is left of the
 * margin is spent polling.
 *
 * Quantile. The margin is to cover the share q of latencies. It is multiplied by e^(G q) after a
 * late wake-up and by e^(-G (1-q)) after any other: stochastic approximation of a quantile (Robbins
 * and Monro, 1951; in constant memory: "frugal streaming", Ma, Muthukrishnan and Sandler, 2013), on
 * the logarithm, so that a step is in proportion. It matters whether a latency is above or below
 * the margin, not how far: an outlier of 9 ms moves the margin by one step, as a latency that is 9
 * us too long does. And from
 *
 *     ln(last / first) = G (late - (1-q) samples)
 *
 * it follows, for every sequence of latencies, that the number of late wake-ups among n is (1-q) n
 * +/- ln(MAX / MIN) / G = 40, as long as the margin is within its range and no cap interferes. With
 * G = 1/4 and q = 0.995 one late wake-up raises the margin by 28 %, and a margin three times too
 * long takes 880 wake-ups to shrink.
 *
 * Cap. A wait may take the share s of the period, the mean time between the targets of sleeping
 * waits; or of its own length, if that is longer: a waiter that slept for 0.1 ms and now sleeps for
 * 1 ms would need forty waits to learn the period. What the kernel takes of it to put the thread to
 * sleep and to wake it up is told by the caller. Polled is, on average, margin - mean(min(latency,
 * margin)) + lead; so the margin is cut to s * period - sleep - lead above that mean. The cap does
 * not change the quantile that was learnt. If the lead alone takes more than the share, the margin
 * is MIN, and nearly all wake-ups are late.
 *
 * Skips and probes. A wait that is too short for the margin would be polled from its beginning. It
 * would give no sample, and a margin that is too long would never shrink. If polling all of the
 * wait exceeds the cap, it sleeps with as much margin as there is room for. Else it is skipped: it
 * polls. After 1 / (1-q) skips in a row one such wait, the probe, sleeps all the same, and its
 * sample counts for all of them. While probes are late they become rarer, down to a 64th.
 */
#ifndef SLEEP_MARGIN_H
#define SLEEP_MARGIN_H

#include <stdbool.h>
#include <stdint.h>

/* ns. The quantile, and the margin of each wait, are always within these. */
#define MARGIN_MIN_NS 1000
#define MARGIN_MAX_NS 20000000
/*
 * Before anything is known: generous. SCHED_FIFO wakes up within 5 to 50 us on an idle machine, and
 * within 100 on a virtual one. The cap cuts it after the first sample, and each sample shrinks it.
 */
#define MARGIN_START_NS 200000
/* A sleep shorter than this is not begun, ns. */
#define MARGIN_NAP_MIN_NS 2000

struct margin {
    double quantile;  /* q, (0, 1) */
    double cpu_share; /* s, (0, 1]; 1: no cap */
    double rise, fall;
    double wake_ns;    /* the quantile of latencies, as far as learnt */
    double sleep_ns;   /* CPU that a sleep and its wake-up take; < 0: not known */
    double mean_ns;    /* of min(latency, margin); < 0: no sample yet */
    double period_ns;  /* of targets; 0: not known */
    int64_t target_ns; /* the last one; INT64_MIN: none */
    int64_t left_ns;   /* to it, when its wait began */
    uint32_t skipped;  /* waits since the last sample that were too short for the margin */
    uint32_t rarity;   /* of probes: 1, 2, 4 ... 64 */
    uint64_t samples;
    uint64_t late; /* of the samples */
};

/* q = 0.995, s = 0.05, nothing learnt. */
void margin_init(struct margin *margin);

/* False, and nothing changed, if a number is out of its range. What was learnt stays. */
bool margin_set(struct margin *margin, double quantile, double cpu_share);

/* The margin of a wait that is long enough for it, ns. lead_ns >= 0. */
int64_t margin_ns(const struct margin *margin, int64_t lead_ns);

/*
 * A sleeping wait begins, left_ns before its target; targets are on one time scale, ns. Once for
 * each wait.
 */
void margin_begin(struct margin *margin, int64_t target_ns, int64_t left_ns);

/*
 * For a wait with left_ns to its target: the margin to sleep with, or -1, do not sleep but poll. A
 * sleep that it allows is at least MARGIN_NAP_MIN_NS long.
 */
int64_t margin_choose(struct margin *margin, int64_t left_ns, int64_t lead_ns);

/* What a sleep took of the CPU, as measured now and then. */
void margin_charge(struct margin *margin, int64_t sleep_ns);

/* The sleep ended latency_ns after the moment asked for, with this margin. */
void margin_observe(struct margin *margin, int64_t latency_ns, int64_t with_margin_ns);

#endif
