/* SPDX-License-Identifier: MIT */
/* folder: the segments of a timeline are files NNNNNNNN.tbl; other files in it are ignored. */
#ifndef TIMELINE_FOLDER_H
#define TIMELINE_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#define SEGMENT_NAME_SIZE 13
#define SEGMENT_NUMBER_MAX 99999999

struct folder_summary {
    uint32_t count, oldest, newest;
    uint64_t size; /* of all segments, bytes */
};

/* Descriptor of a folder, or TIMEBASE_E_NOT_FOUND, _PERMISSION, _FORMAT (no folder), _RESOURCE. */
int folder_open(const char *path);

int folder_summarise(int folder, struct folder_summary *summary);

/* Numbers in ascending order, to be freed. Returns 0 or TIMEBASE_E_RESOURCE. */
int folder_list(int folder, uint32_t **numbers, size_t *count);

void segment_name(uint32_t number, char name[SEGMENT_NAME_SIZE]);

/*
 * Descriptor of a segment's file, which is a plain file and no link; *size is its length. Else
 * TIMEBASE_E_NOT_FOUND, _PERMISSION, _FORMAT or _RESOURCE. flags: as of open(2).
 */
int segment_file_open(int folder, uint32_t number, int flags, uint64_t *size);

/* As much as there is, up to size: less at the end of the file. -1: it cannot be read. */
long segment_file_read(int fd, void *bytes, size_t size, uint64_t offset);

/* What an errno means here. */
int folder_error(int number);

#endif
