# SPDX-License-Identifier: MIT
"""The package keeps the contract of pyproject.toml: rooms in layers, and no circles."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import timebase

pytest.importorskip("importlinter", reason="import-linter needs Python 3.10")

ROOT = Path(__file__).resolve().parents[2]
LINT = (
    "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
)


def lint(package_parent):
    """The contract on the package `timebase` in that folder."""
    return subprocess.run(
        [sys.executable, "-c", LINT],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(package_parent)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_room_imports_only_rooms_below_it():
    done = lint(Path(timebase.__file__).parents[1])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(
    "module, line, contract",
    [
        ("api/errors.py", "from timebase.cli import now", "A room imports only rooms below it"),
        ("api/errors.py", "from timebase.api import clock", "No circles"),
        ("convert/formats.py", "from timebase.run import table", "A room imports only"),
        ("text/utc.py", "from timebase.api import errors", "A room imports only"),
        ("status/file.py", "import typer", "Only the command line"),
        ("doctor/tree.py", "def f():\n    from timebase.doctor.shared import page", "No circles"),
    ],
)
def test_what_breaks_the_contract_is_noticed(tmp_path, module, line, contract):
    shutil.copytree(Path(timebase.__file__).parent, tmp_path / "timebase")
    with open(tmp_path / "timebase" / module, "a", encoding="utf-8") as file:
        file.write(line + "\n")
    done = lint(tmp_path)
    assert done.returncode != 0
    assert any(row.startswith(contract) and "BROKEN" in row for row in done.stdout.splitlines()), (
        done.stdout + done.stderr
    )


def test_a_new_room_needs_its_place(tmp_path):
    shutil.copytree(Path(timebase.__file__).parent, tmp_path / "timebase")
    (tmp_path / "timebase" / "misc").mkdir()
    (tmp_path / "timebase" / "misc" / "__init__.py").touch()
    assert lint(tmp_path).returncode != 0
