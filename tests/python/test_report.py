# SPDX-License-Identifier: MIT
"""The report: one whole file that needs nothing else, or no file at all."""

import json
import os
import re
import signal
import stat
from html import unescape
from html.parser import HTMLParser

import jsonschema
import pytest
from interruptions import interrupt

from timebase import schemas
from timebase.api.errors import InputError, TimebaseError
from timebase.report import measure, verdict
from timebase.report.build import build
from timebase.report.file import require_writable, write_whole

SECTIONS = (
    "verdict",
    "doctor",
    "cost",
    "figure1",
    "resolution",
    "tracking",
    "trust",
    "causality",
    "stopwatch",
    "hit",
    "method",
    "machine",
)
VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}


class Outline(HTMLParser):
    """Ids of sections, tags that are not closed, and whatever would be fetched."""

    def __init__(self):
        super().__init__()
        self.sections, self.open, self.fetched, self.svgs = [], [], [], 0

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "section":
            self.sections.append(found["id"])
        self.svgs += tag == "svg"
        if tag in {"script", "link", "img", "iframe", "object", "image"}:
            self.fetched.append(tag)
        for name in ("src", "href", "xlink:href"):
            if not found.get(name, "#").startswith("#"):
                self.fetched.append(found[name])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.slow
def test_quick_report(timebase_command, tmp_path):
    outcome = timebase_command("report", "--quick", "--json", "--out", "here.html")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    jsonschema.Draft202012Validator(schemas.load("report")).validate(document)

    html = (tmp_path / "here.html").read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(html)
    assert outline.open == []
    assert tuple(outline.sections) == SECTIONS
    assert outline.svgs == 11
    assert outline.fetched == []
    assert not re.search(r"https?://|@import|url\((?!#)", html)
    assert document["verdict"]["headline"] in unescape(html)
    assert "954 or 953" in html or "953 or 954" in html
    assert [path.name for path in tmp_path.iterdir()] == ["here.html"]

    no_lines = {**document["trust"], "own": {**document["trust"]["own"], "problem": "no lines"}}
    assert "Nothing to take apart here: no lines" in build({**document, "trust": no_lines})

    without = {**document, "hit": {"problem": "the kernel refuses CPU 1"}}
    jsonschema.Draft202012Validator(schemas.load("report")).validate(without)
    assert "Not measured: the kernel refuses CPU 1" in build(without)


def test_a_machine_that_cannot_wait_gets_a_report_all_the_same(monkeypatch):
    def refuse(*_, **__):
        raise TimebaseError("the kernel refuses CPU 1")

    monkeypatch.setattr(measure.experiments, "run", refuse)
    hit = measure._hit(measure.QUICK, lambda *_: None)
    assert hit == {"problem": "the kernel refuses CPU 1"}
    use = verdict._starting({"hit": hit}, "yes")
    assert (use["answer"], use["why"]) == ("no", "the kernel refuses CPU 1")


@pytest.mark.parametrize("where", ["no-such-folder/report.html", ".", "/proc/report.html"])
def test_path_that_cannot_be_written(timebase_command, tmp_path, where):
    outcome = timebase_command("report", "--quick", "--out", where)
    assert outcome.code == 2
    assert where in outcome.err
    assert "Traceback" not in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def refuse(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_success_replaces_the_old_file(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    require_writable(path)
    assert path.read_text() == "old"
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_file_may_be_read_by_whom_the_umask_lets(tmp_path):
    path = tmp_path / "report.html"
    before = os.umask(0o027)
    try:
        write_whole(path, "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError):
        require_writable(tmp_path)


@pytest.mark.slow
def test_interrupted_report_leaves_nothing(tmp_path):
    measuring = (
        "from timebase.report import measure; examine = measure.examine;"
        "measure.examine = lambda *all: (print('begun', flush=True), examine(*all))[1]"
    )
    assert interrupt(signal.SIGTERM, tmp_path, measuring, "report", "--quick") != 0
    assert list(tmp_path.iterdir()) == []
