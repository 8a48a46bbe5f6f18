/* SPDX-License-Identifier: MIT */
/*
 * settings: all that flags or a file can set, with ranges and defaults: a table of keys, and a
 * function for each kind of value. Both `--key=value` and `key = value` come here. Pure.
 */
#ifndef DAEMON_SETTINGS_H
#define DAEMON_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problem.h"

enum {
    SETTINGS_PATH = 256,   /* longest path, with its end */
    SETTINGS_SOURCES = 16, /* as many as selection_of() takes */
    SETTINGS_USER = 64,
};

/* Keys, in the order of the table. */
enum settings_key {
    SETTINGS_KEY_PAGE,
    SETTINGS_KEY_INTERVAL,
    SETTINGS_KEY_DRIFT,
    SETTINGS_KEY_REFERENCE,
    SETTINGS_KEY_TIMELINE,
    SETTINGS_KEY_TIMELINE_SIZE,
    SETTINGS_KEY_METRICS,
    SETTINGS_KEY_USER,
    SETTINGS_KEY_LOG_LEVEL,
    SETTINGS_KEY_NEVER_MOVED,
    SETTINGS_KEYS,
};

struct settings {
    char page[SETTINGS_PATH];
    uint64_t interval_ns;
    uint32_t drift_ppb;
    char sources[SETTINGS_SOURCES][SETTINGS_PATH];       /* "name" or "name:argument" */
    unsigned source_lines[SETTINGS_SOURCES];             /* of the file; 0: of a flag */
    unsigned source_count;                               /* 0: only the kernel's claim */
    char timeline[SETTINGS_PATH];                        /* empty: none */
    uint64_t timeline_bytes;
    char metrics[SETTINGS_PATH]; /* empty: none; "beside the page" is resolved by settings_finish */
    char user[SETTINGS_USER];    /* empty: no change of user */
    int log_level;               /* enum log_level */
    bool never_moved; /* the administrator's word: this guest is not migrated, stopped, restored */
    unsigned given;   /* bit k: key k was set by somebody */
    bool has_file;    /* the configuration was there and was read */
};

void settings_default(struct settings *settings);

/* The key of this name, which need not end after length; SETTINGS_KEYS: there is none. */
enum settings_key settings_key_named(const char *name, size_t length);
const char *settings_key_name(enum settings_key key);
bool settings_is_repeatable(enum settings_key key);

/*
 * Set one. The value need not end after length. Returns 0; or -1, *problem says what is wrong with
 * the value and what would be right, and nothing was set.
 */
int settings_set(struct settings *settings, enum settings_key key, const char *value, size_t length,
                 struct problem *problem);

/* The values that are given in `over` replace those of `settings`: flags replace the file's. */
void settings_overlay(struct settings *settings, const struct settings *over);

/*
 * Sets the default place of the metrics, which depends on the page, and checks that page, metrics
 * and timeline have different places. Returns 0 or -1 as above. Call it again if the page changes.
 */
int settings_finish(struct settings *settings, struct problem *problem);

#endif
