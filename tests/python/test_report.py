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

from timebase import Status, default_clock, schemas
from timebase.accuracy.figure import axis, panel, series
from timebase.api.errors import InputError, TimebaseError
from timebase.bench.cost import row_names
from timebase.report import measure, verdict
from timebase.report.build import build
from timebase.report.file import require_writable, write_whole
from timebase.report.panels import draw
from timebase.report.plots import sawtooth
from timebase.report.svg import COLOURS
from timebase.report.words import READINGS, STATISTICS, prose, statistics

SECTIONS = (
    "verdict",
    "doctor",
    "cost",
    "tracking",
    "trust",
    "causality",
    "stopwatch",
    "hit",
    "method",
    "machine",
    "history",
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

    assert_said_in_words(html)

    no_lines = {**document["trust"], "own": {**document["trust"]["own"], "problem": "no lines"}}
    assert "Nothing to take apart here: no lines" in build({**document, "trust": no_lines})

    without = {**document, "hit": {"problem": "the kernel refuses CPU 1"}}
    jsonschema.Draft202012Validator(schemas.load("report")).validate(without)
    assert "Not measured: the kernel refuses CPU 1" in build(without)


def assert_said_in_words(html):
    """Below the verdict a person reads neither identifiers nor marks of other formats."""

    def shown(part):
        return unescape(re.sub(r"<[^>]*>", " ", part))

    text = shown(html.partition("</style>")[2])
    for identifier in ("page_updated_1khz", "empty_loop", "counter_id", "KVMKVMKVM", "`"):
        assert identifier not in text
    measured = shown(html.partition('id="history"')[0].partition("</style>")[2])
    assert "article" not in measured, "history has its own part at the end"
    assert re.search(r"rely on the bound", text)


def test_every_reading_of_the_bench_has_words():
    assert set(row_names()) <= set(READINGS)


def test_every_statistic_of_a_clock_has_words():
    found = default_clock().statistics()
    said = statistics(found)
    assert set(found) <= set(STATISTICS)
    assert said["status at the end"] in Status.__members__
    assert not said["counter"].isdigit()


def test_commands_are_marked_and_units_stay_with_their_numbers():
    assert prose("run `chronyc tracking` <b>") == "run <code>chronyc tracking</code> &lt;b&gt;"
    assert prose("25 ns, 3 % of 2 CPUs") == "25\xa0ns, 3\xa0% of 2 CPUs"


@pytest.mark.parametrize(("spike_ns", "is_cut"), [(5_000, False), (900_000, True)])
def test_one_tall_tooth_does_not_flatten_the_others(spike_ns, is_cut):
    teeth = [spike_ns] + [1000 + 500 * (i % 10) for i in range(200)]
    found = {"time_sec": [i / 100 for i in range(len(teeth))], "maxerror_ns": teeth}
    drawn = sawtooth(found)
    assert ("up to 900 µs" in drawn) == is_cut


@pytest.mark.parametrize(
    "reads, violations, answer",
    [(1_000_000, 0, "yes"), (999, 0, "limits"), (0, 0, "limits"), (999, 1, "no")],
)
def test_a_few_readings_do_not_show_that_time_never_goes_back(reads, violations, answer):
    row = {"name": "utc", "reads": reads, "violations": violations, "worst_ns": 1.0}
    assert verdict._ordering({"causality": {"rows": [row]}})["answer"] == answer


def test_panels_share_a_legend_only_if_it_has_their_colours():
    def drawn(roles):
        panels = [
            panel(axis("x"), axis("y"), [series("one pass", role, "dots", [0, 1], [0, 1])], "")
            for role in roles
        ]
        return draw({"panels": panels}, COLOURS)

    def legends(found):
        return len(found.legends), sum(axes.get_legend() is not None for axes in found.axes)

    assert legends(drawn(["ours", "ours"])) == (1, 0)
    assert legends(drawn(["article", "ours"])) == (0, 2)


def test_a_legend_below_leaves_the_axis_its_label():
    lines = [series(f"wait {n}", "ours", "line", [1, 2], [1, 2]) for n in range(5)]
    shown = panel(axis("x"), axis("share as far off or more"), lines)
    figure = draw({"panels": [shown]}, COLOURS)
    figure.canvas.draw()
    (axes,) = figure.axes
    label = axes.yaxis.label.get_window_extent()
    # A browser's font is wider than the one that it is measured with here.
    assert 1.4 * label.height <= axes.get_window_extent().height


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
