# SPDX-License-Identifier: MIT
"""A function of a shared object: its address goes to the dispatcher, nothing of Python runs."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from timebase.api.calendar import CFunction
from timebase.api.library import ffi, library_path
from timebase.run.action import Action, ActionError
from timebase.run.description import UnitDescription


class SharedObject(Action):
    """`call = "library.so:function"`, for void function(void *argument). The library is taken from
    the calendar's folder if it is there, else from where the dynamic linker looks."""

    def __init__(self, unit: UnitDescription, folder: Path):
        super().__init__(unit, folder)
        name, symbol = unit.target
        if unit.rehearse:
            _lend_rehearsing()
        self.library = _load(name, folder)
        self.address = _function_address(self.library, name, symbol)
        self.argument = _argument(unit.argument)

    def function(self) -> CFunction:
        address = int(ffi.cast("intptr_t", self.argument))
        return CFunction(self.address, address, keep=(self.library, self.argument))

    @property
    def timeout_ns(self) -> int:
        return self.unit.timeout_ns

    def text(self) -> str:
        return ":".join(self.unit.target)


def _load(name: str, folder: Path) -> ctypes.CDLL:
    beside = folder / name
    try:
        return ctypes.CDLL(str(beside) if beside.exists() else name)
    except OSError as problem:
        raise ActionError("call", f"cannot load {name}: {problem}") from None


def _lend_rehearsing() -> None:
    """The library must find the dispatcher's timebase_wait_rehearsing(), even if it was linked with
    a libtimebase of its own. The dynamic linker finds global symbols first."""
    ctypes.CDLL(library_path(), mode=ctypes.RTLD_GLOBAL)


def _function_address(library: ctypes.CDLL, name: str, symbol: str) -> int:
    try:
        address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
    except AttributeError:
        raise ActionError("call", f"{name} has no symbol {symbol} (is it static?)") from None
    if not address or not _is_code(address):
        raise ActionError("call", f"{symbol} of {name} is data, not a function")
    return address


def _is_code(address: int) -> bool:
    """Whether the address may be executed; True where the kernel does not say."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    for line in maps.splitlines():
        bounds, rights = line.split(maxsplit=2)[:2]
        first, end = (int(bound, 16) for bound in bounds.split("-"))
        if first <= address < end:
            return "x" in rights
    return False


def _argument(value):
    """The void * that the function gets: the number itself, or the address of a string."""
    if isinstance(value, str):
        return ffi.new("char[]", os.fsencode(value))
    return ffi.cast("void *", value or 0)
