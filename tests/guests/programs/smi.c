/* SPDX-License-Identifier: MIT */
/*
 * Has the firmware interrupt this CPU, as laptops' and servers' firmware does by itself: the kernel
 * sees nothing of it but a counter that has gone on.
 *
 *     smi COUNT     prints "200 SMIs, each 900 to 10400 ticks"; on CPU 0, the others hang
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>

#include <timebase.h>

#include "affinity.h"

#define SMI_COMMAND_PORT 0xb2 /* of the chipset: a write to it makes an SMI */

int main(int count, char **arguments)
{
    uint64_t least = UINT64_MAX, most = 0;
    int smis = count == 2 ? atoi(arguments[1]) : 0;
    if (smis < 1) {
        fprintf(stderr, "usage: smi COUNT\n");
        return 2;
    }
    if (go_to(0) != 0 || iopl(3) != 0) {
        perror("smi");
        return 1;
    }
    for (int i = 0; i < smis; i++) {
        uint64_t before = timebase_ticks_ordered();
        outb(0, SMI_COMMAND_PORT);
        uint64_t took = timebase_ticks_ordered() - before;
        least = took < least ? took : least;
        most = took > most ? took : most;
    }
    printf("%d SMIs, each %" PRIu64 " to %" PRIu64 " ticks\n", smis, least, most);
    return 0;
}
