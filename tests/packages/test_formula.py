# SPDX-License-Identifier: MIT
"""The formula for Homebrew, without Homebrew: what it would run installs a library and a daemon that
work."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORMULA = ROOT / "packaging/homebrew/timebase.rb"
STAND = Path(__file__).with_name("homebrew_formula.rb")

pytestmark = pytest.mark.skipif(not shutil.which("ruby"), reason="no ruby: make packages")


def test_what_it_installs_works_and_has_its_configuration_where_homebrew_wants_it(tmp_path):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    prefix, etc = tmp_path / "cellar", tmp_path / "etc"
    done = subprocess.run(
        ["ruby", STAND, FORMULA, prefix, etc],
        cwd=clone,
        env={**os.environ, "PATH": f"/usr/bin:/bin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"# read: {etc}/timebase/timebased.conf\n" in done.stdout
    assert sorted(path.name for path in prefix.iterdir()) == ["include", "lib", "sbin", "share"]
