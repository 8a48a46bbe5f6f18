/* SPDX-License-Identifier: MIT */
/*
 * notify: tells systemd by its datagram protocol (sd_notify(3)). Without NOTIFY_SOCKET nothing is
 * sent, which is no error.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include <stdint.h>

/*
 * "READY=1", "STATUS=...", lines separated by \n. A path or an abstract socket ("@name"). Never
 * waits. Returns 1 if it was sent, 0 if nobody listens, -1 if it could not be sent.
 */
int notify_send(const char *text);

/* Half of WATCHDOG_USEC in ns, if it is meant for this process; 0: no watchdog. */
uint64_t notify_watchdog_ns(void);

#endif
