# SPDX-License-Identifier: MIT
"""Programs for the tests of `timebase exec`."""

import shutil
import struct
import subprocess

import pytest

from timebase.exec import clocks, libraries

BITS = 8 * struct.calcsize("P")

can_help = pytest.mark.skipif(
    libraries.find(BITS) is None or not clocks.look().is_readable,
    reason="no preload library, or not an x86 processor",
)


@pytest.fixture
def compiled(tmp_path):
    """compiled(text, *options): a program."""

    def make(text, *options):
        source, program = tmp_path / "program.c", tmp_path / "program"
        source.write_text(text)
        compiler = shutil.which("cc") or pytest.skip("no C compiler")
        done = subprocess.run(
            [compiler, "-o", program, source, *options], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"cannot be compiled here: {done.stderr.strip().splitlines()[-1]}")
        return program

    return make
