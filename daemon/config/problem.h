/* SPDX-License-Identifier: MIT */
/* problem: says to people why something was refused: what, where, and what to do about it. */
#ifndef DAEMON_PROBLEM_H
#define DAEMON_PROBLEM_H

struct problem {
    char text[512]; /* without a full stop or a line's end */
};

/* Sets the text, and cuts it if it is too long. Returns -1, so that a function can return it. */
__attribute__((format(printf, 2, 3))) int problem_set(struct problem *problem, const char *format,
                                                      ...);

/*
 * "WHAT PATH: No such file or directory: what to do", from an errno. The error chooses the advice
 * (no rights, full, read-only).
 */
int problem_of_file(struct problem *problem, const char *what, const char *path, int error);

#endif
