# SPDX-License-Identifier: MIT
"""What doctor says of a clock that processes share: invented machines, one fault at a time."""

import os

import pytest
from shared_pages import write_page

from timebase.doctor.shared import chrony, drift, page, place
from timebase.doctor.shared.examine import examine
from timebase.doctor.tree import Tree

GOOD_CHRONY = "pool pool.ntp.org iburst\nrtcsync\nmaxclockerror 50\n"


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def tree(folder, **files):
    """chrony="text" is /etc/chrony/chrony.conf, timebased="text" its own; others by path."""
    paths = {"chrony": chrony.PLACES[0], "timebased": place.DEFAULT}
    for name, text in files.items():
        path = folder / paths.get(name, name).lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Tree(folder)


def severities(document):
    return {finding["id"]: finding["severity"] for finding in document["findings"]}


def test_nothing_to_complain_of(tmp_path):
    path = write_page(tmp_path)
    found = examine(tree(tmp_path / "root", chrony=GOOD_CHRONY), path)
    assert severities(found) == {"shared-page": "ok", "drift-agrees": "ok"}


def test_a_machine_without_any_of_it_has_one_thing_to_know(tmp_path):
    assert severities(examine(Tree(tmp_path), tmp_path / "page")) == {"no-daemon": "info"}


def old(folder):
    return write_page(folder, age_sec=60)


def writable(folder):
    path = write_page(folder)
    path.chmod(0o666)
    return path


def linked(folder):
    write_page(folder, "elsewhere")
    (folder / "page").symlink_to("elsewhere")
    return folder / "page"


def off(folder):
    return write_page(folder, utc_ns=10**18)


@pytest.mark.parametrize(
    "make, id",
    [
        (old, "daemon-silent"),
        (writable, "page-untrusted"),
        (linked, "page-untrusted"),
        (off, "page-off"),
        (lambda folder: write_page(folder, seq=0), "page-unusable"),
        (lambda folder: write_page(folder, counter_id=17), "page-unusable"),
    ],
)
def test_fault_of_the_page_is_found(tmp_path, make, id):
    (finding,) = page.judge(page.look(make(tmp_path)))
    assert (finding.id, finding.severity) == (id, "warning")
    assert finding.advice


@pytest.mark.parametrize(
    "theirs, ours, told",
    [
        ("rtcsync\n", "", "maxclockerror 50"),
        ("rtcsync\nmaxclockerror 10\n", "", "chrony.conf:2"),
        ("rtcsync\nmaxclockerror 50\n", "drift = 20\n", "drift = 50"),
        ("rtcsync\nmaxclockerror 50\n", "drift = 100 # warm room\n", "maxclockerror 100"),
        ("rtcsync\nmaxclockerror 50\n", "drift = 20ppm\n", "drift = 50"),
        ("rtcsync\nmaxclockerror 50\n", "drift = 100000 ppb\n", "maxclockerror 100"),
    ],
)
def test_two_allowances_for_one_oscillator_are_named(tmp_path, theirs, ours, told):
    found = tree(tmp_path, chrony=theirs, timebased=ours)
    configuration = chrony.read(found)
    (finding,) = drift.judge(drift.read(found), configuration, True)
    assert (finding.id, finding.severity) == ("drift-mismatch", "warning")
    assert told in finding.text + finding.advice
    (unused,) = drift.judge(drift.read(found), configuration, False)
    assert unused.severity == "info"


@pytest.mark.parametrize("value", ["", "fast", "ppm", "20 pps", "-1", "0", "nan", "inf"])
def test_a_drift_that_is_none_is_named_by_its_line(tmp_path, value):
    found = drift.read(tree(tmp_path, timebased=f"# mine\n\ndrift = {value}\n"))
    (finding,) = drift.judge(found, None, True)
    assert finding.id == "drift-unusable"
    assert f"{place.DEFAULT}:3" in finding.text


