# SPDX-License-Identifier: MIT
"""Each table in bench/results is of a commit of this history, so that its figures can be measured
again on the code that they are of."""

import re
import subprocess

import pytest
from daemons import ROOT

# As bench/record.py writes it: in a heading, and in the rows of a table that several runs made.
NAMED = re.compile(r", commit (\S+?)[.,]?(?:\s|$)|\| \d{4}-\d\d-\d\d, (\S+), load ", re.MULTILINE)

TABLES = sorted(path.stem for path in (ROOT / "bench/results").glob("*.md"))


def git(*arguments):
    return subprocess.run(
        ["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def history():
    """Skips where git does not have all of it."""
    try:
        done = git("rev-parse", "--is-shallow-repository")
    except OSError as error:
        pytest.skip(f"no git: {error}")
    if done.returncode != 0:
        pytest.skip(f"no history here: {done.stderr.strip()}")
    if done.stdout.strip() != "false":
        pytest.skip("a shallow clone lacks the commits that the tables name")
    texts = [text_of(table) for table in TABLES]
    named = {name for text in texts for name in commits(text)}
    if not any(git("cat-file", "-e", f"{name}^{{commit}}").returncode == 0 for name in named):
        pytest.skip("a history that was written anew: it has none of the commits")


def text_of(table):
    return (ROOT / f"bench/results/{table}.md").read_text(encoding="utf-8")


def commits(text):
    return [heading or row for heading, row in NAMED.findall(text)]


def complaints(text):
    named = commits(text)
    if not commits(text.partition("\n")[0]):
        yield "its heading names no commit"
    for name in sorted(set(named)):
        if git("merge-base", "--is-ancestor", name, "HEAD").returncode != 0:
            yield f"{name} is no commit of this history"


@pytest.mark.parametrize("table", TABLES)
def test_a_table_names_commits_of_this_history(table, history):
    assert list(complaints(text_of(table))) == []


def test_commits_are_found_where_they_are_written():
    assert commits("AMD, load 0.4 at the start, 2026-11-22, commit ccb3239d6656.\n") == [
        "ccb3239d6656"
    ]
    assert commits("A, commit ccb3239d6656. Tools: g++\n") == ["ccb3239d6656"]
    assert commits("A, commit v0.1.0-3-gccb3239d6656-dirty.\n") == ["v0.1.0-3-gccb3239d6656-dirty"]
    assert commits("| x | 0 | 2026-11-21, 8afbcd9a2e13, load 0.1 |\n") == ["8afbcd9a2e13"]
    assert commits("AMD, load 0.4 at the start, 2026-11-21.\n") == []


def test_a_table_without_a_commit_or_of_a_changed_or_unknown_tree_is_named(history):
    head = git("rev-parse", "--short=12", "HEAD").stdout.strip()
    heading = "AMD, load 0.4 at the start, 2026-11-22, commit {}.\n\n| figure |\n"
    assert not list(complaints(heading.format(head)))
    for wrong in (f"{head}-dirty", "unknown", "0123456789ab"):
        assert list(complaints(heading.format(wrong))) == [f"{wrong} is no commit of this history"]
    assert list(complaints("AMD, 2026-11-21.\n")) == ["its heading names no commit"]
    assert list(complaints("A table.\n\n" + heading.format(head))) == [
        "its heading names no commit"
    ]
