/* SPDX-License-Identifier: MIT */
/*
 * guest: is this machine a virtual one? On x86 CPUID says so. Elsewhere, and where CPUID is
 * switched off, no register does, and what the firmware and the kernel show is looked through:
 *
 *     /proc/cpuinfo               flag `hypervisor` (x86)
 *     /proc/device-tree           a node `hypervisor`, QEMU's and kvmtool's machines, PowerVM's
 *                                 partitions
 *     /proc/sysinfo               `VM00 Control Program` (s390x)
 *     /sys/class/dmi/id           names of hypervisors and of clouds
 *     /sys/hypervisor/type        Xen
 *     /dev/vmclock0
 */
#ifndef DAEMON_GUEST_H
#define DAEMON_GUEST_H

/*
 * 1 yes, 0 no, -1 nobody says. `hypervisor` is the processor's word, as in struct
 * counter_processor; what is known by it stays.
 */
int guest_judge(int hypervisor);

#endif
