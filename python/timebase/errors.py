# SPDX-License-Identifier: MIT
"""What can go wrong. All are TimebaseError, and say in one sentence what and why."""

from __future__ import annotations

from collections.abc import Sequence


class TimebaseError(Exception):
    """A refusal of the C library; `code` is its negative enum timebase_error, or None."""

    def __init__(self, text: str, code: int | None = None):
        super().__init__(text)
        self.code = code


class EnvironmentVariableError(TimebaseError):
    """An environment variable holds a value that means nothing."""

    def __init__(self, variable: str, value: str, allowed: Sequence[str]):
        choice = " or ".join(allowed)
        super().__init__(f"environment variable {variable}={value!r}: must be {choice}")


class InputError(TimebaseError):
    """An argument of the command line cannot be used."""


def text_of(result: int) -> str:
    """The C library's sentence for one of its results."""
    from timebase._library import ffi, lib

    return ffi.string(lib.timebase_strerror(result)).decode()


def check(result: int) -> int:
    """Returns `result` if it is not negative, else raises TimebaseError with its text."""
    if result >= 0:
        return result
    raise TimebaseError(text_of(result), result)
