# SPDX-License-Identifier: MIT
"""The metrics file that timebased writes."""

import stat

from daemons import eventually, needs_program
from prometheus_client.parser import text_string_to_metric_families

from timebase.status.metrics import METRICS

pytestmark = needs_program


NAMES = """
up info status offset_ns maxerror_ns utc_maxerror_ns utc_estimate never_moved
counter_distrusted corrected_cpus publications late_publications
utc_steps slews contradictions suspends disruptions page_age_seconds frequency_hz frequency_error_ppb leap
timeline_bytes start_time_seconds reference_offset_ns reference_error_ns reference_up
reference_outdated falseticker
"""


def families(path):
    return {family.name: family for family in text_string_to_metric_families(path.read_text())}


def wait_for_all(path):
    """The first files come before the first claim and before the first lines."""
    last = ("timebase_reference_up{", "timebase_status ", "timebase_frequency_error_ppb ")
    eventually(lambda: path.exists() and all(one in path.read_text() for one in last), "metrics")


def test_metrics_are_what_prometheus_reads(start):
    daemon = start("--reference=kernel")
    path = daemon.page.with_name("metrics.prom")
    wait_for_all(path)
    found = families(path)
    for name in NAMES.split():
        family = found[f"timebase_{name}"]
        assert family.documentation and family.type in ("gauge", "counter"), name
        assert len(family.samples) == 1, name
    labels = found["timebase_info"].samples[0].labels
    assert labels["page"] == str(daemon.page)
    assert labels["reference"] == "kernel"
    assert found["timebase_up"].samples[0].value == 1
    assert found["timebase_publications"].samples[0].value > 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    daemon.end()
    assert families(path)["timebase_up"].samples[0].value == 0


def test_metrics_are_those_that_others_know_of(start):
    """The list is what the command line and the alert rules go by."""
    daemon = start("--reference=kernel")
    path = daemon.page.with_name("metrics.prom")
    wait_for_all(path)
    samples = [sample for family in families(path).values() for sample in family.samples]
    optional = {"timebase_tai_offset_seconds"}  # where somebody has told the kernel
    found = {sample.name: tuple(sample.labels) for sample in samples}
    assert {**found, **{name: () for name in optional}} == METRICS


def test_metrics_are_never_seen_in_part(start):
    """Over three files in each other's place."""
    daemon = start()
    path = daemon.page.with_name("metrics.prom")
    eventually(path.exists, "metrics")
    seen = set()
    while len(seen) < 3:
        text = path.read_text()
        assert text.endswith("\n")
        assert "timebase_start_time_seconds" in text
        seen.add((path.stat().st_ino, path.stat().st_mtime_ns))
        assert daemon.process.poll() is None, daemon.log


def test_a_refused_metrics_file_is_told_once_and_the_page_goes_on(start, tmp_path):
    daemon = start(f"--metrics={tmp_path}/nowhere/metrics.prom")
    daemon.wait_for_log("metrics: cannot make .*nowhere.*trying again every second")
    seq = daemon.wait_for_page().seq
    daemon.wait_for_page(beyond=seq + 5)
    assert daemon.log.count("metrics: cannot make") == 1
