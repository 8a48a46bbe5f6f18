# SPDX-License-Identifier: MIT
"""An external program. C starts it (python/native/spawn.h); whatever does not depend on the release
is prepared before. A release starts the program and does not wait for it: launches.py does."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import stat
from collections import Counter, deque
from pathlib import Path

from timebase.api.calendar import CFunction
from timebase.api.library import check, ffi, lib
from timebase.run.action import Action, ActionError
from timebase.run.description import UnitDescription
from timebase.run.histogram import Histogram

ABOVE_STANDARD = 3  # files that become 0, 1 or 2 must not be one of these already
BITS = 64


class Program(Action):
    """`command = ["program", "argument", ...]`. A program with a slash in it is relative to the
    calendar's folder, one without is searched in PATH."""

    def __init__(self, unit: UnitDescription, folder: Path):
        super().__init__(unit, folder)
        self.folder = folder
        self.path = _find(unit.target[0], folder)
        self.marks = deque()
        self.on_error = lambda text: None
        self.spawn = ffi.new("struct timebase_spawn *")
        self.started = 0
        self.timed_out_count = 0
        self.killed = 0
        self.exits: Counter = Counter()
        self.signals: Counter = Counter()
        self.not_started: Counter = Counter()
        self.launch_ns, self.ran_ns, self.cpu_ns = Histogram(), Histogram(), 0
        self._files: list[int] = []
        self._outputs: list[int] = []
        self._kept: list = []

    def open(self, wake: int, cpus: set[int], stdout_instead: int | None) -> None:
        """Prepare for launching: from an ordinary thread, before anything real-time is asked for.
        `stdout_instead` takes standard output where that belongs to somebody else."""
        check(lib.timebase_spawn_prepare(self.spawn))
        self._remember_program()
        self._set_cpus(cpus)
        self.spawn.wake = wake
        self.spawn.most = self.unit.at_most
        self.spawn.files[0] = self._above(os.open(os.devnull, os.O_RDONLY))
        out = self._open_output("stdout")
        if out < 0 and stdout_instead is not None:
            out = self._above(os.dup(stdout_instead))
        same = self.unit.stderr is not None and self.unit.stderr == self.unit.stdout
        self.spawn.files[1] = out
        self.spawn.files[2] = out if same else self._open_output("stderr")

    def empty_outputs(self) -> None:
        """Not before it is certain that it runs: an admission writes to no file."""
        for file in self._outputs:
            if stat.S_ISREG(os.fstat(file).st_mode):
                os.ftruncate(file, 0)

    def close(self) -> None:
        for file in self._files:
            os.close(file)
        self._files.clear()

    def function(self) -> CFunction:
        start = ffi.addressof(lib, "timebase_spawn_start")
        address = int(ffi.cast("uintptr_t", start))
        return CFunction(address, int(ffi.cast("uintptr_t", self.spawn)), keep=self.spawn)

    def text(self) -> str:
        return " ".join(self.unit.target)

    def timed_out(self) -> int:
        return self.timed_out_count

    def ended(self, status: int, ran_ns: int, cpu_ns: int, was_stopped: bool) -> None:
        """A child is over: `status` as waitpid() gives it."""
        self.ran_ns.add([ran_ns])
        self.cpu_ns += cpu_ns
        code = os.waitstatus_to_exitcode(status)
        if code >= 0:
            self.exits[str(code)] += 1
            what = f"exited with {code}"
        else:
            name = _signal_name(-code)
            self.signals[name] += 1
            what = f"was ended by {name}"
        if code != 0 and not was_stopped:
            self._complain(what)

    def failed(self, error: int) -> None:
        """It could not be started."""
        text = os.strerror(error)
        self.not_started[text] += 1
        self._complain(f"could not be started: {text}")

    def ran_out(self) -> None:
        """A child has run into its time-out."""
        self.timed_out_count += 1
        self._complain("ran into its time-out")

    def report(self) -> dict:
        return {
            "program": self.path,
            "started": self.started,
            "not_started": dict(self.not_started),
            "overlaps": self.spawn.overlaps,
            "held": self.spawn.held,
            "exits": dict(self.exits),
            "signals": dict(self.signals),
            "timed_out": self.timed_out_count,
            "killed": self.killed,
            "launch_ns": self.launch_ns.summary(),
            "ran_ns": self.ran_ns.summary(),
            "cpu_ns": self.cpu_ns,
        }

    def _complain(self, what: str) -> None:
        self.on_error(what)

    def _remember_program(self) -> None:
        arguments = [ffi.new("char[]", os.fsencode(word)) for word in self.unit.target]
        settings = [ffi.new("char[]", name + b"=" + value) for name, value in os.environb.items()]
        path = ffi.new("char[]", os.fsencode(self.path))
        argv = ffi.new("char *[]", [*arguments, ffi.NULL])
        envp = ffi.new("char *[]", [*settings, ffi.NULL])
        self._kept = [arguments, settings, path, argv, envp]
        self.spawn.path, self.spawn.argv, self.spawn.envp = path, argv, envp

    def _set_cpus(self, cpus: set[int]) -> None:
        self.spawn.cpu_words = max(cpus, default=-1) // BITS + 1
        for cpu in cpus:
            self.spawn.cpus[cpu // BITS] |= 1 << (cpu % BITS)

    def _open_output(self, key: str) -> int:
        name = getattr(self.unit, key)
        if name is None:
            return -1
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            file = self._above(os.open(self.folder / name, flags, 0o666))
        except OSError as problem:
            raise ActionError(key, f"cannot write {name}: {problem.strerror}") from None
        self._outputs.append(file)
        return file

    def _above(self, file: int) -> int:
        """The same file under a number that is none of the standard ones; closed on exec."""
        try:
            self._files.append(fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, ABOVE_STANDARD))
        finally:
            os.close(file)
        return self._files[-1]


def _find(program: str, folder: Path) -> str:
    if "/" not in program:
        found = shutil.which(program)
        if found is None:
            raise ActionError("command", f"no program {program} in PATH; or write its whole path")
        return os.path.abspath(found)
    path = folder / program
    if not path.exists():
        raise ActionError("command", f"no such file: {path}")
    if not path.is_file() or not os.access(path, os.X_OK):
        raise ActionError("command", f"{path} cannot be executed; chmod +x?")
    return str(path)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
