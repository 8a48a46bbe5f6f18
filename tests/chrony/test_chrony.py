# SPDX-License-Identifier: MIT
"""The claims of the source `chrony`, against real daemons whose true offset is exactly 0."""

import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

import pair

ROOT = Path(__file__).resolve().parents[2]
PROBE = ROOT / "build" / "native" / "tests" / "source_probe"

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


def heard(claims):
    """Without those for which a chronyd that was held up had not answered within a second."""
    return [claim for claim in claims if "within a second" not in claim.get("reason", "")]


def synchronized(claims):
    found = [claim for claim in heard(claims) if claim["is_synchronized"]]
    assert found, claims
    return found


def test_a_port_is_held_until_its_daemon_has_ended(tmp_path):
    """Another process that wants a port gets none of ours, before and after chronyd has bound it."""

    def is_free(port):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            try:
                other.bind(("127.0.0.1", port))
            except OSError:
                return False
            return True

    with pair.held_port() as port:
        assert not is_free(port)
    with pair.follower(tmp_path, local_only=True) as port:
        assert not is_free(port)
        assert pair.ask(port)


@pytest.mark.slow
@pytest.mark.parametrize(("up", "down"), [(pair.QUICK, pair.SLOW), (pair.SLOW, pair.QUICK)])
def test_every_claim_contains_the_truth(probe, tmp_path, up, down):
    """Whatever holds up a packet is delay to chronyd. How much of the bound is used: make chrony."""
    with pair.follower(tmp_path, up, down, seed=2026) as port:
        claims = synchronized(probe(f"chrony:127.0.0.1:{port},interval=100ms", 260, 10))
    for claim in claims:
        assert abs(claim["offset_ns"]) <= claim["error_ns"], claim
    times = [claim["mono_ns"] for claim in claims]
    assert times == sorted(times)


@pytest.mark.slow
@pytest.mark.parametrize("slow_sec", [10, -10])
def test_an_offset_that_is_put_in_comes_out(probe, tmp_path, slow_sec):
    """chrony's own option adds to what is measured, so the clock seems slow by so much. Its sign is
    sure at any delay: chronyd throws away what took longer than 3 s, and errs by half of it."""
    options = f"offset {slow_sec}"
    with pair.follower(tmp_path, pair.QUICK, pair.QUICK, source_options=options) as port:
        claims = synchronized(probe(f"chrony:127.0.0.1:{port},interval=100ms", 50, 10))
        text = pair.ask(port)
    for claim in claims:
        assert abs(claim["offset_ns"] + slow_sec * 10**9) <= claim["error_ns"], claim
        assert claim["offset_ns"] * slow_sec < 0, claim
    # And as chronyc says it in words.
    words = re.search(r"System time +: ([0-9.]+) seconds (fast|slow) of NTP time", text)
    assert words.group(2) == ("slow" if slow_sec > 0 else "fast"), text


def test_a_daemon_that_serves_its_own_clock_claims_nothing(probe, tmp_path):
    with pair.follower(tmp_path, local_only=True) as port:
        claims = heard(probe(f"chrony:127.0.0.1:{port},interval=100ms", 20, 10))
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
        claims = heard(probe(f"chrony:{tmp_path}/client.sock,interval=50ms", 20, 20))
    assert claims
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
