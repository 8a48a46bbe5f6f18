/* SPDX-License-Identifier: MIT */
/* A library of the program's own that changes one of the functions, and leaves the others. */
#include <sys/time.h>

extern const int other_sec;
const int other_sec = 1234567;

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    (void)zone;
    *out = (struct timeval){.tv_sec = other_sec};
    return 0;
}
