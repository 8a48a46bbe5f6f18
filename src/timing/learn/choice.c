/* SPDX-License-Identifier: MIT */
#include "choice.h"

#include "timing/approach/approach.h"

#include "quantile.h"

#define LEAST_TICKS 0.25
/* So many times better, by each quantile: they follow few rehearsals and are uncertain accordingly.
 */
static const double clearly[CHOICE_QUANTILES] = {1.5, 1.25, 1.25};
#define QUIETLY 1.9

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

/* Four trials of 256 that a host held up are no tail: what was begun with fades over hundreds of waits. */
#define MOST_OF_FIRST 8

void choice_init(struct choice *choice, enum choice_way way, const double *errors, int count)
{
    double *known = choice->error_ticks[way];
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        double error = quantile_at(errors, count, steps[i].q);
        known[i] = error > LEAST_TICKS ? error : LEAST_TICKS;
        known[i] = known[i] < MOST_OF_FIRST * known[0] ? known[i] : MOST_OF_FIRST * known[0];
    }
}

APPROACH_WAY void choice_learn(struct choice *choice, enum choice_way way, double error_ticks)
{
    double size = error_ticks < 0 ? -error_ticks : error_ticks;
    for (int i = 0; i < CHOICE_QUANTILES; i++) {
        double *known = &choice->error_ticks[way][i];
        *known *= size > *known ? steps[i].rise : steps[i].fall;
        *known = *known > LEAST_TICKS ? *known : LEAST_TICKS;
    }
}

void choice_fade(struct choice *choice, double share)
{
    for (int i = 0; i < CHOICE_QUANTILES; i++)
        choice->error_ticks[CHOICE_EXACT][i] *= 1 - share;
}

APPROACH_WAY int choice_is_exact(const struct choice *choice, int steady, double doubt)
{
    const double *exact = choice->error_ticks[CHOICE_EXACT];
    const double *loop = choice->error_ticks[CHOICE_LOOP];
    for (int i = 0; i < (steady ? CHOICE_QUANTILES : CHOICE_QUANTILES - 1); i++)
        if (exact[i] * clearly[i] * doubt > loop[i])
            return 0;
    return 1;
}

int choice_is_quiet(const struct choice *choice)
{
    const double *exact = choice->error_ticks[CHOICE_EXACT];
    const double *loop = choice->error_ticks[CHOICE_LOOP];
    for (int i = 0; i < CHOICE_QUANTILES - 1; i++)
        if (exact[i] * QUIETLY > loop[i])
            return 0;
    return 1;
}
