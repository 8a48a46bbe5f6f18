/* SPDX-License-Identifier: MIT */
#include "tempo.h"

#include "timing/approach/approach.h"

#include "within.h"

#define MOST_TICKS 2 /* of one difference */
#define STEP_TICKS 6 /* if three that agree are further off, the core clock has changed */
#define AGREED_TICKS 4
#define GAIN (1.0 / 8)
#define MOST_TAIL_TICKS 4
#define TAIL_GAIN (1.0 / 64)

static void order(double *a, double *b)
{
    double low = least_of(*a, *b), high = most_of(*a, *b);
    *a = low;
    *b = high;
}

/* A network of nine, without a branch: those of other ways are predicted wrongly, and take 200 ns. */
static void sort_5(double v[TEMPO_RING])
{
    order(&v[0], &v[3]), order(&v[1], &v[4]);
    order(&v[0], &v[2]), order(&v[1], &v[3]);
    order(&v[0], &v[1]), order(&v[2], &v[4]);
    order(&v[1], &v[2]), order(&v[3], &v[4]);
    order(&v[2], &v[3]);
}

/* The middle one of the three of five that agree best, and by how much they do. */
APPROACH_WAY static double agreed(const double ring[TEMPO_RING], double *spread)
{
    double v[TEMPO_RING];
    for (int i = 0; i < TEMPO_RING; i++)
        v[i] = ring[i];
    sort_5(v);
    *spread = least_of(least_of(v[2] - v[0], v[3] - v[1]), v[4] - v[2]);
    return *spread == v[3] - v[1] ? v[2] : *spread == v[2] - v[0] ? v[1] : v[3];
}

void tempo_init(struct tempo *tempo, double cycle_ticks)
{
    tempo->cycle_ticks = cycle_ticks;
    tempo->count = 0;
    for (int i = 0; i < TEMPO_RING; i++)
        tempo->ring[i] = cycle_ticks;
}

APPROACH_WAY void tempo_learn(struct tempo *tempo, double ticks, double cycles, double bound_ticks)
{
    double believed = tempo->cycle_ticks, wrong = ticks - cycles * believed;
    wrong -= within(-bound_ticks, wrong, bound_ticks);
    tempo->ring[tempo->count++ % TEMPO_RING] = believed + wrong / cycles;
    double next = believed + within(-MOST_TICKS, wrong, MOST_TICKS) * GAIN / cycles;
    double spread, three = within(believed / 2, agreed(tempo->ring, &spread), believed * 2);
    double off = (three - next) * cycles;
    int is_step = (off > STEP_TICKS || off < -STEP_TICKS) && spread * cycles < AGREED_TICKS;
    tempo->cycle_ticks = is_step ? three : next;
}

/* Least mean squares, with the square of lengths that are spread evenly from 0 to the longest. */
APPROACH_WAY void tempo_learn_tail(struct tempo *tempo, struct tempo_tail *tail,
                                   double wrong_ticks, double run_cycles, double longest_cycles)
{
    double middle = longest_cycles / 2, square = longest_cycles * longest_cycles / 12;
    double wrong = within(-MOST_TAIL_TICKS, wrong_ticks, MOST_TAIL_TICKS);
    double longer = TAIL_GAIN * wrong * (run_cycles - middle) / square;
    double cycle = tempo->cycle_ticks + longer;
    double cycles = (tempo->cycle_ticks * tail->cycles - longer * middle) / cycle;
    if (cycles < tail->first_cycles / 2 || cycles > tail->first_cycles * 2)
        return;
    tempo->cycle_ticks = cycle;
    tail->cycles = cycles;
}
