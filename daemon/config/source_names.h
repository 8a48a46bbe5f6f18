/* SPDX-License-Identifier: MIT */
/*
 * source_names: what a source may be called by the configuration's key `reference`. The driver of
 * each is in sources/drivers.c, in the same order. Null at the end.
 */
#ifndef DAEMON_SOURCE_NAMES_H
#define DAEMON_SOURCE_NAMES_H

extern const char *const source_names[];

#endif
