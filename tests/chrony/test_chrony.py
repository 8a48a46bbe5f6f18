# SPDX-License-Identifier: MIT
"""The claims of the source `chrony`, against real daemons whose true offset is exactly 0."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

import pair

ROOT = Path(__file__).resolve().parents[2]
PROBE = ROOT / "build" / "native" / "tests" / "reference_probe"

pytestmark = pytest.mark.skipif(
    pair.CHRONYD is None or not pair.CHRONYC,
    reason="no chrony here: scripts/setup chrony installs it",
)


@pytest.fixture(scope="session")
def probe():
    """claims(argument, count, interval_ms) of the source, as the library makes them."""
    if not PROBE.exists():
        subprocess.run([ROOT / "scripts" / "build", "native"], check=True)

    def claims(argument, count, interval_ms=10):
        command = [str(PROBE), argument, str(count), str(interval_ms)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return claims


def synchronized(claims):
    return [claim for claim in claims if claim.get("is_synchronized")]


def ratio(claim):
    """How much of the bound the error takes; the truth is 0."""
    return abs(claim["offset_ns"]) / claim["error_ns"]


@pytest.mark.slow
def test_every_claim_contains_the_truth_and_some_are_near_its_edge(probe, tmp_path):
    with pair.follower(tmp_path, seed=2026) as port:
        claims = synchronized(probe(f"chrony:127.0.0.1:{port},interval=100ms", 260, 10))
    assert len(claims) > 200
    worst = max(claims, key=ratio)
    assert ratio(worst) <= 1, worst
    # Not idle talk: half of the bound is used somewhere.
    assert ratio(worst) >= 0.5, worst
    times = [claim["mono_ns"] for claim in claims]
    assert times == sorted(times)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("up", "down", "sign"), [(pair.QUICK, pair.SLOW, 1), (pair.SLOW, pair.QUICK, -1)]
)
def test_the_offset_has_the_sign_that_the_network_gives_it(probe, tmp_path, up, down, sign):
    """Answers that are late in coming show an old time: the own clock seems fast."""
    with pair.follower(tmp_path, up=up, down=down) as port:
        claims = synchronized(probe(f"chrony:127.0.0.1:{port},interval=100ms", 50, 10))
        text = pair.ask(port)
    assert claims
    assert all(5e6 < sign * claim["offset_ns"] < 25e6 for claim in claims)
    # And as chronyc says it in words.
    words = re.search(r"System time +: ([0-9.]+) seconds (fast|slow) of NTP time", text)
    assert words.group(2) == ("fast" if sign > 0 else "slow")
    assert abs(claims[-1]["offset_ns"] - sign * float(words.group(1)) * 1e9) < 5e6


@pytest.mark.slow
def test_an_offset_that_is_put_in_comes_out(probe, tmp_path):
    """chrony's own option: 250 ms are added to what is measured, so the clock seems slow by it."""
    options = "offset 0.25"
    with pair.follower(tmp_path, pair.QUICK, pair.QUICK, source_options=options) as port:
        claims = synchronized(probe(f"chrony:127.0.0.1:{port},interval=100ms", 50, 10))
    assert claims
    for claim in claims:
        low = claim["offset_ns"] - claim["error_ns"]
        high = claim["offset_ns"] + claim["error_ns"]
        assert low <= -250e6 <= high, claim
        assert -260e6 <= claim["offset_ns"] <= -240e6, claim


def test_a_daemon_that_serves_its_own_clock_claims_nothing(probe, tmp_path):
    with pair.follower(tmp_path, local_only=True) as port:
        claims = probe(f"chrony:127.0.0.1:{port},interval=100ms", 3, 10)
    assert claims
    assert not any(claim["is_synchronized"] for claim in claims)
    assert all(claim["error_ns"] == 2**64 - 1 for claim in claims)


def test_a_daemon_that_is_gone_is_an_error_with_a_reason(probe, tmp_path):
    with pair.follower(tmp_path) as port:
        pass
    started = time.monotonic()
    (claim,) = probe(f"chrony:127.0.0.1:{port},interval=100ms", 1, 100)
    assert "answers neither" in claim["reason"]
    assert claim["error"] < 0
    assert time.monotonic() > started


def test_the_command_socket_is_a_place_too(probe, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("chronyc uses the socket as root only")
    with pair.follower(tmp_path):
        claims = probe(f"chrony:{tmp_path}/client.sock,interval=50ms", 2, 20)
    assert all("error" not in claim for claim in claims), claims


def test_this_host_s_clock_was_left_alone():
    """All daemons above ran with -x, and none is left."""
    names = []
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            names.append(status.read_bytes().split(b"\0"))
        except OSError:
            continue
    ours = [name for name in names if name[0].endswith(b"chronyd") and b"-U" in name]
    assert all(b"-x" in name for name in ours)
