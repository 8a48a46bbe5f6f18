# SPDX-License-Identifier: MIT
"""What follows from the facts: one function per question, no measuring here."""

from __future__ import annotations

from timebase.doctor import clock, counter, surroundings, timers
from timebase.doctor.facts import Facts
from timebase.doctor.finding import SEVERITIES, Finding

QUESTIONS = (
    counter.is_counter_readable,
    counter.does_it_run_forwards,
    counter.does_the_kernel_trust_it,
    counter.what_class_is_it,
    counter.how_fast_is_it,
    timers.does_a_timer_agree_with_the_kernel,
    counter.how_fine_is_it,
    counter.is_it_emulated,
    surroundings.is_the_machine_virtual,
    surroundings.how_many_cpus,
    surroundings.which_time_namespace,
    clock.is_the_kernels_clock_right,
    clock.how_far_is_its_frequency_off,
    clock.is_tai_known,
    surroundings.is_anything_hidden,
    clock.are_kernel_calls_fast,
    clock.is_the_clock_well,
    counter.how_good_is_the_counter,
)


def judge(facts: Facts) -> list[Finding]:
    """All findings, worst first, else in the order of QUESTIONS."""
    findings = [finding for question in QUESTIONS for finding in question(facts)]
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
