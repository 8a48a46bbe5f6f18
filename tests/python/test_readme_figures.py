# SPDX-License-Identifier: MIT
"""README's figures are those of the tables in bench/results."""

import sys

import pytest
from daemons import ROOT

sys.path.insert(0, str(ROOT / "bench"))
import readme


def test_the_figures_are_those_of_the_tables():
    assert readme.main(["--check"]) == 0


def test_other_figures_are_noticed(tmp_path, monkeypatch, capsys):
    text = readme.README.read_text(encoding="utf-8")
    figure = readme.value(readme.FIGURES[0])
    monkeypatch.setattr(readme, "README", tmp_path / "README.md")
    readme.README.write_text(text.replace(f"| {figure} |", "| 0.001 |"), encoding="utf-8")
    assert readme.main(["--check"]) == 1
    assert "bench/readme.py" in capsys.readouterr().out
    assert readme.main([]) == 0
    assert readme.README.read_text(encoding="utf-8") == text


def test_a_row_that_is_not_there_is_named():
    with pytest.raises(readme.NoSuchRowError, match="no such figure"):
        readme.value(readme.Figure("x", "goals", "no such figure"))
