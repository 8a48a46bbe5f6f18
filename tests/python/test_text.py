# SPDX-License-Identifier: MIT
"""What people read: no more digits than are known, names instead of signatures."""

import pytest

from timebase.doctor.conclusions import conclude
from timebase.text.frequency import show_frequency
from timebase.text.hypervisor import show_hypervisor


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
