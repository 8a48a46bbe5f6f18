/* SPDX-License-Identifier: MIT */
/* source_file: a file in the place of the device that a source reads. */
#ifndef TEST_SOURCE_FILE_H
#define TEST_SOURCE_FILE_H

#include <stdlib.h>
#include <unistd.h>

#include "daemon/sources/drivers.h"

static union source_context context;
static char path[] = "/tmp/timebase-source-XXXXXX";

static inline int make_file(void **state)
{
    int fd = mkstemp(path);
    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static inline int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

#endif
