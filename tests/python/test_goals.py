# SPDX-License-Identifier: MIT
"""The goal figures of a clock: the price that a reading may have is that of the processor's vendor."""

import sys

import pytest
from daemons import ROOT

sys.path.insert(0, str(ROOT / "bench"))
import goals

RATIOS = {
    "unordered_to_counter": [1.0, 1.1, 1.04],
    "utc_to_realtime": [0.8],
    "interval_to_realtime": [0.9],
    "published_to_quiet": [1.0],
}


def musts(vendor):
    return [
        must for _figure, _reached, must in goals.cost_rows({"vendor": vendor, "ratios": RATIOS})
    ]


@pytest.mark.parametrize(
    "vendor, wanted",
    [
        ("GenuineIntel", ["≤ 1.18", "≤ 0.80", "≤ 0.85", "≤ 1.1"]),
        ("AuthenticAMD", ["≤ 1.05", "≤ 0.87", "≤ 0.89", "≤ 1.1"]),
        ("HygonGenuine", ["–", "–", "–", "≤ 1.1"]),
        (None, ["–", "–", "–", "≤ 1.1"]),
    ],
)
def test_musts_are_those_of_the_vendor(vendor, wanted):
    assert musts(vendor) == wanted


def test_every_vendor_has_a_must_for_the_same_figures():
    named = {frozenset(of) for of in goals.COST_MUSTS.values()}
    assert len(named) == 1 and next(iter(named)) < RATIOS.keys()


def test_the_median_of_the_runs_is_told():
    rows = goals.cost_rows({"vendor": None, "ratios": RATIOS})
    assert rows[0] == ("utc_ns_unordered / bare counter", "1.040", "–")


def test_the_vendor_is_what_the_processor_says():
    text = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\n"
    assert goals.vendor(text) == "AuthenticAMD"
    assert goals.vendor("processor\t: 0\nBogoMIPS\t: 50.00\n") is None
    assert goals.vendor("processor       : 0\nvendor_id       : IBM/S390\n") == "IBM/S390"


def test_the_table_has_the_costs_and_leaves_out_what_was_not_measured():
    rows = goals.table({"cost": {"vendor": "GenuineIntel", "ratios": RATIOS}})
    assert [must for _figure, _reached, must in rows] == musts("GenuineIntel")