def test_without_rtcsync_the_kernel_is_never_synchronised(tmp_path):
    (finding,) = chrony.judge(chrony.read(tree(tmp_path, chrony="maxclockerror 50\n")))
    assert (finding.id, finding.severity) == ("chrony-rtcsync", "warning")


def test_the_configuration_is_read_as_chronyd_does(tmp_path):
    files = {
        "chrony": "! a comment\n  MaxClockError 1\ninclude /etc/chrony/more/*.inc\n"
        "confdir /etc/chrony/b /etc/chrony/a\n#rtcsync\nleapsectz right/UTC\n",
        "/etc/chrony/more/1.inc": "maxclockerror 2\n",
        "/etc/chrony/a/x.conf": "maxclockerror 3\n",
        "/etc/chrony/b/x.conf": "maxclockerror 4\nhwtimestamp *\n",
        "/etc/chrony/b/ignored.txt": "maxclockerror 5\n",
    }
    found = chrony.read(tree(tmp_path, **files))
    assert found.maxclockerror_ppm == 4
    assert found.maxclockerror_line == "/etc/chrony/b/x.conf:1"
    assert (found.rtcsync, found.hwtimestamp, found.leapsectz) == (False, True, "right/UTC")


def test_the_last_word_counts_after_an_include_too(tmp_path):
    files = {
        "chrony": "include /etc/chrony/1.inc\nmaxclockerror 7\n",
        "/etc/chrony/1.inc": "maxclockerror 2\n",
    }
    assert chrony.read(tree(tmp_path, **files)).maxclockerror_ppm == 7


def test_a_file_that_includes_itself_comes_to_an_end(tmp_path):
    found = chrony.read(tree(tmp_path, chrony="include /etc/chrony/chrony.conf\nrtcsync\n"))
    assert found.unreadable
    assert "chrony-unreadable" in {finding.id for finding in chrony.judge(found)}


@pytest.mark.parametrize("value", ["", "much", "nan", "-3", "1e999"])
def test_nonsense_in_chronys_file_is_chronys_matter(tmp_path, value):
    found = chrony.read(tree(tmp_path, chrony=f"maxclockerror {value}\nrtcsync\n"))
    assert found.maxclockerror_ppm == chrony.DEFAULT_MAXCLOCKERROR_PPM


def test_red_hats_place_is_known(tmp_path):
    found = chrony.read(tree(tmp_path, **{"/etc/chrony.conf": GOOD_CHRONY}))
    assert found.path == "/etc/chrony.conf"


def test_worst_first(tmp_path):
    path = writable(tmp_path)
    found = examine(tree(tmp_path / "root", chrony=GOOD_CHRONY), path)
    order = ["critical", "warning", "info", "ok"]
    places = [order.index(finding["severity"]) for finding in found["findings"]]
    assert places == sorted(places)


def invented_daemon(folder, told):
    program = folder / "timebased"
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{told}\nE\n")
    program.chmod(0o755)
    return str(folder)


def test_the_daemon_is_asked_where_its_configuration_is(tmp_path):
    told = "  --config=FILE         configuration; /opt/a b/etc/timebased.conf, if it exists"
    assert place.configuration(invented_daemon(tmp_path, told)) == "/opt/a b/etc/timebased.conf"


def test_without_a_daemon_or_with_one_that_is_silent_it_is_the_usual_place(tmp_path):
    assert place.configuration(str(tmp_path)) == place.DEFAULT
    assert place.configuration(invented_daemon(tmp_path, "Usage: ...")) == place.DEFAULT


def test_advice_names_the_file_that_this_daemon_reads(tmp_path):
    found = drift.read(tree(tmp_path, **{"/opt/x.conf": "drift = 20\n"}), "/opt/x.conf")
    (finding,) = drift.judge(found, chrony.Chrony("chrony.conf", maxclockerror_ppm=50), True)
    assert "/opt/x.conf:1" in finding.text and "into /opt/x.conf" in finding.advice
