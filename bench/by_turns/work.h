/* SPDX-License-Identifier: MIT */
/* What the program does between its trials. */
#ifndef BY_TURNS_WORK_H
#define BY_TURNS_WORK_H

extern void (*work)(void); /* between trials, */
extern int work_once;      /* ... or before each block */

/* By its name. */
void find_work(const char *name);

/* A program of its own, until it is ended. */
void walk_for_ever(void);

/* Of trials.c. */
void fail(const char *why);
double between(double least, double most);

#endif
