# SPDX-License-Identifier: MIT
"""QEMU and Bochs.

QEMU emulates the processor (TCG). With `-icount shift=0,sleep=off` each instruction takes 1 ns of the
machine's own time, all its clocks follow that, and a halted processor wakes at once: a run is the
same to the last bit, however busy this machine is. No boot has a limit in time: scripts/watchdog ends
what hangs.
"""

import contextlib
import json
import shutil
import socket
import subprocess
import threading
import time

from lab import IMAGES, WORK

EXACTLY = ("-icount", "shift=0,sleep=off")
LOOK_SEC = 0.05
SCREEN, COLUMNS, ROWS = 0xB8000, 80, 25


def folder(name):
    made = WORK / name
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    return made


def qemu_command(processor, append, serial, more):
    return [
        "qemu-system-x86_64",
        *("-accel", "tcg", "-m", "64", "-cpu", "max", "-display", "none", "-monitor", "none"),
        *("-nic", "none", "-no-reboot", "-serial", serial),
        *("-kernel", str(IMAGES / f"timebase-{processor}.elf"), "-append", append),
        *more,
    ]


def qemu(name, processor, append, more=()):
    """A boot to its end: (exit status, log)."""
    serial = folder(name) / "serial"
    command = qemu_command(
        processor,
        f"{append} exit=qemu",
        f"file:{serial}",
        ("-device", "isa-debug-exit,iobase=0xf4,iosize=4", *more),
    )
    ended = subprocess.run(command, check=False, stdin=subprocess.DEVNULL)
    return ended.returncode, serial.read_bytes()


def qemu_until(name, processor, append, text, more=(), has_serial=True):
    """A boot that stays on: its screen and its log once one of them has the text in it."""
    place = folder(name)
    serial, control = place / "serial", place / "control"
    serial.touch()
    command = qemu_command(
        processor,
        append,
        f"file:{serial}" if has_serial else "none",
        (*more, "-qmp", f"unix:{control},server=on,wait=off"),
    )
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        try:
            return _await_text(process, control, serial, text)
        finally:
            process.kill()


def _await_text(process, control, serial, text):
    while not control.exists() and process.poll() is None:
        time.sleep(LOOK_SEC)
    with contextlib.closing(_Monitor(control)) as monitor:
        while process.poll() is None:
            screen, log = monitor.screen(serial.parent / "screen"), serial.read_bytes()
            if text in screen or text in log.decode(errors="replace"):
                return screen, log
            time.sleep(LOOK_SEC)
    raise RuntimeError(f"QEMU ended with {process.returncode} before it showed {text!r}")


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

    def screen(self, path):
        """Its lines, joined: a character and its colours take two bytes."""
        self.ask("pmemsave", val=SCREEN, size=2 * COLUMNS * ROWS, filename=str(path))
        characters = path.read_bytes()[::2].decode("ascii", errors="replace")
        return "".join(characters[row * COLUMNS : (row + 1) * COLUMNS] for row in range(ROWS))


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


def bochs(name, processor, append):
    """A boot by GRUB from an ISO, until the log's last line: Bochs does not end by itself."""
    place = folder(name)
    files = place / "iso" / "boot"
    (files / "grub").mkdir(parents=True)
    shutil.copy(IMAGES / f"timebase-{processor}.elf", files)
    (files / "grub" / "grub.cfg").write_text(MENU.format(processor=processor, append=append))
    subprocess.run(
        ["grub-mkrescue", "-o", place / "boot.iso", place / "iso"], check=True, capture_output=True
    )
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
