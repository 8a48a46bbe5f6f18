# SPDX-License-Identifier: MIT
"""The unit under a real systemd: a fresh minimal system is booted by its own systemd in namespaces, with
the packages of build/deb. `make packages` builds them first.

The system shares the kernel, and nothing else: no network, no devices but null and its like. The tests
of this file are one story, told in order.
"""

import re
import shutil
import subprocess
import time
from pathlib import Path

import fresh_system
import pytest
from fresh_system import ROOT, unpack

BUILT = ROOT / "build/deb"
PACKAGES = ("systemd", "systemd-sysv")
NAMESPACES = ("--mount", "--pid", "--cgroup", "--uts", "--ipc", "--net")
# What an initramfs or a container manager would do before systemd is begun.
BOOT = r"""
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
    touch dev/$name && mount --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm
mount -t tmpfs -o mode=755 tmpfs run
pivot_root . mnt
umount -l /mnt
exec env -i container=namespaces PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --log-target=journal --unit=multi-user.target
"""

pytestmark = [
    *fresh_system.pytestmark,
    pytest.mark.skipif(not list(BUILT.glob("timebased_*.deb")), reason="none built: make packages"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = unpack("service", PACKAGES, tmp_path_factory.mktemp("service")).folder
    package = shutil.copy(next(BUILT.glob("timebased_*.deb")), folder)
    install = f"mount --rbind /dev {folder}/dev; exec chroot {folder} dpkg -i /{Path(package).name}"
    subprocess.run(
        ["unshare", "--mount", "sh", "-ec", install], check=True, stdout=subprocess.DEVNULL
    )
    return folder


class Machine:
    """A systemd that runs, as its process 1 here."""

    def __init__(self, pid):
        self.pid = pid

    def run(self, *words):
        enter = ["nsenter", f"--target={self.pid}", *NAMESPACES, "--", *words]
        return subprocess.run(enter, capture_output=True, text=True, check=False)

    def must(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}{self.log()}"
        return done.stdout

    def shown(self, name):
        return self.must("systemctl", "show", "--value", f"--property={name}", "timebased").strip()

    def log(self):
        return self.run("journalctl", "--no-pager", "--output=cat", "--unit=timebased").stdout

    def eventually(self, condition):
        """However long it takes; the log says where it hangs."""
        while not condition():
            time.sleep(0.1)


def first_child(process):
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (children := path.read_text().split()):
        assert process.poll() is None, "unshare has ended"
        time.sleep(0.05)
    return int(children[0])


@pytest.fixture(scope="module")
def machine(folder):
    script = ["sh", "-ec", BOOT, "sh", str(folder)]
    begun = subprocess.Popen(
        ["unshare", *NAMESPACES, "--fork", "--kill-child", *script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    found = Machine(first_child(begun))
    while found.run("systemctl", "is-system-running").stdout.strip() not in ("running", "degraded"):
        if begun.poll() is not None:
            pytest.skip(f"no systemd can be booted here: {begun.stderr.read().strip()}")
        time.sleep(0.1)
    yield found
    begun.kill()
    begun.wait()


def test_it_is_started_at_boot_and_says_that_it_is_ready(machine):
    machine.must("systemctl", "start", "timebased")  # waits for READY=1
    assert machine.shown("ActiveState") == "active"
    assert machine.shown("UnitFileState") == "enabled"
    machine.eventually(lambda: "of the system clock" in machine.shown("StatusText"))
    assert not re.search(r"\d{5,} ns", machine.shown("StatusText"))


def test_the_page_is_the_services_and_anybodys_to_read(machine):
    said = machine.must("stat", "-c", "%U %a", "/run/timebase", "/run/timebase/page").split()
    assert said == ["timebase", "755", "timebase", "644"]


def test_after_kill_9_it_is_started_again_and_takes_its_page_up(machine):
    before = machine.shown("MainPID")
    machine.must("sh", "-c", f"kill -9 {before}")
    machine.eventually(lambda: machine.shown("NRestarts") == "1")
    machine.eventually(lambda: machine.shown("ActiveState") == "active")
    assert machine.shown("MainPID") not in (before, "0")
    assert "/run/timebase/page: taken up at publication" in machine.log()


def test_it_reads_its_configuration_again(machine):
    change = "echo 'log_level = debug' >>/etc/timebase/timebased.conf"
    machine.must("sh", "-c", change)
    machine.must("systemctl", "reload", "timebased")
    machine.eventually(lambda: "configuration read again" in machine.log())
    assert machine.shown("NRestarts") == "1"


def test_one_that_hangs_is_ended_by_the_watchdog_and_started_again(machine):
    machine.must("sh", "-c", f"kill -STOP {machine.shown('MainPID')}")
    machine.eventually(lambda: machine.shown("NRestarts") == "2")
    machine.eventually(lambda: machine.shown("ActiveState") == "active")


def test_its_exposure_is_small(machine):
    said = machine.must("systemd-analyze", "security", "--no-pager", "timebased")
    level = float(re.search(r"exposure level for timebased.service: ([\d.]+)", said)[1])
    assert level <= 2.0, said


def test_a_stopped_one_leaves_its_page_to_the_readers(machine):
    machine.must("systemctl", "stop", "timebased")
    assert machine.shown("Result") == "success"
    machine.must("test", "-s", "/run/timebase/page")
