/* SPDX-License-Identifier: MIT */
/*
 * page_file: the page where others find it.
 *
 *     page_file_open     the folder, made if missing; the lock
 *     page_file_adopt    the page of the daemon before, if it is good
 *     page_file_store    after each publication; makes the file if there is none, or it was harmed
 *     page_file_close    the page stays: readers go on with it in holdover
 *
 * The file is made aside and renamed, never truncated, and opened without following links. The
 * page itself lives in the daemon's memory (daemon/store.h).
 */
#ifndef DAEMON_PAGE_FILE_H
#define DAEMON_PAGE_FILE_H

#include <stdbool.h>

#include <timebase/page.h>

#include "lock.h"
#include "config/problem.h"
#include "config/settings.h"

struct page_file {
    char path[SETTINGS_PATH];
    char folder[SETTINGS_PATH];
    char lock_name[SETTINGS_PATH];  /* within the folder */
    char aside_name[SETTINGS_PATH]; /* likewise */
    int folder_fd;                  /* -1: not open */
    int fd;                         /* the page; -1: there is none of ours that is whole */
    bool is_folder_made;            /* by us */
    struct lock lock;
    struct timebase_page image; /* what the file holds, unless somebody else wrote to it */
    const void *behind;         /* and behind the page this */
    size_t behind_size;         /* 0: nothing */
};

/* What page_file_store() found and did. */
enum page_file_event {
    PAGE_FILE_AS_EXPECTED,
    PAGE_FILE_MADE,     /* the first of all, or the first after one that could not be written */
    PAGE_FILE_SHRUNK,   /* or grown: another size */
    PAGE_FILE_REPLACED, /* another file has its name, or none */
    PAGE_FILE_CHANGED,  /* others wrote to it */
};

/*
 * Returns 0, or -1 and *problem. The folder is 0755 if it is made here. Between folder and lock
 * the process becomes this user (privileges.h), "" for none.
 */
int page_file_open(struct page_file *file, const char *path, const char *user,
                   struct problem *problem);

/*
 * The page that is there: 0 and *page if it is whole, ours and of this boot; else -1, and *problem
 * says why it is not taken up. It is not touched.
 */
int page_file_adopt(struct page_file *file, struct timebase_page *page, struct problem *problem);

/* Drop the page that is there: the next one is made aside. Readers keep what it shows. */
void page_file_disown(struct page_file *file);

/*
 * A file of this page has these bytes behind it: the corrections by CPU (cpus_table.h). The caller
 * keeps them, and what is in the file is what they are.
 */
void page_file_lay_behind(struct page_file *file, const void *bytes, size_t size);

/* So many bytes behind the page that is there, if it is ours and of this boot. */
bool page_file_read_behind(const struct page_file *file, void *bytes, size_t size);

/* These of them are others now. Returns 0, also if the file is still to be made; or -1 and *problem,
 * and the next publication makes it anew. */
int page_file_store_behind(struct page_file *file, size_t at, size_t size, struct problem *problem);

/*
 * Bring a publication to the file. Returns 0 and what had happened to the file (it is then
 * repaired), or -1 and *problem; the next call makes the file anew.
 */
int page_file_store(struct page_file *file, const struct timebase_page *page,
                    enum page_file_event *event, struct problem *problem);

/* Store the counts alone. If that fails, the next publication has them, in a file made anew. */
void page_file_store_counts(struct page_file *file, const struct timebase_page *page);

void page_file_close(struct page_file *file);

/* In words, for the log. */
const char *page_file_event_text(enum page_file_event event);

#endif
