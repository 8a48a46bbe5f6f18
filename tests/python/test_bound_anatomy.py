# SPDX-License-Identifier: MIT
"""The terms that the report shows add up to the bound that the clock gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_pages import write_page

from timebase import Page, default_clock
from timebase.bench import bound
from timebase.report import plots
from timebase.status.examine import examine

U32, NS = st.integers(0, 2**32 - 1), st.integers(0, 2**61)


@given(st.integers(0, 2**40), st.integers(0, 2**64 - 1), U32, U32, NS, NS, st.integers(0, 2**40))
def test_terms_add_up_to_both_bounds(refresh, start, drift, slew, maxerror, claim, bracket):
    line = {
        "start_ticks": start,
        "period_frac": 2**63,
        "drift_rate": drift,
        "slew_rate": slew,
        "maxerror_ns": maxerror,
        "utc_maxerror_ns": claim,
    }
    found = bound.anatomy(Page.from_lines(line, line, line, refresh_ticks=refresh), bracket)
    for question, key in (("realtime", "realtime_ns"), ("utc", "utc_ns")):
        total = sum(term["ns"] for term in found["terms"] if question in term["of"])
        assert total == found["bounds"][key]
    assert all(term["ns"] >= 0 for term in found["terms"])


def test_this_process_own_clock_can_be_taken_apart():
    default_clock().utc_ns()
    found = bound.run(0.3)
    size = len(found["sawtooth"]["time_sec"])
    assert (
        size == len(found["sawtooth"]["maxerror_ns"]) == len(found["sawtooth"]["utc_maxerror_ns"])
    )
    if found["problem"] is None:
        assert plots.anatomy(found).startswith("<svg")
    assert plots.sawtooth(found["sawtooth"]).startswith("<svg")


def test_a_clock_without_lines_has_no_anatomy(monkeypatch):
    monkeypatch.setattr(bound, "_own_page", lambda: Page().validate())
    found = bound.run(0.01)
    assert found["problem"]
    assert found["terms"] == []


@pytest.mark.parametrize("there", [True, False])
def test_the_report_takes_whatever_status_finds(tmp_path, there):
    path = write_page(tmp_path) if there else tmp_path / "page"
    assert (examine(path)["page"] is not None) == there
