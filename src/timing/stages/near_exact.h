/* SPDX-License-Identifier: MIT */
/*
 * near_exact: an exact wait for a near target, at its call, without the stages. All that such a wait
 * has to know is there from those before it. So it is aimed and begun, and nothing else; where the
 * counter's steps are fine, or afresh, it rehearses meanwhile (near_rehearsal.h). It is counted as others
 * are, before the next one; and learnt from, if that one has the time.
 *
 * Only behind another wait, afresh (near_afresh.h) or loaded (near_loads.h), and while exact waits
 * are better; by code that is not near it needs more time, but for a trial now and then.
 *
 * Where a single poll is enough, as the counter's steps are fine, up to 3 us ahead; one in eight
 * that has the time to rehearse takes the stages, which see to what is not looked at here. Where
 * the counter steps, up to 0.9 us, so that none would rehearse; its polls have to agree as those of
 * others have, or it ends by the loop.
 */
#ifndef STAGES_NEAR_EXACT_H
#define STAGES_NEAR_EXACT_H

#include "timing/hurry/hurry_loop.h"

#include "near_afresh.h"
#include "near_loads.h"

/* At the end of a calibration. */
void near_exact_init(struct waiter *waiter);

/* Behind waits by the loop most of its code is near, but not all. */
static inline struct waiter_need *near_exact_need(struct waiter *waiter, uint64_t ticks,
                                                  enum event_way way)
{
    struct waiter_learnt *learnt = &waiter->learnt;
    int is_hot = waiter_is_exact_hot(waiter, ticks);
    return is_hot ? &learnt->near_exact_needs[way] : &learnt->near_exact_cold;
}

/*
 * Is one that is too near for code that is not tried as if that were near? Where the counter's
 * steps are fine by what its bits happen to be, as delays by the loop count no use.
 */
static inline int near_exact_has_turn_to_try(const struct waiter *waiter, uint64_t now)
{
    enum { MANY = 256, TICKS = 16, EIGHT = 8 };
    return waiter_has_vernier(waiter) ? waiter->uses % MANY == 0 : now / TICKS % EIGHT == 0;
}

/* Of one that ends behind its call, or calls; `left` is short enough. */
int near_exact_is_possible(const struct hurried *asked, int64_t left);

static inline int near_exact_is_due_afresh(struct hurried *asked, int64_t left)
{
    if (near_afresh_has_time(asked)) {
        asked->is_afresh = near_afresh_is_possible(asked);
        return asked->is_afresh;
    }
    return left >= asked->waiter->learnt.load_least_ticks &&
        !caution_takes_turn(&asked->waiter->far_code) && near_loads_in_time(asked, left);
}

/* Is it left to the stages, as one in eight? */
int near_exact_is_for_stages(struct waiter *waiter, int64_t left);

/*
 * Where the counter steps the stages have what is farther; unless they are believed to be far away
 * themselves: then the loop would have it, and those behind it, as loops bring no stage near.
 */
int near_exact_is_for_loop(const struct hurried *asked, int64_t left);

/* Of a wait whose waiter is known, and when it was entered. */
static inline __attribute__((always_inline)) int near_exact_is_due(struct hurried *asked)
{
    struct waiter *waiter = asked->waiter;
    int64_t left = (int64_t)(asked->ticks - asked->entered_ticks);
    int ends_well = asked->frame != NULL || asked->function != NULL;
    if (!hurry_is_hot(waiter, asked->entered_ticks))
        return ends_well && near_exact_is_due_afresh(asked, left);
    int is_near = left < waiter->learnt.near_exact_ticks || near_exact_is_for_loop(asked, left);
    return is_near && ends_well &&
        !near_exact_is_for_stages(waiter, left) && near_exact_is_possible(asked, left);
}

/* Returns as a wait does; or APPROACH_ENDS_BEHIND: return this at once, to approach_from(). */
int near_exact(const struct hurried *asked);

#endif
