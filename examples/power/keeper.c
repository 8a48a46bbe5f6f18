/* SPDX-License-Identifier: MIT */
/*
 * keeper FILE: keeps the fields of systemcfg in a file, for programs that cannot be compiled again.
 * With the file in the place of the kernel's they find what they always did:
 *
 *     keeper /run/systemcfg &
 *     mount --bind /run/systemcfg /proc/powerpc/systemcfg        # /proc/ppc64 leads there
 *
 * The clock is the daemon's if there is one. A signal ends it; its readers then go on at the last
 * pace.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "systemcfg.h"

static struct systemcfg *make(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    /* Whoever maps a file maps whole pages, and may read the rest of the kernel's. */
    if (fd < 0 || ftruncate(fd, sysconf(_SC_PAGESIZE)) != 0)
        return MAP_FAILED;
    void *mapped = mmap(NULL, sizeof(struct systemcfg), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return mapped;
}

int main(int count, char **arguments)
{
    const struct timespec interval = {0, SYSTEMCFG_RENEWAL_NS};
    timebase_clock *clock;
    if (count != 2) {
        fprintf(stderr, "usage: %s FILE\n", arguments[0]);
        return 2;
    }
    struct systemcfg *kept = make(arguments[1]);
    if (kept == MAP_FAILED) {
        perror(arguments[1]);
        return 1;
    }
    timebase_clock_attach_or_default(&clock, NULL);
    for (;;) {
        systemcfg_renew(kept, clock);
        nanosleep(&interval, NULL);
    }
}
