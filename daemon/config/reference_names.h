/* SPDX-License-Identifier: MIT */
/*
 * reference_names: what a `reference` may be called in the configuration. The source of each is in
 * sources/drivers.c, in the same order. Null at the end.
 */
#ifndef DAEMON_REFERENCE_NAMES_H
#define DAEMON_REFERENCE_NAMES_H

extern const char *const reference_names[];

#endif
