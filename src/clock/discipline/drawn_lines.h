/* SPDX-License-Identifier: MIT */
/*
 * drawn_lines: a plan as lines for readers, with all that they are promised: the bounds, the
 * probable errors, and for how long.
 */
#ifndef DISCIPLINE_DRAWN_LINES_H
#define DISCIPLINE_DRAWN_LINES_H

#include "discipline.h"

/* Sets lines and refresh_ticks of *output, whose plan is there. */
void drawn_lines(const struct discipline *discipline, const struct schedule *schedule,
                 struct discipline_output *output);

#endif
