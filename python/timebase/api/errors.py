# SPDX-License-Identifier: MIT
"""Errors. All but UnitTimedOut are TimebaseError, and say in one sentence what is wrong and why."""

from __future__ import annotations

from collections.abc import Sequence


class TimebaseError(Exception):
    """A refusal of the C library; `code` is its negative enum timebase_error, or None."""

    def __init__(self, text: str, code: int | None = None):
        super().__init__(text)
        self.code = code


class EstimateError(TimebaseError):
    """Nobody vouches for the bound of UTC (TIMEBASE_E_ESTIMATE): an estimate is no promise, and no
    waiting makes it one."""


class EnvironmentVariableError(TimebaseError):
    """An environment variable has a value that is not allowed."""

    def __init__(self, variable: str, value: str, allowed: Sequence[str]):
        choice = " or ".join(allowed)
        super().__init__(f"environment variable {variable}={value!r}: must be {choice}")


class MissingModulesError(TimebaseError):
    """What `user` needs is not installed."""

    def __init__(self, user: str, modules: Sequence[str]):
        super().__init__(f"{user} needs {', '.join(modules)}")
        # By their own names: whoever serves a package called timebase is not us yet.
        debian = " ".join(f"python3-{module.replace('_', '-')}" for module in modules)
        self.advice = f"pip install {' '.join(modules)}, or on Debian: apt install {debian}"


class InputError(TimebaseError):
    """An argument of the command line cannot be used."""


class UnitTimedOut(BaseException):
    """Raised in a unit's callable that runs into its time-out (`timebase run`). It is no Exception,
    so that `except Exception` does not swallow it."""
