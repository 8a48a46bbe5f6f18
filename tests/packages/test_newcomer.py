# SPDX-License-Identifier: MIT
"""README, the tutorial and a guide followed word for word by somebody who has git and make, and nothing
else: `make newcomer`, some ten minutes, and what it installs comes through the network.

The tests of this file are one story, told in order, of what is committed.
"""

import re
import subprocess
import textwrap

import pytest
from fresh_system import ROOT, pytestmark, unpack  # noqa: F401

HAS = ("ca-certificates", "git", "make")
CLONE = "/root/timebase"


def section(name, heading):
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def indented(text):
    """The first block of commands in it."""
    return textwrap.dedent(re.search(r"^(?: {4}.*\n)+", text, re.MULTILINE).group())


def fenced(text, language):
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    return "\n".join(blocks)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    system = unpack("newcomer", HAS, tmp_path_factory.mktemp("newcomer"), variant="minbase")
    system.reach_the_network()
    clone = ["git", "clone", "--quiet", "--no-hardlinks", ROOT, f"{system.folder}{CLONE}"]
    subprocess.run(clone, check=True)
    subprocess.run(["chown", "-R", "root:", f"{system.folder}{CLONE}"], check=True)
    return system


def follow(system, commands, folder=CLONE):
    mind_the_daemon = "trap 'kill ${daemon-} 2>/dev/null || :' EXIT"
    # bash: what a person types into, and dash knows no {a,b}.
    return system.must("bash", "-euc", f"cd {folder}; {mind_the_daemon}; {commands}")


def test_the_report_of_the_machine(newcomer):
    told = follow(newcomer, indented(section("README.md", "Can this machine's clock be trusted?")))
    assert "setup: missing here" in told and "report: build/report.html" in told
    assert (newcomer.folder / CLONE[1:] / "build/report.html").stat().st_size > 100_000


def test_a_second_time_nothing_is_installed(newcomer):
    assert "setup:" not in follow(newcomer, "make report ARGS=--quick")


def test_what_is_installed_by_hand(newcomer):
    follow(newcomer, indented(section("README.md", "Install")))
    # Debian's folder, where linker and pkg-config look.
    assert "libtimebase.so.1" in newcomer.must("ldconfig", "-p")
    assert newcomer.must("timebased", "--check").startswith("# read: ")


def test_the_programs_of_readme(newcomer):
    (newcomer.folder / "root/now.c").write_text(fenced(section("README.md", "In C"), "c"))
    (newcomer.folder / "root/now.py").write_text(
        fenced(section("README.md", "In Python"), "python")
    )
    follow(newcomer, "cc now.c -o now $(pkg-config --cflags --libs timebase)", folder="/root")
    assert re.search(r"^\d{19} to \d{19} ns", newcomer.must("/root/now"))
    assert " ns +/- " in newcomer.must("/opt/timebase/bin/python", "/root/now.py")


@pytest.mark.parametrize("name", ["docs/tutorial.md", "docs/guide/simulate.md"])
def test_a_text_that_is_followed(newcomer, name):
    newcomer.environment["PATH"] = "/opt/timebase/bin:" + newcomer.environment["PATH"]
    commands = fenced((ROOT / name).read_text(encoding="utf-8"), "sh")
    folder = newcomer.must("mktemp", "-d").strip()
    newcomer.must("chmod", "755", folder)
    assert follow(newcomer, commands, folder=folder)
