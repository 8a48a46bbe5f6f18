/* SPDX-License-Identifier: MIT */
/*
 * daemon: the whole of it, from settings to the end. The folder holds
 *
 *     daemon*  wake  notify  privileges  lock    the loop and what a service needs
 *     config/                                    configuration file, command line, their values
 *     shared_clock  disturbance  cpus_skew       from samples to published lines
 *     witness_verdict  guest                     who would tell that the machine was moved
 *     sources/                                   claims about UTC, and the selection among them
 *     page_file  store  replace                  the page on disk
 *     timeline/                                  the timeline's writer
 *     metrics  report  log                       what is told
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "config/options.h"

/* Flags over the file over the defaults. Returns 0, or -1 and *problem. */
int daemon_settings(const struct options *options, struct settings *settings,
                    struct problem *problem);

/* Keeps the page until it is told to end. Returns the process' exit status. */
int daemon_run(const struct options *options, const struct settings *settings);

#endif
