/* SPDX-License-Identifier: MIT */
/*
 * online_list: has the kernel's list of CPUs that are online changed? It is looked at four times a
 * second. Opening the file costs more than reading it, so it stays open.
 */
#ifndef DAEMON_ONLINE_LIST_H
#define DAEMON_ONLINE_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct online_list {
    bool is_open;
    int fd;
    uint64_t digest; /* of what it said last */
};

/* Where there is no such file, it is looked for again each time; a list of zeroes is closed. */
void online_list_open(struct online_list *list);
void online_list_close(struct online_list *list);

/*
 * Does it say something else than at the last call, or than when it was opened? False for a file that
 * cannot be read, which is opened anew at the next call; true for one that was not open before.
 */
bool online_list_has_changed(struct online_list *list);

#endif
