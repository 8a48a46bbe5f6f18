/* SPDX-License-Identifier: MIT
 *
 * DPDK's delay loop, from its own library. It takes whole microseconds. The loop needs the
 * counter's frequency, which DPDK learns in rte_eal_init(): without huge pages, devices or shared
 * files.
 */
#include "peer.h"

#include <stdio.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>

static const char *open_eal(int cpu)
{
    char lcore[32];
    char *arguments[] = {
        "waits", "--no-huge", "--no-pci", "--no-telemetry",     "--no-shconf", "-m",
        "16",    "--lcores",  lcore,      "--log-level=*:error"};

    snprintf(lcore, sizeof lcore, "0@%d", cpu);
    if (rte_eal_init((int)(sizeof arguments / sizeof *arguments), arguments) < 0)
        return rte_strerror(rte_errno);
    return NULL;
}

static void delay(uint64_t ns)
{
    rte_delay_us_block((unsigned)(ns / 1000));
}

static const struct peer peers[] = {
    {"dpdk_block", delay, 1000, NULL},
    {NULL, NULL, 0, NULL},
};

const struct group dpdk_group = {"DPDK", open_eal, peers};
