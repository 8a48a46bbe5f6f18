# SPDX-License-Identifier: MIT
"""What `make test` says in the end, and that it comes to one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def watchdog(*arguments):
    return subprocess.run(
        [SCRIPTS / "watchdog", *arguments], capture_output=True, text=True, check=False
    )


# ---- what hangs


# The watchdog, whose limit is reached when a file has something in it: what comes late on a busy
# machine is waited for.
PATIENT = """
import os, subprocess, sys, time

class Popen(subprocess.Popen):
    def wait(self, timeout=None):
        if timeout is None:
            return super().wait()
        while not (os.path.exists(begun) and os.path.getsize(begun)):
            if self.poll() is not None:
                return self.returncode
            time.sleep(0.01)
        raise subprocess.TimeoutExpired(self.args, timeout)

path, begun = sys.argv[1:3]
del sys.argv[1:3]
watchdog = {"__name__": "watchdog"}
exec(open(path).read(), watchdog)
subprocess.Popen = Popen
sys.exit(watchdog["main"]())
"""


def watchdog_of_what_has_begun(begun, *command):
    return subprocess.run(
        [sys.executable, "-c", PATIENT, SCRIPTS / "watchdog", begun, *command],
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_takes_too_long_is_ended():
    assert watchdog("--limit", "0.2", "sleep", "2000").returncode == 124


def test_what_hangs_is_named_and_ended_with_all_it_started(tmp_path):
    """A session of its own does not escape, nor does who ignores signals."""
    child = "import os, signal, time; os.setsid(); signal.signal(15, signal.SIG_IGN);"
    child += f"open('{tmp_path}/new', 'w').write(str(os.getpid()));"
    child += f"os.rename('{tmp_path}/new', '{tmp_path}/begun'); time.sleep(100000)"
    command = ["sh", "-c", f'{sys.executable} -c "$0" & exec sleep 200000', child]
    done = watchdog_of_what_has_begun(tmp_path / "begun", *command)
    assert done.returncode == 124
    assert str(tmp_path) in done.stdout
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "begun").read_text()), 0)


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_hanging_python_test_is_named_by_its_line(tmp_path, workers):
    test = tmp_path / "test_that_hangs.py"
    begun = tmp_path / "begun"
    code = (
        "import time\n\n\ndef test_for_ever():\n"
        f"    open('{begun}', 'w').write('begun')\n    time.sleep(100000)\n"
    )
    test.write_text(code)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", workers, str(test)]
    done = watchdog_of_what_has_begun(begun, *command)
    assert done.returncode == 124
    assert "test_that_hangs.py" in done.stderr and "test_for_ever" in done.stderr


def test_what_ends_is_left_alone(tmp_path):
    record = tmp_path / "some.stage"
    assert watchdog("--record", str(record), "sh", "-c", "exit 7").returncode == 7
    status, seconds, cpu_seconds = map(int, record.read_text().split())
    assert status == 7 and seconds >= 0 and cpu_seconds >= 0
    assert watchdog("sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert watchdog("sh", "-c", "echo said").stdout == "said\n"


# ---- what is said


def summary(folder):
    done = subprocess.run(
        [SCRIPTS / "summary", folder], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def write_meson(path, *results):
    tests = ({"name": "one", "result": result, "stdout": "", "stderr": ""} for result in results)
    path.write_text("".join(json.dumps(test) + "\n" for test in tests))


def test_counts_of_all_stages_are_added_up(tmp_path):
    (tmp_path / "native.stage").write_text("0 10 20\n")
    write_meson(tmp_path / "native.json", "OK", "OK", "SKIP")
    (tmp_path / "model.stage").write_text("0 5 5\n")
    (tmp_path / "model.count").write_text("4 passed, 0 failed\n")
    status, lines = summary(tmp_path)
    assert status == 0
    assert lines[-1] == "timebase: 6 passed, 0 failed, 1 skipped"
    assert lines[-2].split() == ["together", "6", "0", "1", "15", "25"]
    assert len(lines) == 5
    (tmp_path / "elapsed").write_text("11\n")  # side by side
    assert summary(tmp_path)[1][-2].split() == ["together", "6", "0", "1", "11", "25"]


@pytest.mark.parametrize(
    "status, results, remark",
    [(1, ["OK", "FAIL"], "FAILED"), (1, ["OK"], "FAILED"), (124, ["OK"], "DID NOT END")],
)
def test_a_stage_that_fails_fails_the_whole(tmp_path, status, results, remark):
    (tmp_path / "native.stage").write_text(f"{status} 1 1\n")
    write_meson(tmp_path / "native.json", *results)
    code, lines = summary(tmp_path)
    assert code == 1
    assert lines[-1] == "timebase: 1 passed, 1 failed"
    assert lines[1].endswith(remark)
    assert ("failed: native: one" in lines) == ("FAIL" in results)


def test_what_failed_is_named_at_the_end(tmp_path):
    (tmp_path / "native.stage").write_text("1 1 1\n")
    failed = {"name": "unit / wait", "result": "FAIL", "stderr": ""}
    failed["stdout"] = "[  FAILED  ] early\n[  FAILED  ] late\n[  FAILED  ] 2 test(s)\n"
    (tmp_path / "native.json").write_text(json.dumps(failed) + "\n")
    (tmp_path / "native-more.count").write_text("3 passed, 1 failed\n")
    (tmp_path / "native-python.xml").write_text(
        '<testsuite tests="1" failures="1">'
        '<testcase classname="test_now" name="test_it"><failure/></testcase></testsuite>'
    )
    lines = summary(tmp_path)[1]
    assert lines[-4:-1] == [
        "failed: native-more: 3 passed, 1 failed",
        "failed: native-python: test_now.test_it",
        "failed: native: unit / wait: early, late",
    ]


def test_a_stage_without_counts_has_shown_nothing(tmp_path):
    (tmp_path / "python.stage").write_text("0 1 1\n")
    code, lines = summary(tmp_path)
    assert code == 1
    assert lines[-1] == "timebase: 0 passed, 1 failed"


# Each of the two ends when the other has begun.
SIDE_BY_SIDE = """
results = build/test-results
first second:
	@touch $@.begun
	@echo this is $@
	@until [ -f first.begun ] && [ -f second.begun ]; do sleep 0.01; done
	@echo "1 passed, 0 failed" >$(results)/$@.count
