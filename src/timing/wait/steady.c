/* SPDX-License-Identifier: MIT */
#include "steady.h"

#define TOO_MANY 0.5
#define FEW 0.1
#define AFTER_REST 0.4 /* close to too many: one or two more are */

int steady_enough(struct steady *steady)
{
    if (steady->rest == 0)
        return 1;
    steady->rest--;
    return 0;
}

static void rest(struct steady *steady)
{
    int next = steady->next_rest > 0 ? steady->next_rest : STEADY_SHORTEST_REST;
    steady->rest = next;
    steady->next_rest = next < STEADY_LONGEST_REST / 2 ? next * 2 : STEADY_LONGEST_REST;
    steady->disturbed = AFTER_REST;
}

void steady_learn(struct steady *steady, int disturbed)
{
    steady->disturbed += ((disturbed != 0) - steady->disturbed) / STEADY_MEMORY;
    if (steady->disturbed > TOO_MANY)
        rest(steady);
    else if (steady->disturbed < FEW)
        steady->next_rest = 0;
}
