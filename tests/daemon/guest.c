/* SPDX-License-Identifier: MIT */
/* Where no register says whether this is a virtual machine: what its firmware and kernel show. */
#include "cmocka_first.h"

#include "clock/counter/probe.h"
#include "daemon/guest.h"
#include "folder.h"

static char root[96];

/* The machine shows this file. */
static void show(const char *path, const char *bytes, size_t size)
{
    char full[256];
    snprintf(root, sizeof(root), "%s/machine", folder);
    snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* A machine that shows this file, and what was shown since the last one. */
static int judge(int hypervisor, const char *path, const char *bytes, size_t size)
{
    show(path, bytes, size);
    counter_set_root(root);
    int is_guest = guest_judge(hypervisor);
    counter_set_root("");
    remove_below(root);
    return is_guest;
}

static int shown(const char *path, const char *text)
{
    return judge(-1, path, text, strlen(text));
}

/* As the kernel shows a property of several texts. */
#define TREE(text) judge(-1, "/proc/device-tree/compatible", text, sizeof(text))

static void what_the_processor_says_stays(void **state)
{
    (void)state;
    assert_int_equal(judge(0, "/sys/class/dmi/id/sys_vendor", "QEMU\n", 5), 0);
    assert_int_equal(judge(1, "/proc/version", "x\n", 2), 1);
}

static void a_guest_is_told_by_its_device_tree(void **state)
{
    (void)state;
    assert_int_equal(shown("/proc/device-tree/hypervisor/compatible", "linux,kvm"), 1);
    assert_int_equal(shown("/proc/device-tree/ibm,partition-name", "lpar7"), 1);
    assert_int_equal(TREE("linux,dummy-virt"), 1);
    assert_int_equal(TREE("qemu,pseries\0IBM,pSeries"), 1);
    assert_int_equal(TREE("vendor,board\0riscv-virtio"), 1);
}

static void a_guest_is_told_by_its_firmware_or_kernel(void **state)
{
    (void)state;
    assert_int_equal(shown("/sys/class/dmi/id/sys_vendor", "QEMU\n"), 1);
    assert_int_equal(shown("/sys/class/dmi/id/sys_vendor", "VMware, Inc.\n"), 1);
    assert_int_equal(shown("/sys/class/dmi/id/product_name", "KVM Virtual Machine\n"), 1);
    assert_int_equal(shown("/sys/class/dmi/id/product_name", "Virtual Machine\n"), 1);
    assert_int_equal(shown("/sys/hypervisor/type", "xen\n"), 1);
    assert_int_equal(shown("/dev/vmclock0", ""), 1);
    assert_int_equal(shown("/proc/sysinfo", "Manufacturer: IBM\nVM00 Name: x\n"
                                            "VM00 Control Program: KVM/Linux\n"), 1);
    assert_int_equal(shown("/proc/cpuinfo", "model : 1\nflags\t\t: fpu tsc hypervisor lm\n"), 1);
}

static void a_machine_of_its_own_is_not_taken_for_one(void **state)
{
    (void)state;
    assert_int_equal(shown("/proc/version", "Linux\n"), -1);
    assert_int_equal(TREE("raspberrypi,4-model-b\0brcm,bcm2711"), -1);
    assert_int_equal(TREE("vendor,linux,dummy-virt"), -1);
    assert_int_equal(shown("/proc/device-tree/compatible", ""), -1);
    assert_int_equal(shown("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n"), -1);
    assert_int_equal(shown("/proc/sysinfo", "Manufacturer: IBM\nLPAR Number: 5\n"), -1);
    assert_int_equal(shown("/proc/cpuinfo", "flags : fpu hypervisors lm\n"), -1);
    assert_int_equal(judge(-1, "/proc/device-tree/compatible", "\0\0\0", 3), -1);
}

/* Its vendor is the cloud's, and there is no hypervisor beneath. */
static void a_cloud_s_bare_metal_is_a_machine_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(shown("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"), 1);
    show("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n", 11);
    assert_int_equal(shown("/sys/class/dmi/id/product_name", "m6g.metal\n"), -1);
    show("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n", 11);
    assert_int_equal(shown("/sys/class/dmi/id/product_name", "m6g.large\n"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_processor_says_stays),
        cmocka_unit_test(a_guest_is_told_by_its_device_tree),
        cmocka_unit_test(a_guest_is_told_by_its_firmware_or_kernel),
        cmocka_unit_test(a_machine_of_its_own_is_not_taken_for_one),
        cmocka_unit_test(a_cloud_s_bare_metal_is_a_machine_of_its_own),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
