/* SPDX-License-Identifier: MIT */
/* How far two CPUs are from each other, whatever their counters show. */
#ifndef GUEST_TRIP_H
#define GUEST_TRIP_H

#include <stdint.h>

/* The quickest way of a cache line from the one to the other and back, in ticks. */
uint64_t trip_ticks(int here, int there);

#endif
