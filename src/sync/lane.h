/* SPDX-License-Identifier: MIT */
/*
 * lane: two CPUs throw readings of their counters to each other, and note in a range what follows
 * (skew.h). A header, because the reading, the pause and the end of patience differ between a thread
 * and the kernel module, and a call by pointer at each reading would widen the range.
 */
#ifndef SYNC_LANE_H
#define SYNC_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "skew.h"

enum { LANE_LOOKS_PER_CLOCK = 64, LANE_POLITE_TURN = 4, LANE_POLITE_LOOKS = 8 };

#define LANE_INLINE static inline __attribute__((always_inline))

/*
 * Each in a cache line of its own: what is thrown, and nothing else. The turn is raised when ticks
 * is new: release and acquire, for the reading behind it. The other side's answer comes before the
 * next throw; so ticks is nobody else's meanwhile, and no atomic, which has 32 bits at most on
 * some processors. `taken` is for the thrower alone.
 */
struct lane {
    uint32_t taken, turn;
    uint64_t ticks;
} __attribute__((aligned(128)));

/* How a side reads, pauses and sees that time is up: constants, so that no pointer is left. */
struct lane_player {
    uint64_t (*ticks)(void);
    void (*relax)(void);
    bool (*is_late)(const void *game);
};

/*
 * The other side looks at this cache line all along, so a store into it waits until the line is
 * here again. What was read before that is old when it arrives: two processors that are far apart
 * saw each other in nearly three times what it takes. An exchange has the line when it is done.
 */
LANE_INLINE void lane_take(struct lane *lane, uint32_t turn)
{
    (void)__atomic_exchange_n(&lane->taken, turn, __ATOMIC_ACQ_REL);
}

/* The counter is read after the lane before was seen (ordered), and before this one is (release).
 */
LANE_INLINE void lane_throw(const struct lane_player *player, struct lane *lane, uint32_t turn)
{
    lane_take(lane, turn);
    lane->ticks = player->ticks();
    __atomic_store_n(&lane->turn, turn, __ATOMIC_RELEASE);
}

/* False when time is up. */
LANE_INLINE bool lane_catch(const struct lane_player *player, const void *game,
                            const struct lane *lane, uint32_t turn, uint64_t *sent,
                            uint64_t *received)
{
    /*
     * Some turns let the other go on after a few looks: where both share a core, or the thread of
     * an emulator, these are the quickest; everywhere else the others are.
     */
    unsigned patience = turn % LANE_POLITE_TURN == 0 ? LANE_POLITE_LOOKS : LANE_LOOKS_PER_CLOCK;
    for (unsigned looks = 1; __atomic_load_n(&lane->turn, __ATOMIC_ACQUIRE) != turn; looks++) {
        if (looks % LANE_LOOKS_PER_CLOCK == 0 && player->is_late(game))
            return false;
        if (looks % patience == 0)
            player->relax();
    }
    *received = player->ticks();
    *sent = lane->ticks;
    return true;
}

/* Here throws first. Each side narrows one end of the range; false: not all rounds were played. */
LANE_INLINE bool lane_play_here(const struct lane_player *player, const void *game,
                                struct lane *here, const struct lane *there, uint32_t rounds,
                                struct skew_range *range)
{
    uint64_t sent, received;
    for (uint32_t turn = 1; turn <= rounds; turn++) {
        lane_throw(player, here, turn);
        if (!lane_catch(player, game, there, turn, &sent, &received))
            return false;
        skew_here(range, sent, received);
    }
    return true;
}

LANE_INLINE bool lane_play_there(const struct lane_player *player, const void *game,
                                 const struct lane *here, struct lane *there, uint32_t rounds,
                                 struct skew_range *range)
{
    uint64_t sent, received;
    for (uint32_t turn = 1; turn <= rounds; turn++) {
        if (!lane_catch(player, game, here, turn, &sent, &received))
            return false;
        skew_there(range, sent, received);
        lane_throw(player, there, turn);
    }
    return true;
}

#endif
