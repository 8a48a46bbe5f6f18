# SPDX-License-Identifier: MIT
"""QEMU and Bochs.

QEMU emulates the processor (TCG). With `-icount shift=0,sleep=off` each instruction takes 1 ns of the
machine's own time, all its clocks follow that, and a halted processor wakes at once, or now and
then (3 of some 80 runs, QEMU 7.2) a block of instructions later, and all behind that at other phases.
Until then a run is the same to the last bit, however busy this machine is. No boot has a limit in time: scripts/watchdog ends
what hangs.
"""

import contextlib
import json
import re
import shutil
import socket
import subprocess
import threading
import time

from lab import IMAGES, WORK

EXACTLY = ("-icount", "shift=0,sleep=off")
LOOK_SEC = 0.05
SCREEN, COLUMNS, ROWS = 0xB8000, 80, 25
INTERRUPTS_ON = 0x200  # of the flags' register
ISO = IMAGES / "timebase.iso"
CDROM = ("-cdrom", str(ISO))
MENU_TITLE = "GNU GRUB"


def folder(name):
    made = WORK / name
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    return made


def kernel(processor, append):
    return ("-kernel", str(IMAGES / f"timebase-{processor}.elf"), "-append", append)


def qemu_command(serial, more):
    return [
        "qemu-system-x86_64",
        *("-accel", "tcg", "-m", "64", "-cpu", "max", "-display", "none", "-monitor", "none"),
        *("-nic", "none", "-no-reboot", "-serial", serial, *more),
    ]


def qemu(name, processor, append, more=()):
    """A boot to its end: (exit status, log)."""
    serial = folder(name) / "serial"
    image = kernel(processor, f"{append} exit=qemu")
    command = qemu_command(
        f"file:{serial}", (*image, "-device", "isa-debug-exit,iobase=0xf4,iosize=4", *more)
    )
    ended = subprocess.run(command, check=False, stdin=subprocess.DEVNULL)
    return ended.returncode, serial.read_bytes()


def qemu_halted(name, what, keys=(), has_serial=True):
    """A boot that stays on: its screen and its log once the processor waits for nothing any more.
    `keys` are pressed when GRUB's menu is on the screen."""
    place = folder(name)
    serial, control = place / "serial", place / "control"
    serial.touch()
    command = qemu_command(
        f"file:{serial}" if has_serial else "none",
        (*what, "-qmp", f"unix:{control},server=on,wait=off"),
    )
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        try:
            while not control.exists() and process.poll() is None:
                time.sleep(LOOK_SEC)
            with contextlib.closing(_Monitor(control)) as monitor:
                if keys:
                    _await(process, lambda: MENU_TITLE in monitor.screen(place / "screen"))
                    monitor.press(keys)
                _await(process, monitor.is_halted)
                return monitor.screen(place / "screen"), serial.read_bytes()
        finally:
            process.kill()


def _await(process, is_so):
    while not is_so():
        if process.poll() is not None:
            raise RuntimeError(f"QEMU ended with {process.returncode}")
        time.sleep(LOOK_SEC)


class _Monitor:
    """QEMU's machine protocol: a line of JSON each way; events come in between."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.stream = self.socket.makefile("rw")
        self.stream.readline()
        self.ask("qmp_capabilities")

    def close(self):
        self.stream.close()
        self.socket.close()

    def ask(self, command, **arguments):
        self.stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.stream.flush()
        while "return" not in (answer := json.loads(self.stream.readline())):
            if "error" in answer:
                raise RuntimeError(answer["error"]["desc"])
        return answer["return"]

    def screen(self, path):
        """Its lines, joined: a character and its colours take two bytes."""
        self.ask("pmemsave", val=SCREEN, size=2 * COLUMNS * ROWS, filename=str(path))
        characters = path.read_bytes()[::2].decode("ascii", errors="replace")
        return "".join(characters[row * COLUMNS : (row + 1) * COLUMNS] for row in range(ROWS))

    def press(self, keys):
        for key in keys:
            self.ask("send-key", keys=[{"type": "qcode", "data": key}])

    def is_halted(self):
        """Stopped until an interrupt, and takes none."""
        registers = self.ask("human-monitor-command", **{"command-line": "info registers"})
        flags = int(re.search(r"FL=([0-9a-f]+)", registers).group(1), 16)
        return "HLT=1" in registers and not flags & INTERRUPTS_ON


BOCHS = """\
plugin_ctrl: unmapped=1, biosdev=1, speaker=0, extfpuirq=1, parallel=0, serial=1, e1000=0
config_interface: textconfig
display_library: rfb, options="timeout=30"
memory: guest=64, host=64
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
cpu: model=corei7_haswell_4770, count=1, ips=50000000
log: bochs.log
com1: enabled=1, mode=file, dev=serial
clock: sync=none
boot: cdrom
ata0-master: type=cdrom, path=boot.iso, status=inserted
sound: driver=dummy
"""
MENU = "set timeout=0\nmenuentry timebase {{ multiboot /boot/timebase-{processor}.elf {append} }}\n"


def has_bochs():
    return shutil.which("bochs") and shutil.which("grub-mkrescue")


def menu_iso(place, processor, append):
    """As the stick's, with one line that is chosen at once."""
    files = place / "iso" / "boot"
    (files / "grub").mkdir(parents=True)
    shutil.copy(IMAGES / f"timebase-{processor}.elf", files)
    (files / "grub" / "grub.cfg").write_text(MENU.format(processor=processor, append=append))
    subprocess.run(
        ["grub-mkrescue", "-o", place / "boot.iso", place / "iso"], check=True, capture_output=True
    )


def bochs(place):
    """A boot by GRUB from boot.iso there, until the log's last line: Bochs does not end by itself."""
    (place / "bochsrc").write_text(BOCHS)
    (place / "commands").write_text("c\n")  # its debugger waits for this
    with (
        (place / "output").open("wb") as out,
        subprocess.Popen(
            ["bochs", "-q", "-f", "bochsrc", "-rc", "commands"],
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        threading.Thread(target=_watch_screen, args=(process,), daemon=True).start()
        try:
            return _await_end(process, place / "serial")
        finally:
            process.kill()


def _await_end(process, serial):
    while process.poll() is None:
        log = serial.read_bytes() if serial.exists() else b""
        if log.endswith(b"}\n") and b'"kind":"end"' in log:
            return log
        time.sleep(LOOK_SEC)
    raise RuntimeError(f"Bochs ended with {process.returncode}, see {serial.parent}")


def _watch_screen(process):
    """Bochs without a viewer of its screen does not begin: this one looks at nothing."""
    while process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", 5900), 1) as viewer:
                viewer.settimeout(None)
                viewer.recv(12)
                viewer.sendall(b"RFB 003.003\n")
                viewer.recv(4)
                viewer.sendall(b"\x01")
                while viewer.recv(65536):
                    pass
        except OSError:
            time.sleep(LOOK_SEC)
