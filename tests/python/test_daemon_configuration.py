# SPDX-License-Identifier: MIT
"""What timebased is told: its configuration, its arguments, and both once more."""

import re
import signal
import subprocess

import pytest
from daemons import PROGRAM, ROOT, eventually, needs_program, run

pytestmark = needs_program


def test_check_names_file_line_and_remedy(tmp_path):
    config = tmp_path / "bad.conf"
    config.write_text("# fine\ninterval = 250ms\n\ndrift = plenty\n")
    done = run(f"--config={config}", "--check")
    assert done.returncode == 2
    assert f'{config}:4: drift: "plenty" is not parts in a million: write 1 to 1000' in done.stderr


@pytest.mark.parametrize(
    "reference",
    [
        "phc",
        "phc:/dev/ptp0,error=2furlongs",
        "chrony:-x",
        "chrony:,interval=0s",
        "simulated",
        "kernel:x",
    ],
)
def test_an_argument_that_a_reference_cannot_take_is_named_by_its_line(tmp_path, reference):
    config = tmp_path / "bad.conf"
    config.write_text(f"reference = chrony\nreference = {reference}\n")
    done = run(f"--config={config}", "--check")
    assert done.returncode == 2
    assert f"{config}:2: reference: {reference}: " in done.stderr
    done = run("--config=/dev/null", f"--reference={reference}", "--check")
    assert done.returncode == 2
    assert f"--reference: {reference}: " in done.stderr


def test_a_device_that_is_only_not_there_is_no_bad_configuration():
    done = run("--config=/dev/null", "--reference=phc:/nonexistent,error=2us", "--check")
    assert done.returncode == 0, done.stderr


def test_check_takes_the_configuration_that_is_shipped():
    shipped = ROOT / "daemon" / "timebased.conf"
    done = run(f"--config={shipped}", "--check")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"# read: {shipped}")


def settings(done):
    """What is in force, without where that comes from; lines of their own are without a value."""
    assert done.returncode == 0, done.stderr
    return [line.partition("  #")[0] for line in done.stdout.splitlines()[1:]]


def test_what_is_commented_out_in_it_is_the_default(tmp_path):
    lines = (ROOT / "daemon" / "timebased.conf").read_text().splitlines()
    defaults = [line[1:] for line in lines if re.match(r"#\w", line)]
    assert len(defaults) >= 7
    (tmp_path / "defaults.conf").write_text("\n".join(defaults) + "\n")
    uncommented = run(f"--config={tmp_path}/defaults.conf", "--check")
    assert uncommented.stdout.count("  # file") == len(defaults)
    assert settings(uncommented) == settings(run("--config=/dev/null", "--check"))


def test_its_examples_are_good_ones(tmp_path):
    lines = (ROOT / "daemon" / "timebased.conf").read_text().splitlines()
    examples = [line.split("e.g. ")[1] for line in lines if line.startswith("# e.g. ")]
    assert {line.split(" = ")[0] for line in examples} == {"reference", "timeline", "user"}
    examples = [line for line in examples if not line.startswith("user")]  # made at installation
    (tmp_path / "examples.conf").write_text("\n".join(examples) + "\n")
    assert run(f"--config={tmp_path}/examples.conf", "--check").returncode == 0


def test_the_log_has_units_and_not_nanoseconds_by_the_thousand(start):
    """16000501000 ns is what nobody reads."""
    daemon = start("--reference=kernel")
    daemon.wait_for_log("status INITIALIZING")
    assert re.search(r"give or take [\d.]+ (ns|us|ms|s);", daemon.log)
    assert not re.search(r"\d{4,} ns", daemon.log), daemon.log


@pytest.mark.parametrize("content", [b"\0\0\0", b"\xff" * 3000, b"=", b"a" * 70_000, b"page"])
def test_garbage_for_a_configuration_is_refused_by_name(tmp_path, content):
    config = tmp_path / "garbage.conf"
    config.write_bytes(content)
    done = run(f"--config={config}")
    assert done.returncode == 2
    assert str(config) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_configuration_that_was_asked_for_must_be_there(tmp_path):
    done = run(f"--config={tmp_path}/none.conf", "--check")
    assert done.returncode == 2
    assert "none.conf: No such file or directory: name a file that is there" in done.stderr


def test_help_and_version():
    assert "--timeline-size=SIZE" in run("--help").stdout
    assert run("--version").stdout.startswith("timebased 0.")
    assert run("--frobnicate").returncode == 2


def test_reads_the_configuration_again_on_hup(start, tmp_path):
    config = tmp_path / "timebased.conf"
    config.write_text("interval = 2s\n")
    daemon = start(f"--config={config}")
    daemon.wait_for_page()
    config.write_text("interval = fast\n")
    daemon.send(signal.SIGHUP)
    daemon.wait_for_log("timebased.conf:1: interval: .* going on with the configuration as it was")
    config.write_text("interval = 100ms\nlog_level = debug\npage = /elsewhere/page\n")
    daemon.send(signal.SIGHUP)
    daemon.wait_for_log("configuration read again")
    seq = daemon.wait_for_page().seq
    daemon.wait_for_page(beyond=seq + 3)
    assert daemon.process.poll() is None


def test_a_reload_leaves_references_alone_that_are_the_same(start, tmp_path):
    config, claim = tmp_path / "timebased.conf", tmp_path / "claim"
    claim.write_text("5 1000 1\n")
    config.write_text(f"interval = 100ms\nreference = simulated:{claim}\n")
    daemon = start(f"--config={config}")
    daemon.wait_for_log("follows UTC")
    for drift in (60, 70):
        config.write_text(f"interval = 100ms\ndrift = {drift}\nreference = simulated:{claim}\n")
        daemon.send(signal.SIGHUP)
        daemon.wait_for_log("configuration read again", count=drift // 10 - 5)
        daemon.wait_for_page(beyond=daemon.wait_for_page().seq + 3)
    assert daemon.log.count("follows UTC") == 1
    config.write_text(f"interval = 100ms\nreference = simulated:{claim}\nreference = kernel\n")
    daemon.send(signal.SIGHUP)
    daemon.wait_for_log("simulated:.*follows UTC", count=2)
    daemon.wait_for_log("reference kernel: ")


def test_metrics_stay_beside_the_page_that_a_reload_keeps(tmp_path):
    config, metrics, log = (tmp_path / name for name in ("conf", "run/metrics.prom", "log"))
    config.write_text(f"page = {tmp_path}/run/page\n")
    with log.open("wb") as told:
        process = subprocess.Popen([str(PROGRAM), f"--config={config}"], stderr=told)
    try:
        eventually(metrics.exists, "metrics beside the page")
        (tmp_path / "elsewhere").mkdir()
        config.write_text(f"page = {tmp_path}/elsewhere/page\n")
        process.send_signal(signal.SIGHUP)
        eventually(lambda: "configuration read again" in log.read_text(), "a reload")
        metrics.unlink()
        eventually(metrics.exists, "metrics beside the page that was kept")
    finally:
        process.kill()
        process.wait()
