# SPDX-License-Identifier: MIT
"""What people read: no more digits than are known, names instead of signatures."""

import re
from pathlib import Path

import pytest

from timebase.doctor.conclusions import conclude
from timebase.text.duration import show_duration, show_error
from timebase.text.frequency import show_frequency
from timebase.text.hypervisor import show_hypervisor
from timebase.text.size import show_size

DECISION = Path(__file__).resolve().parents[2] / "docs/decisions/0022-messages.md"


@pytest.mark.parametrize(
    ("hz", "error_hz", "text"),
    [
        (2_596_130_170, 45_250, "2,596.13 MHz ± 0.05 MHz (17 ppm)"),
        (2_596_130_170, 0, "2,596.130170 MHz"),
        (24_000_000, 1, "24.000000 MHz ± 0.000001 MHz (0.042 ppm)"),
        (1_000_000_000, 2_000_000, "1,000 MHz ± 2 MHz (2,000 ppm)"),
        (512_000_000, 100_000, "512.0 MHz ± 0.1 MHz (195 ppm)"),
    ],
)
def test_frequency_has_the_digits_that_are_known(hz, error_hz, text):
    assert show_frequency(hz, error_hz) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (31, "31 ns"),
        (0, "0 ns"),
        (-1, "-1 ns"),
        (31.0, "31.0 ns"),  # measured, not counted
        (16_000_552_854, "16.0 s"),
        (133_713, "134 µs"),
    ],
)
def test_whole_nanoseconds_are_shown_whole_and_many_of_them_in_larger_units(ns, text):
    assert show_duration(ns) == text


def test_both_errors_stand_in_one_phrase():
    assert show_error(31, 30_000) == "31 ns, certainly within 30.0 µs"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (512.0, "512 bytes"), (4096, "4.0 KiB"), (3 * 2**29, "1.5 GiB")],
)
def test_a_small_file_is_not_0_megabytes(size, text):
    assert show_size(size) == text


def test_hypervisors_have_names_and_strangers_keep_their_signature():
    assert show_hypervisor("KVMKVMKVM") == "KVM"
    assert show_hypervisor("NoSuchThing!") == "NoSuchThing!"
    assert show_hypervisor(None) is None
    assert show_hypervisor("") is None


def test_the_worst_finding_is_the_answer():
    def finding(severity, text):
        return {"severity": severity, "text": text}

    bad, warning, good = finding("critical", "bad"), finding("warning", "w"), finding("ok", "fine")
    found = conclude({"a": [bad, warning, good], "b": [warning, warning], "c": [good], "d": []})
    assert [(one["answer"], one["reasons"], one["first"]) for one in found] == [
        ("no", 1, "bad"),
        ("with limits", 2, "w"),
        ("yes", 0, None),
        ("yes", 0, None),
    ]


def test_each_message_of_the_decision_has_its_test():
    rows = re.findall(r"\| `(test_\w+\.py)`: `(test_\w+)` \|$", DECISION.read_text(), re.MULTILINE)
    assert len(rows) > 15
    for file, name in rows:
        assert f"\ndef {name}(" in (DECISION.parents[2] / "tests/python" / file).read_text(), name
