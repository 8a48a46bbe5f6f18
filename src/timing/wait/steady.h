/* SPDX-License-Identifier: MIT */
/*
 * steady: is the core steady enough for exact waits? An exact wait reads the counter some 0.4 us
 * before its event and relies on the speed of the core from there. If another thread, perhaps of
 * another virtual machine, shares the core, this is worse than polling to the end. So while most
 * exact waits are disturbed the waiter polls, and tries again after longer and longer rests.
 */
#ifndef WAIT_STEADY_H
#define WAIT_STEADY_H

struct steady {
    double disturbed; /* share of the last few exact waits; 0 to 1 */
    int rest;         /* so many more waits will poll */
    int next_rest;    /* and so many the next time; 0: STEADY_SHORTEST_REST */
};

enum {
    STEADY_MEMORY = 8, /* waits */
    STEADY_SHORTEST_REST = 16,
    STEADY_LONGEST_REST = 1024,
};

/* Shall the next wait be exact? Each call is one wait. */
int steady_enough(struct steady *steady);

/* What became of an exact wait. */
void steady_learn(struct steady *steady, int disturbed);

#endif
