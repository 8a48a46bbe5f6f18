# SPDX-License-Identifier: MIT
"""Looks after the programs that releases have started: waits for their ends, stops those that run
into their time-out, leaves no zombie. One thread for all units."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from dataclasses import dataclass

from timebase.api.clock import default_clock
from timebase.api.library import ffi, lib
from timebase.run.program import Program

OLD_KERNEL_LOOK_MS = 10  # how often where there are no pidfds
IDLE_LOOK_MS = 1000
NEVER_NS = 2**63


@dataclass
class Launch:
    """A child that has not been waited for yet."""

    program: Program
    place: int  # in its struct timebase_spawn
    process: int
    file: int
    exec_ns: int  # 0: it did not become the program
    next_ns: int  # when it is to be signalled next
    was_stopped: bool = False


class Launches(threading.Thread):
    def __init__(self, programs: list[Program]):
        super().__init__(name="timebase-launches", daemon=True)
        self.programs = programs
        self.running: dict[tuple[int, int], Launch] = {}
        self._wakes, self.wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(self._wakes, select.POLLIN)
        self._ending = False
        self._stopping: int | None = None  # the signal that all are to get

    # ---- from other threads

    def finish(self) -> None:
        """No more will be started: end when the last one has."""
        self._ending = True
        self._nudge()

    def stop(self, signal_number: int) -> None:
        """Signal all: SIGTERM, with SIGKILL to follow, or SIGKILL."""
        self._stopping = signal_number
        self._nudge()

    def _nudge(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self.wake, b"x")

    # ---- the thread

    def run(self) -> None:
        while not (self._ending and not self._collect() and not self.running):
            self._wait()
            self._collect()
            self._stop_all()
            for key, launch in list(self.running.items()):
                if self._has_ended(launch):
                    self._bury(launch)
                    del self.running[key]
                elif time.monotonic_ns() >= launch.next_ns:
                    self._run_out(launch)

    def close(self) -> None:
        """After the thread has ended."""
        os.close(self._wakes)
        os.close(self.wake)

    def _wait(self) -> None:
        next_ns = min((launch.next_ns for launch in self.running.values()), default=NEVER_NS)
        ms = min(IDLE_LOOK_MS, max(0, next_ns - time.monotonic_ns()) // 1_000_000 + 1)
        if any(launch.file < 0 for launch in self.running.values()):
            ms = min(ms, OLD_KERNEL_LOOK_MS)
        self._poll.poll(ms)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wakes, 4096)

    def _collect(self) -> bool:
        """Take over what the dispatcher has started since."""
        found, child = [], ffi.new("struct timebase_spawn_child *")
        for number, program in enumerate(self.programs):
            for place in range(program.unit.at_most):  # the dispatcher takes the first that is free
                is_new = (number, place) not in self.running
                if is_new and lib.timebase_spawn_take(program.spawn, place, child):
                    found.append((child.asked_ticks, number, place, ffi.new(
                        "struct timebase_spawn_child *", child[0])))  # fmt: skip
        for _asked, number, place, copy in sorted(found, key=lambda one: one[0]):
            self._take_over(number, place, copy)
        return bool(found)

    def _take_over(self, number: int, place: int, child) -> None:
        program, clock = self.programs[number], default_clock()._clock
        asked, began, back = (
            lib.timebase_mono_at_ns(clock, ticks) if ticks else 0
            for ticks in (child.asked_ticks, child.exec_ticks, child.back_ticks)
        )
        if child.error:
            program.failed(child.error)
        else:
            program.started += 1
            program.marks.append((asked, began))
            program.launch_ns.add([back - asked])
        if not child.process:
            lib.timebase_spawn_free(program.spawn, place)
            return
        limit = 0 if child.error else program.unit.timeout_ns
        next_ns = began + limit if limit else NEVER_NS
        exec_ns = 0 if child.error else began
        launch = Launch(program, place, child.process, child.file, exec_ns, next_ns)
        self.running[number, place] = launch
        if child.file >= 0:
            self._poll.register(child.file, select.POLLIN)

    def _has_ended(self, launch: Launch) -> bool:
        """Dead, but still there for its group to be signalled by its number."""
        flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
        try:
            return os.waitid(os.P_PID, launch.process, flags) is not None
        except ChildProcessError:
            return True  # somebody else's code has waited for it

    def _bury(self, launch: Launch) -> None:
        ended_ns = time.monotonic_ns()
        if launch.was_stopped:
            _signal_group(launch, signal.SIGKILL)  # processes left of its group
        if launch.file >= 0:
            self._poll.unregister(launch.file)
            os.close(launch.file)
        with contextlib.suppress(ChildProcessError):
            _process, status, usage = os.wait4(launch.process, 0)
            cpu_ns = int((usage.ru_utime + usage.ru_stime) * 1e9)
            if launch.exec_ns:
                ran_ns = ended_ns - launch.exec_ns
                launch.program.ended(status, ran_ns, cpu_ns, launch.was_stopped)
        lib.timebase_spawn_free(launch.program.spawn, launch.place)

    def _run_out(self, launch: Launch) -> None:
        if launch.was_stopped:
            self._kill(launch)
        else:
            launch.program.ran_out()
            self._terminate(launch)

    def _terminate(self, launch: Launch) -> None:
        launch.was_stopped = True
        launch.next_ns = time.monotonic_ns() + launch.program.unit.kill_after_ns
        _signal_group(launch, signal.SIGTERM)

    def _kill(self, launch: Launch) -> None:
        launch.program.killed += 1
        launch.next_ns = NEVER_NS
        _signal_group(launch, signal.SIGKILL)

    def _stop_all(self) -> None:
        number, self._stopping = self._stopping, None
        for launch in self.running.values() if number else ():
            if number == signal.SIGKILL:
                launch.was_stopped = True
                self._kill(launch)
            elif not launch.was_stopped:
                self._terminate(launch)


def _signal_group(launch: Launch, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(launch.process, number)
