# SPDX-License-Identifier: MIT
"""A unit without an action."""

from __future__ import annotations

from timebase.api.calendar import CFunction
from timebase.api.library import ffi, lib
from timebase.run.action import Action


class Nothing(Action):
    """Only the beginning is measured."""

    def function(self) -> CFunction:
        address = ffi.addressof(lib, "timebase_nothing")
        return CFunction(int(ffi.cast("uintptr_t", address)))

    @property
    def timeout_ns(self) -> int:
        return self.unit.timeout_ns

    def text(self) -> str:
        return "none"
