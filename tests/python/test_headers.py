# SPDX-License-Identifier: MIT
"""The public headers in programs that are compiled more strictly than ours."""

import shutil
import subprocess

import pytest
from daemons import ROOT

STRICT = ("-Wall", "-Wextra", "-pedantic-errors", "-Werror", "-fsyntax-only")
C = ("c99", "gnu99", "c11", "gnu11", "c17")
CPP = ("c++11", "c++17", "c++20")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("standard", [*C, *CPP])
def test_no_standard_warns_of_them(tmp_path, compiler, standard):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = tmp_path / ("program.cpp" if standard in CPP else "program.c")
    source.write_text("#include <timebase.h>\nint main(void) { return 0; }\n")
    command = [compiler, f"-std={standard}", *STRICT, f"-I{ROOT / 'include'}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
