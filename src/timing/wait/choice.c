/* SPDX-License-Identifier: MIT */
#include "choice.h"

#include "quantile.h"

#define LEAST_TICKS 0.25
#define CLEARLY 1.25
#define FADE (1 - 1.0 / 512)

/* e^(G q) and e^(-G (1 - q)) for G = 1/4. */
static const struct {
    double q, rise, fall;
} steps[CHOICE_QUANTILES] = {
    {0.90, 1.2523227, 0.9753099}, {0.95, 1.2680821, 0.9875778}, {0.99, 1.2808225, 0.9975031}};

void choice_forget(struct choice *choice)
{
    for (int way = 0; way < CHOICE_WAYS; way++)
        for (int i = 0; i < CHOICE_QUANTILES; i++)
            choice->error_ticks[way][i] = way == CHOICE_LOOP ? LEAST_TICKS : __builtin_inf();
}

void choice_init(struct choice *choice, enum choice_way way, const double *errors, int count)
{
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        double error = quantile_at(errors, count, steps[i].q);
        choice->error_ticks[way][i] = error > LEAST_TICKS ? error : LEAST_TICKS;
    }
}

void choice_learn(struct choice *choice, enum choice_way way, double error_ticks)
{
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        double *known = &choice->error_ticks[way][i];
        *known *= error_ticks > *known ? steps[i].rise : steps[i].fall;
        *known = *known > LEAST_TICKS ? *known : LEAST_TICKS;
    }
}

void choice_fade(struct choice *choice)
{
    for (int way = CHOICE_EXACT; way < CHOICE_WAYS; way++)
        for (int i = 0; i < CHOICE_QUANTILES; i++)
            choice->error_ticks[way][i] *= FADE;
}

/*
 * An exact way has to be better by a quarter. The quantiles follow few rehearsals and are uncertain
 * accordingly: by luck alone, the least of several would often be below the loop's.
 */
int choice_wins(const struct choice *choice, enum choice_way way, int steady)
{
    const double *exact = choice->error_ticks[way], *loop = choice->error_ticks[CHOICE_LOOP];
    for (int i = 0; i < (steady ? CHOICE_QUANTILES : CHOICE_QUANTILES - 1); i++)
        if (exact[i] * CLEARLY > loop[i])
            return 0;
    return 1;
}

/* Of the ways that win over the loop, the one with the smallest p90, or p99 for a short tail. */
enum choice_way choice_best(const struct choice *choice, enum choice_way first, int steady)
{
    int judged = steady ? CHOICE_QUANTILES - 1 : 0;
    int best = CHOICE_LOOP;
    for (int way = first; way < CHOICE_WAYS; way++)
        if (choice_wins(choice, (enum choice_way)way, steady) &&
            (best == CHOICE_LOOP ||
             choice->error_ticks[way][judged] < choice->error_ticks[best][judged]))
            best = way;
    return (enum choice_way)best;
}
