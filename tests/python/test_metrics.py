# SPDX-License-Identifier: MIT
"""The daemon's metrics: what is taken from them, and what is said about a file that is none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_pages import GOOD_METRICS, write_metrics

from timebase.status.file import Refused
from timebase.status.metrics import METRICS, MOST_BYTES, parse_metrics, read_metrics

PATH = Path("metrics.prom")


def refusal(text):
    with pytest.raises(Refused) as caught:
        parse_metrics(text, PATH)
    assert caught.value.id == "format"
    return str(caught.value)


def test_values_labels_and_references():
    found = parse_metrics(GOOD_METRICS, PATH, 1.5)
    assert found.age_sec == 1.5
    assert found.value("timebase_up") == 1
    assert found.value("timebase_publications_total") == 1000
    assert found.info["version"] == "0.1.0"
    chrony, phc = found.sources
    assert (chrony.source, chrony.offset_ns, chrony.error_ns) == ("chrony", -1500, 900_000)
    assert (chrony.is_up, chrony.is_falseticker) == (True, False)
    assert phc.source == "phc:/dev/ptp0"


def test_what_is_not_a_number_is_not_known():
    assert parse_metrics(GOOD_METRICS, PATH).value("timebase_frequency_error_ppb") is None


def test_what_is_not_said_is_not_known():
    found = parse_metrics("timebase_up 0\n", PATH)
    assert found.value("timebase_up") == 0
    assert found.value("timebase_status") is None
    assert found.sources == ()


def test_a_source_with_quotes_in_its_name_keeps_them():
    text = 'timebase_up 1\ntimebase_reference_up{source="a\\"b\\\\c"} 0\n'
    (one,) = parse_metrics(text, PATH).sources
    assert (one.source, one.is_up, one.offset_ns) == ('a"b\\c', False, None)


def test_a_line_that_is_refused_cannot_command_the_terminal():
    said = refusal(GOOD_METRICS + "a\x1b[2Jb c\n")
    assert said.isprintable() and "?[2J" in said


def test_a_name_cannot_command_the_terminal():
    text = 'timebase_up 1\ntimebase_info{version="\x1b[2J"} 1\n'
    text += 'timebase_falseticker{source="a\x1b]0;b\x07\\nOK"} 1\n'
    found = parse_metrics(text, PATH)
    assert found.info["version"] == "?[2J"
    assert found.sources[0].source == "a?]0;b??OK"


@pytest.mark.parametrize("bad", ["timebase_status many", 'timebase_status{a="b 1', "{} {} {}"])
def test_garbage_is_named_by_its_line(bad):
    assert refusal(f"timebase_up 1\n\n{bad}\n").startswith("metrics.prom:3: ")


def test_somebody_elses_metrics_are_not_a_daemons():
    assert "timebase_up" in refusal("node_timex_sync_status 1\n")
    assert "timebase_up" in refusal("")


def test_bytes_that_are_no_text_are_named_by_their_line(tmp_path):
    path = write_metrics(tmp_path)
    path.write_bytes(b"timebase_up 1\n# \xff\xfe\n")
    with pytest.raises(Refused, match=r":2: not UTF-8"):
        read_metrics(path, 0)


def test_an_endless_file_is_not_read(tmp_path):
    path = write_metrics(tmp_path)
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(Refused, match="larger"):
        read_metrics(path, 0)


def test_age_is_that_of_the_file(tmp_path):
    path = write_metrics(tmp_path)
    written = path.stat().st_mtime
    assert read_metrics(path, written + 42).age_sec == 42
    assert read_metrics(path, written - 42).age_sec == 0


def test_a_link_to_metrics_is_not_followed(tmp_path):
    write_metrics(tmp_path, name="real")
    (tmp_path / "metrics.prom").symlink_to("real")
    with pytest.raises(Refused, match="link"):
        read_metrics(tmp_path / "metrics.prom", 0)


def test_every_metric_of_the_fixture_is_in_the_list():
    names = {line.split("{")[0].split()[0] for line in GOOD_METRICS.splitlines() if line[0] != "#"}
    assert names <= METRICS.keys()


NAMES = st.sampled_from(sorted(METRICS))
LINES = st.one_of(
    st.text(max_size=40),
    st.tuples(NAMES, st.text(max_size=10), st.text(max_size=10)).map("{0[0]}{0[1]} {0[2]}".format),
    st.tuples(NAMES, st.floats()).map("{0[0]} {0[1]}".format),
)


@given(st.lists(LINES, max_size=8))
def test_any_text_is_metrics_or_refused(lines):
    try:
        found = parse_metrics("\n".join(["timebase_up 1", *lines, ""]), PATH)
    except Refused:
        return
    assert all(abs(value) < float("inf") for value in found.values.values())