third:
	@echo "0 passed, 1 failed" >$(results)/$@.count; exit 1
"""


def test_joined_stages_run_side_by_side_and_are_shown_one_after_the_other(tmp_path):
    (tmp_path / "Makefile").write_text(SIDE_BY_SIDE)
    (tmp_path / "scripts").mkdir()
    for name in ("test", "watchdog", "summary"):
        shutil.copy(SCRIPTS / name, tmp_path / "scripts")
    done = subprocess.run(
        [tmp_path / "scripts/test", "first+second", "third"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MAKEFLAGS": ""},
    )
    lines = done.stdout.splitlines()
    shown = [line for line in lines if line.startswith(("=====", "this is"))]
    assert shown == [
        "===== 1/3 first =====",
        "this is first",
        "===== 2/3 second =====",
        "this is second",
        "===== 3/3 third =====",
    ]
    assert lines[-1] == "timebase: 2 passed, 1 failed"
    assert done.returncode == 1


# ---- no luck


def test_no_test_is_tried_twice_or_chosen_by_the_date():
    """pytest's plugins for it are not installed, and no script asks for it. scripts/stress, which
    repeats all to find what fails once, is part of no other."""
    scripts = [path for path in SCRIPTS.iterdir() if path.is_file() and path.name != "stress"]
    texts = [path.read_text() for path in scripts]
    root = SCRIPTS.parent
    texts += [(root / name).read_text() for name in ("Makefile", "pyproject.toml")]
    for word in ("rerun", "--repeat", "$(date", "`date", "--share", "scripts/stress"):
        assert not [text for text in texts if word in text], word


def test_no_c_test_has_a_limit_in_seconds():
    """Of Meson: 30 s where none is named. The default setup lifts it."""
    files = [SCRIPTS.parent / "meson.build", *(SCRIPTS.parent / "tests").rglob("meson.build")]
    texts = [path.read_text() for path in files]
    assert "timeout_multiplier: 0, is_default: true" in texts[0]
    assert not [text for text in texts if "timeout:" in text]
