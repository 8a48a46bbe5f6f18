# SPDX-License-Identifier: MIT
"""README, tutorial and guides followed word for word by somebody who has git and make, and nothing else:
`make newcomer`, some ten minutes, and what it installs comes through the network.

The tests of this file are one story, told in order, of what is committed.
"""

import json
import re
import subprocess
import sys
import textwrap
import time

import pytest
from fresh_system import PATH, ROOT, pytestmark, unpack  # noqa: F401

sys.path.insert(0, str(ROOT / "tests/python"))
from followed import BY_A_TEST, FOLLOWED, NEWCOMER, TEXTS, blocks, typed

sys.path.remove(str(ROOT / "tests/python"))

HAS = ("ca-certificates", "git", "make")
CLONE = "/root/timebase"


def section(name, heading):
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def indented(text):
    """The first block of commands in it."""
    return textwrap.dedent(re.search(r"^(?: {4}.*\n)+", text, re.MULTILINE).group())


def fenced(text, language):
    found = blocks(text, language)
    assert found
    return "\n".join(found)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    system = unpack("newcomer", HAS, tmp_path_factory.mktemp("newcomer"), variant="minbase")
    system.reach_the_network()
    system.environment["PATH"] = f"/opt/timebase/bin:{PATH}"  # README's, once it is installed
    system.begun_s = time.monotonic()
    clone = ["git", "clone", "--quiet", "--no-hardlinks", ROOT, f"{system.folder}{CLONE}"]
    subprocess.run(clone, check=True)
    subprocess.run(["chown", "-R", "root:", f"{system.folder}{CLONE}"], check=True)
    return system


def follow(system, commands, folder=CLONE):
    mind_the_daemon = "trap 'kill ${daemon-} 2>/dev/null || :' EXIT"
    # bash: what a person types into, and dash knows no {a,b}.
    return system.must("bash", "-euc", f"cd {folder}; {mind_the_daemon}; {commands}")


def test_the_report_of_the_machine(newcomer, capsys):
    told = follow(newcomer, indented(section("README.md", "Can this machine's clock be trusted?")))
    assert "setup: missing here" in told and "report: build/report.html" in told
    assert (newcomer.folder / CLONE[1:] / "build/report.html").stat().st_size > 100_000
    with capsys.disabled():
        print(f"\nfrom the clone to the first verdict: {time.monotonic() - newcomer.begun_s:.0f} s")


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


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_text_that_is_followed(newcomer, name):
    commands = fenced((ROOT / name).read_text(encoding="utf-8"), "sh")
    folder = newcomer.must("mktemp", "-d").strip()
    newcomer.must("chmod", "755", folder)
    newcomer.must("ln", "-s", f"{CLONE}/examples", folder)
    said = follow(newcomer, commands, folder=folder)
    assert [words for words in FOLLOWED[name] if words not in said] == []


def test_a_daemon_that_is_not_installed(newcomer):
    build, start = indented(section("docs/guide/daemon.md", "Try it")).splitlines()
    follow(newcomer, build)
    read = "until timebase now --page=/tmp/timebase/page; do sleep 0.1; done"
    assert "true UTC" in follow(newcomer, f"{start} & daemon=$!; {read}")


# ---- the daemon at its usual places


@pytest.fixture(scope="module")
def administrator(newcomer):
    """With files of stamps that the daemon's history knows."""
    newcomer.must("mkdir", "-p", "/var/lib/timebase")  # systemd's part
    start = newcomer.command("timebased", "--timeline=/var/lib/timebase/timeline")
    daemon = subprocess.Popen(start, stderr=subprocess.DEVNULL)
    while newcomer.run("timebase", "now", "--page=/run/timebase/page").returncode != 0:
        assert daemon.poll() is None
    tick = json.loads(newcomer.must("timebase", "now", "--json"))["ticks"]
    while newcomer.run("timebase", "convert", tick).returncode != 0:
        time.sleep(0.5)  # until it is past
    (newcomer.folder / "root/stamps.log").write_text(f"{tick} ;accepted; {tick}\n")
    (newcomer.folder / "root/stamps.csv").write_text(f"what,ticks\naccepted,{tick}\n")
    yield newcomer
    daemon.terminate()
    daemon.wait()


def administered():
    for text in TEXTS:
        for command in typed(text.read_text(encoding="utf-8")):
            by = next((one for one in BY_A_TEST if command.startswith(one)), None)
            if BY_A_TEST.get(by) == NEWCOMER and re.match(r"timebase |\.\.\. ", command):
                yield re.sub(r" +#.*", "", command)


# What they end with, where it is not 0: it is the machine's matter.
CODES = {"status": {0, 1, 2}, "doctor": {0, 1}, "cpus": {0, 1}}


@pytest.mark.parametrize("command", sorted(set(administered())))
def test_a_command_of_a_guide(administrator, command):
    typed_in = command.replace("...", "cat stamps.log")
    if command == "timebase watch":
        typed_in = "timeout --signal=INT --preserve-status 3 timebase watch"
    done = administrator.run("bash", "-c", f"cd /root; {typed_in}")
    verb = typed_in.rpartition("timebase ")[2].split()[0]
    assert done.returncode in CODES.get(verb, {0}), done.stdout + done.stderr
    assert done.stdout or ">" in command
    assert "Traceback" not in done.stderr
