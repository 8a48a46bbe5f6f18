/* SPDX-License-Identifier: MIT */
/*
 * in_a_row: is what is far from what was believed believed? If so many in a row are, all on one side:
 * something has changed for good, and one that was held up is alone. The nearest of them counts, as
 * the others may have been held up besides. Pure.
 */
#ifndef LEARN_IN_A_ROW_H
#define LEARN_IN_A_ROW_H

enum { IN_A_ROW_USUALLY = 4 };

struct in_a_row {
    int count; /* of the last ones, far off on one side */
    double least;
};

static inline void in_a_row_near(struct in_a_row *row)
{
    row->count = 0;
}

/* By how much to change what is believed: 0, or the least of so many. `wrong` is not 0. */
static inline double in_a_row_far(struct in_a_row *row, double wrong, int many)
{
    int is_other_side = (wrong < 0) != (row->least < 0);
    if (row->count == 0 || is_other_side)
        *row = (struct in_a_row){0, wrong};
    if (wrong < 0 ? wrong > row->least : wrong < row->least)
        row->least = wrong;
    if (++row->count < many)
        return 0;
    row->count = 0;
    return row->least;
}

#endif
