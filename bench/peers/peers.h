/* SPDX-License-Identifier: MIT
 *
 * What each language's library shows to the driver. A peer is a number from 0; a language's peers
 * end where its peer_name is NULL. The loop over the calls is inside peer_run, so no call pays for
 * crossing a language border; the border is crossed once a batch, and the driver measures that
 * crossing and subtracts it.
 */
#ifndef PEERS_H
#define PEERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name of the peer, as in catalogue.py; NULL past the last one. */
const char *cxx_peer_name(uint32_t peer);
const char *rust_peer_name(uint32_t peer);
char *go_peer_name(uint32_t peer);

/* Makes `calls` readings. Returns how many it made: 0 for an unknown peer or one that cannot run.
 */
uint64_t cxx_peer_run(uint32_t peer, uint64_t calls);
uint64_t rust_peer_run(uint32_t peer, uint64_t calls);
uint64_t go_peer_run(uint32_t peer, uint64_t calls);

/* 1 if the peer gave up the counter in this process and reads the kernel's clock instead, so that
 * its row says so. */
int32_t cxx_peer_fell_back(uint32_t peer);
int32_t rust_peer_fell_back(uint32_t peer);
int32_t go_peer_fell_back(uint32_t peer);

#ifdef __cplusplus
}
#endif
#endif
