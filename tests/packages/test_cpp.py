# SPDX-License-Identifier: MIT
"""The C++ headers by the compiler of the Debian that follows: its library has a clock_cast of its own,
where bindings/cpp/tests/chrono20.hpp stands in for that of this one."""

import re
import shutil
import subprocess

import pytest
from fresh_system import ROOT, pytestmark, unpack  # noqa: F401

HAS = ("doctest-dev", "g++", "nlohmann-json3-dev")
RELEASE = "trixie"
STAND = ("libtimebase.a", "bindings/conformance/writer", "bindings/conformance/pages")
BUILD = """
cd /src
echo '#include <chrono>
#if __cpp_lib_chrono < 201907L
#error "this library has no clock_cast either"
#endif' | g++ -std=c++20 -fsyntax-only -x c++ -
for source in bindings/cpp/tests/*.cpp; do
    [ $source != bindings/cpp/tests/order.cpp ] || continue
    g++ -std=c++20 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude \\
        -Ibindings/cpp/include -include bindings/cpp/tests/chrono20.hpp -c $source
done
g++ *.o libtimebase.a -pthread -o conformance
"""
RUN = {
    "TIMEBASE_VECTORS": "/src/spec/vectors",
    "TIMEBASE_WRITER": "/src/writer",
    "TIMEBASE_PAGES": "/src/pages",
    "TIMEBASE_TEST_READS": "500000",
}


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    subprocess.run([ROOT / "scripts/build", "native", *STAND], check=True)
    folder = tmp_path_factory.mktemp(RELEASE)
    system = unpack(f"{RELEASE}-cpp", HAS, folder, variant="minbase", release=RELEASE)
    for name in ("include", "bindings/cpp", "spec/vectors"):
        shutil.copytree(ROOT / name, folder / "src" / name)
    for name in STAND:
        shutil.copy(ROOT / "build/native" / name, folder / "src")
    return system


def test_the_conformance_by_a_newer_compiler_and_its_library(system):
    system.must("sh", "-euc", BUILD)
    system.environment |= RUN
    said = system.must("/src/conformance")
    assert re.search(r"\| +0 failed \|", said), said
