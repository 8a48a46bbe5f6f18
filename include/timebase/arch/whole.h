/* SPDX-License-Identifier: MIT */
/*
 * The remedy of Cell's Time Base erratum apart from the instruction, so that it can be fed faulty
 * reads on any processor.
 *
 * While the upper half of the Time Base takes the carry, MFTB may return the old upper half
 * with a lower half of zero, 2^32 ticks too little. Linux reads again while the lower half is zero
 * (CPU_FTR_CELL_TB_BUG), and so does this: a sound counter stays at zero for a tick in 2^32.
 */
#ifndef TIMEBASE_ARCH_WHOLE_H
#define TIMEBASE_ARCH_WHOLE_H

#include <stdint.h>

#include <timebase/attributes.h>

#define TIMEBASE_ARCH_READ_WHOLE(ticks, read)                                                      \
    do {                                                                                           \
        (ticks) = (read);                                                                          \
    } while (TIMEBASE_UNLIKELY((uint32_t)(ticks) == 0))

#endif
