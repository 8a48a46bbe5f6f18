/* SPDX-License-Identifier: MIT */
/*
 * witness: has this guest been migrated, or restored from a snapshot, since its lines were drawn?
 * Where the kernel's clock is made of the same counter, both stop together, and nothing inside the
 * guest shows it. The hypervisor's page, /dev/vmclock0, has numbers that then change. A reader
 * compares these numbers itself, and need not wait until the daemon has noticed.
 *
 *     witness_open(&witness, WITNESS_DEVICE)      once; harmless where there is no such device
 *     witness_read(&witness, &then)               with each copy of the daemon's page, before it
 *     witness_compare(&then, &now)                at each look-up: some loads, no system call
 *
 * What a verdict of WITNESS_MOVED means is the caller's matter: the lines are of another stretch of
 * time until the daemon has published a disruption. After WITNESS_UPDATING the next look tells.
 */
#ifndef ATTACH_WITNESS_H
#define ATTACH_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WITNESS_DEVICE "/dev/vmclock0"

/* What the page said. */
struct witness_mark {
    bool is_known;       /* else nothing is said, or an update does not end */
    uint64_t marker;     /* another after a migration */
    uint64_t generation; /* another after a restore; 0 where the page has none */
    uint8_t status;
};

struct witness {
    const unsigned char *page; /* mapped for reading; null: no witness */
};

enum witness_seen {
    WITNESS_SILENT, /* no page, or it cannot be read now */
    WITNESS_UNMOVED,
    WITNESS_MOVED,      /* the counter was disrupted since `then` */
    WITNESS_UPDATING,   /* the page is being written: the counter may have been */
    WITNESS_UNRELIABLE, /* the hypervisor says that its clock is */
};

/* Takes only a device that root owns: the mapping of a device cannot be cut short. */
void witness_open(struct witness *witness, const char *device);
void witness_close(struct witness *witness);

/* Never waits: a few attempts, if the page is being written. */
void witness_read(const struct witness *witness, struct witness_mark *mark);

/* Pure. A page that was known then and is not known now is being written. Its marker may be
 * changing, or only its time. */
enum witness_seen witness_compare(const struct witness_mark *then, const struct witness_mark *now);

/* From the bytes of a page that nobody writes, of WITNESS_PAGE_SIZE: for tests. */
enum { WITNESS_PAGE_SIZE = 4096 };
void witness_read_page(const unsigned char *page, struct witness_mark *mark);

#endif
