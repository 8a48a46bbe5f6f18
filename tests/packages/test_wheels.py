# SPDX-License-Identifier: MIT
"""The wheels and the sdist of build/wheels (`make wheels`): what is in them, and that one of this
processor works in an environment that has nothing else of ours."""

import os
import platform
import re
import struct
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build/wheels/dist"
WHEELS = sorted(BUILT.glob("*.whl"))
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
LIBRARIES = ("libtimebase_python.so", "timebase_fast.so", "libtimebase-preload.so")

pytestmark = pytest.mark.skipif(not WHEELS, reason="none built: make wheels")


def processor_of(wheel):
    return re.fullmatch(r".*-py3-none-manylinux_2_\d+_(\w+)\.whl", wheel.name)[1]


def of_this_processor():
    found = [wheel for wheel in WHEELS if processor_of(wheel) == platform.machine()]
    return found[0] if found else pytest.skip("none for this processor")


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda wheel: wheel.name)
def test_a_wheel_has_licence_types_and_libraries_of_its_processor(wheel):
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        for name in ("/licenses/LICENSE", "/timebase/py.typed", "/timebase/schemas/now.json"):
            assert [one for one in names if one.endswith(name)], name
        for library in LIBRARIES:
            (path,) = (one for one in names if one.endswith(f"/{library}"))
            head = files.read(path)[:20]
            assert head[:4] == b"\x7fELF"
            assert struct.unpack_from("<H", head, 18)[0] == ELF_MACHINES[processor_of(wheel)]
        (about,) = (one for one in names if one.endswith(".dist-info/METADATA"))
        assert b"\nLicense-Expression: MIT\n" in files.read(about)


def test_the_sdist_has_what_a_build_needs_and_the_licence():
    (sdist,) = BUILT.glob("*.tar.gz")
    with tarfile.open(sdist) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    for name in ("LICENSE", "pyproject.toml", "meson.build", "python/timebase/py.typed",
                 "include/timebase/page.h", "scripts/make-cdef", "PKG-INFO"):  # fmt: skip
        assert name in names, name


def test_a_wheel_tells_the_time_where_nothing_else_of_ours_is(tmp_path):
    """Its one requirement, cffi, is taken from here: no network."""
    venv.create(tmp_path / "venv", with_pip=False)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    folder = tmp_path / "venv/lib" / version / "site-packages"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*install, "--target", folder, of_this_processor()], check=True)
    import cffi

    # cffi beside it, and nothing of this environment that could stand in for the wheel.
    theirs = Path(cffi.__file__).parent.parent
    for name in ("cffi", "_cffi_backend*", "pycparser"):
        for path in theirs.glob(name):
            os.symlink(path, folder / path.name)
    code = (
        "import timebase; from timebase.api.reader import is_fast; now = timebase.default_clock().now();"
        "print(timebase.__file__, is_fast, now.utc_ns > 0)"
    )
    python = tmp_path / "venv/bin/python"
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    path, is_fast, has_time = done.stdout.split()
    assert Path(path).is_relative_to(folder)
    assert (is_fast, has_time) == ("True", "True")
