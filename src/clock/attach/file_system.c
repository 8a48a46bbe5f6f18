/* SPDX-License-Identifier: MIT */
#include "file_system.h"

#include <stdint.h>
#include <sys/vfs.h>

#define FUSE_MAGIC 0x65735546u /* FUSE_SUPER_MAGIC, which older headers lack */

bool file_system_is_kernels(int fd)
{
    struct statfs system;
    return fstatfs(fd, &system) == 0 && (uint32_t)system.f_type != FUSE_MAGIC;
}
