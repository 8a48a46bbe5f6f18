# SPDX-License-Identifier: MIT
"""Ctrl-C, SIGTERM and SIGHUP. The first of them ends the run at its next release, the second one at
once. After that they do what they did before the run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable


class Signals:
    """A context manager, for the main thread. `on_first()` and `on_second()` are called there."""

    WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self, on_first: Callable[[], None], on_second: Callable[[], None]):
        self.on_first, self.on_second = on_first, on_second
        self.seen: list[str] = []
        self._before: dict = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in self.WATCHED:
                if signal.getsignal(number) != signal.SIG_IGN:  # nohup
                    self._before[number] = signal.signal(number, self._handle)
            # If a process ignores this signal, the kernel forgets its children before waitpid() has
            # told how they ended.
            self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(self, *_exception) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        self._before.clear()

    def _handle(self, number: int, _frame) -> None:
        self.seen.append(signal.Signals(number).name)
        if len(self.seen) == 1:
            self.on_first()
        else:
            self.__exit__()
            self.on_second()
