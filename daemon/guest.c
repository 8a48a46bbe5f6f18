/* SPDX-License-Identifier: MIT */
#include "guest.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "clock/counter/probe.h"

#define DEVICE_TREE "/proc/device-tree"
#define DMI "/sys/class/dmi/id/"

static bool exists(const char *path)
{
    char full[256];
    return counter_full_path(path, full, sizeof(full)) == 0 && access(full, F_OK) == 0;
}

/* Oracle's and Microsoft's names are not among them: they stand on machines of their own, too. */
static bool names_a_hypervisor(const char *text)
{
    static const char *const beginnings[] = {
        "Alibaba Cloud", "Amazon EC2", "Apple Virtualization", "BHYVE", "Bochs", "Google Compute",
        "KVM", "KubeVirt", "OpenStack", "Parallels", "QEMU", "VMW", "VMware", "Virtual Machine",
        "VirtualBox", "Xen", "innotek GmbH"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static bool is_in_dmi(void)
{
    static const char *const files[] = {DMI "sys_vendor", DMI "product_name", DMI "board_vendor",
                                        DMI "bios_vendor"};
    char text[64];
    bool is_metal = counter_read_line(DMI "product_name", text, sizeof(text)) == 0 &&
        strstr(text, ".metal") != NULL; /* Amazon's machines without a hypervisor */
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !is_metal; i++)
        if (counter_read_line(files[i], text, sizeof(text)) == 0 && names_a_hypervisor(text))
            return true;
    return false;
}

/* Texts one after the other, each with its end: "linux,dummy-virt\0". */
static bool is_in_device_tree(void)
{
    static const char *const machines[] = {"linux,dummy-virt", "qemu,pseries", "riscv-virtio"};
    char text[256];
    if (exists(DEVICE_TREE "/hypervisor") || exists(DEVICE_TREE "/ibm,partition-name"))
        return true;
    long got = counter_read_bytes(DEVICE_TREE "/compatible", text, sizeof(text) - 1);
    const char *end = text + (got > 0 ? got : 0);
    text[end - text] = '\0';
    for (const char *at = text; at < end; at += strlen(at) + 1)
        for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
            if (strcmp(at, machines[i]) == 0)
                return true;
    return false;
}

static bool has_key(const char *path, const char *key)
{
    struct counter_stream stream;
    if (counter_stream_open(&stream, path) != 0)
        return false;
    bool is_found = counter_stream_find(&stream, key);
    counter_stream_close(&stream);
    return is_found;
}

static bool has_flag(void)
{
    struct counter_stream stream;
    char word[32];
    bool is_found = false;
    if (counter_stream_open(&stream, "/proc/cpuinfo") != 0)
        return false;
    if (counter_stream_find(&stream, "flags"))
        while (!is_found && counter_stream_word(&stream, word, sizeof(word)) > 0)
            is_found = strcmp(word, "hypervisor") == 0;
    counter_stream_close(&stream);
    return is_found;
}

int guest_judge(int hypervisor)
{
    if (hypervisor >= 0)
        return hypervisor;
    bool is_guest = exists("/dev/vmclock0") || exists("/sys/hypervisor/type") || has_flag() ||
        is_in_device_tree() || is_in_dmi() || has_key("/proc/sysinfo", "VM00 Control Program");
    return is_guest ? 1 : -1;
}
