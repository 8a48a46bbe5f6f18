# SPDX-License-Identifier: MIT
"""timebased as a whole: start, stop, restart, harm, and what it says."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from daemons import PROGRAM, ROOT, Daemon, Page, eventually, needs_program, run
from prometheus_client.parser import text_string_to_metric_families

from timebase.status.metrics import METRICS

pytestmark = needs_program


@pytest.fixture
def start(tmp_path):
    """start(*arguments): daemons in a folder of the test's own, ended with it."""
    begun = []

    def begin(*arguments, **keywords):
        daemon = Daemon(tmp_path, *arguments, **keywords)
        begun.append(daemon)
        return daemon

    yield begin
    for daemon in begun:
        daemon.end(signal.SIGKILL)


@pytest.fixture
def public_folder():
    """A folder that any user can enter; pytest's own are private."""
    with tempfile.TemporaryDirectory(prefix="timebased-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


# ---- life


def test_keeps_a_page_that_all_can_read(start):
    daemon = start()
    page = daemon.wait_for_page()
    assert page.status in (1, 2, 3)
    assert stat.S_IMODE(daemon.page.stat().st_mode) == 0o644
    assert stat.S_IMODE(daemon.page.parent.stat().st_mode) == 0o755
    assert daemon.wait_for_page(beyond=page.seq + 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_cleanly_and_leaves_the_page(start, number):
    daemon = start()
    daemon.wait_for_page()
    assert daemon.end(number) == 0
    assert Page.read(daemon.page).seq > 0
    assert "readers go on in holdover" in daemon.log


def test_goes_on_with_its_page_after_a_restart(start):
    first = start()
    first.wait_for_page(beyond=2)
    inode = first.page.stat().st_ino
    first.end(signal.SIGKILL)
    seq = Page.read(first.page).seq
    second = start()
    second.wait_for_page(beyond=seq)
    assert second.page.stat().st_ino == inode
    assert f"taken up at publication {seq}" in second.log


def test_refuses_a_second_daemon_and_names_the_first(start):
    first = start()
    first.wait_for_page()
    done = run(f"--page={first.page}", "--config=/dev/null")
    assert done.returncode == 1
    assert f"another timebased, process {first.process.pid}, keeps {first.page}" in done.stderr


def test_messages_stay_out_of_its_files_where_standard_error_is_closed(start, tmp_path):
    daemon = start(prefix=["sh", "-c", 'exec "$@" >&- 2>&-', "sh"])
    daemon.wait_for_page()
    assert (tmp_path / "run/page.lock").read_text().startswith(f"{daemon.process.pid} ")


def test_stops_for_a_while_without_harm(start):
    """A stall is told, and the page goes on."""
    daemon = start()
    seq = daemon.wait_for_page(beyond=3).seq
    daemon.send(signal.SIGSTOP)
    time.sleep(1.5)
    daemon.send(signal.SIGCONT)
    daemon.wait_for_page(beyond=seq + 1)
    daemon.wait_for_log("kept from running for")


# ---- harm


def test_repairs_what_is_done_to_the_page(start):
    daemon = start()
    daemon.wait_for_page()
    os.truncate(daemon.page, 0)
    daemon.wait_for_log("had been given another size: made anew")
    daemon.wait_for_page()
    daemon.page.unlink()
    daemon.wait_for_log("had been removed or replaced: made anew")
    daemon.wait_for_page()
    assert daemon.process.poll() is None


def test_lives_through_truncation_again_and_again(start):
    """Whenever it comes: no SIGBUS, for the file is not mapped."""
    daemon = start("--interval=100ms")
    daemon.wait_for_page()
    for _ in range(200):
        os.truncate(daemon.page, 0)
        time.sleep(0.003)
        assert daemon.process.poll() is None, daemon.log
    seq = daemon.wait_for_page().seq
    daemon.wait_for_page(beyond=seq + 2)


@pytest.mark.parametrize("content", [b"", b"x" * 640, b"\0" * 640, b"x" * 10_000])
def test_replaces_what_is_no_page(start, tmp_path, content):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "page").write_bytes(content)
    daemon = start()
    daemon.wait_for_page()
    assert "a new page is begun" in daemon.log


# ---- places


def test_names_a_missing_folder(tmp_path):
    done = run(f"--page={tmp_path}/a/b/page", "--config=/dev/null")
    assert done.returncode == 1
    assert f"cannot make the folder {tmp_path}/a/b: No such file or directory" in done.stderr
    assert "make the folder that holds it" in done.stderr


def in_namespace(script, *arguments):
    """A shell script as root of a user and mount namespace of its own; skipped if refused."""
    probe = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("unshare -rm is refused here")
    return subprocess.run(
        ["unshare", "-rm", "sh", "-ec", script, "sh", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_names_a_read_only_file_system(tmp_path):
    (tmp_path / "ro").mkdir()
    done = in_namespace(
        'mount -t tmpfs -o ro tmpfs "$1" && exec "$2" --page="$1/page" --config=/dev/null',
        str(tmp_path / "ro"),
        str(PROGRAM),
    )
    assert done.returncode == 1, done.stderr
    assert "Read-only file system: mount a writable file system there" in done.stderr


# $1: an empty folder, $2: the daemon. Full when the page is gone; then there is room again.
FILL_AND_EMPTY = r"""
mount -t tmpfs -o size=16k tmpfs "$1"
"$2" --page="$1/page" --config=/dev/null --metrics=none 2>"$1.log" &
daemon=$!
patiently() { for i in $(seq 300); do "$@" && return; sleep 0.1; done; exit 9; }
fill() { dd if=/dev/zero of="$1" bs=4k 2>/dev/null || true; }
patiently test -s "$1/page"
fill "$1/ballast"
rm "$1/page"
fill "$1/more"
patiently grep -q "trying again" "$1.log"
sleep 0.5
rm "$1/ballast" "$1/more"
patiently test -s "$1/page"
patiently grep -q "written again" "$1.log"
kill $daemon
wait $daemon
"""


def test_goes_on_trying_on_a_full_file_system(tmp_path):
    """No room for a page: said once, tried again, made when there is room."""
    (tmp_path / "small").mkdir()
    done = in_namespace(FILL_AND_EMPTY, str(tmp_path / "small"), str(PROGRAM))
    log = (tmp_path / "small.log").read_text()
    assert done.returncode == 0, (done, log)
    assert log.count("No space left on device: the file system is full: free some space") == 1, log


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_runs_without_any_rights(public_folder):
    (public_folder / "run").mkdir()
    os.chown(public_folder / "run", 65534, 65534)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    daemon = Daemon(public_folder, prefix=nobody)
    try:
        daemon.wait_for_page(beyond=1)
        assert daemon.page.stat().st_uid == 65534
    finally:
        daemon.end()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_becomes_the_user_it_is_told(public_folder):
    daemon = Daemon(public_folder, "--user=nobody")
    try:
        daemon.wait_for_page(beyond=1)
        status = Path(f"/proc/{daemon.process.pid}/status").read_text()
        assert "CapEff:\t0000000000000000" in status
        assert daemon.page.stat().st_uid == daemon.page.parent.stat().st_uid != 0
    finally:
        daemon.end()


def test_names_a_user_that_does_not_exist(tmp_path):
    done = run(f"--page={tmp_path}/run/page", "--config=/dev/null", "--user=no-such-user")
    assert done.returncode == 1
    assert "there is no user no-such-user" in done.stderr


def test_an_unprivileged_user_is_told_what_is_refused():
    arguments = ["--page=/run/timebase-of-nobody/page", "--config=/dev/null"]
    if os.geteuid() != 0:
        done = run(*arguments)
    else:
        # Root is refused nothing, and may live in a folder that nobody else can look into.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(PROGRAM, folder)
            done = subprocess.run(
                [
                    "setpriv",
                    "--reuid=65534",
                    "--regid=65534",
                    "--clear-groups",
                    program,
                    *arguments,
                ],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
    assert done.returncode == 1
    assert "Permission denied: give the folder to the user" in done.stderr


# ---- configuration


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
    assert (done.returncode, done.stdout) == (0, "timebased: the configuration is good\n")
    text = shipped.read_text()
    for key in ("page", "interval", "drift", "timeline_size", "metrics", "user", "log_level"):
        assert f"#{key} = " in text


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
    assert "none.conf: No such file" in done.stderr


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


# ---- systemd


def test_levels_are_for_the_journal_alone(tmp_path):
    with (tmp_path / "log").open("w+b") as journal:
        about = os.fstat(journal.fileno())
        for stream in (f"{about.st_dev}:{about.st_ino}", "1:1", ""):
            subprocess.run(
                [str(PROGRAM), "--bad"],
                env={**os.environ, "JOURNAL_STREAM": stream},
                stderr=journal,
                check=False,
            )
        journal.seek(0)
        first, second, third = journal.read().decode().splitlines()
    assert first.startswith("<3>--bad is no option")
    assert second.startswith("timebased: error: --bad") and third == second


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    """A socket as systemd's, and its name for the daemon."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@timebased-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind("\0" + name[1:] if name.startswith("@") else name)
        listener.settimeout(30)
        yield listener, name


def test_tells_systemd_when_it_is_ready_and_that_it_lives(start, manager):
    listener, name = manager
    daemon = start(environment={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "400000"})
    first = listener.recv(1000).decode()
    assert first.startswith("READY=1\nSTATUS=")
    assert Page.read(daemon.page), "ready before there is a page"
    heard = [listener.recv(1000).decode() for _ in range(6)]
    assert heard.count("WATCHDOG=1\n") >= 3
    daemon.send(signal.SIGTERM)
    while not heard[-1].startswith("STOPPING=1"):
        heard.append(listener.recv(1000).decode())
    assert daemon.end() == 0


def test_a_hanging_daemon_does_not_tell_the_watchdog(start, manager):
    listener, name = manager
    daemon = start(environment={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "400000"})
    daemon.wait_for_page()
    daemon.send(signal.SIGSTOP)
    eventually(
        lambda: Path(f"/proc/{daemon.process.pid}/stat").read_text().split(") ")[1][0] == "T",
        "a stop",
    )
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        while True:
            listener.recv(1000)
    time.sleep(1)
    with pytest.raises(BlockingIOError):
        listener.recv(1000)


def allowed_calls():
    """What the unit's filter lets through, as systemd works it out: lines in order."""

    def expand(name):
        done = subprocess.run(
            ["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True
        )
        lines = [line.split("#")[0].strip() for line in done.stdout.splitlines()[1:]]
        for line in filter(None, lines):
            yield from expand(line) if line.startswith("@") else [line]

    allowed = set()
    for line in (ROOT / "daemon" / "timebased.service.in").read_text().splitlines():
        if not line.startswith("SystemCallFilter="):
            continue
        value = line.split("=", 1)[1]
        names = value.lstrip("~").split()
        calls = {c for n in names for c in (expand(n) if n.startswith("@") else [n])}
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_the_unit_allows_every_call_that_is_made(start, tmp_path):
    """Reading adjtimex among them, which ProtectClock= would deny."""
    trace = tmp_path / "trace"
    daemon = start("--reference=kernel", prefix=["strace", "-f", "-o", str(trace)])
    eventually(daemon.page.exists, "a page")
    traced = int(daemon.page.with_name("page.lock").read_text().split()[0])
    try:
        daemon.wait_for_page(beyond=6)
    finally:
        os.kill(traced, signal.SIGTERM)
    daemon.process.wait(30)
    # After execve, which systemd does before the filter is on.
    made = set(re.findall(r"^\d+ +([a-z_0-9]+)\(", trace.read_text(), re.MULTILINE)) - {"execve"}
    if not {"pwrite64", "ppoll"} <= made:
        pytest.skip("strace sees nothing here")
    allowed = allowed_calls()
    assert made <= allowed, made - allowed
    assert made & {"adjtimex", "clock_adjtime", "clock_adjtime64"} <= allowed
    assert "clock_settime" not in allowed and "settimeofday" not in allowed


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
def test_the_unit_is_hardened_as_far_as_it_goes(tmp_path):
    unit = tmp_path / "timebased.service"
    text = (ROOT / "daemon" / "timebased.service.in").read_text()
    unit.write_text(text.replace("@SBINDIR@/timebased", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=25", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "Unknown" in done.stderr or "unrecognized" in done.stderr:
        pytest.skip("this systemd-analyze cannot look at files")
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


# ---- metrics

NAMES = """
up info status offset_ns maxerror_ns utc_maxerror_ns publications late_publications
utc_steps slews suspends disruptions page_age_seconds frequency_hz frequency_error_ppb leap
timeline_bytes start_time_seconds reference_offset_ns reference_error_ns reference_up
falseticker
"""


def families(path):
    return {family.name: family for family in text_string_to_metric_families(path.read_text())}


def test_metrics_are_what_prometheus_reads(start):
    daemon = start("--reference=kernel")
    path = daemon.page.with_name("metrics.prom")
    eventually(lambda: path.exists() and "timebase_reference_up{" in path.read_text(), "metrics")
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
    # The first files come before the first claim and before the first lines.
    last = ("timebase_reference_up{", "timebase_frequency_error_ppb ")
    eventually(lambda: path.exists() and all(one in path.read_text() for one in last), "metrics")
    samples = [sample for family in families(path).values() for sample in family.samples]
    optional = {"timebase_tai_offset_seconds"}  # where somebody has told the kernel
    found = {sample.name: tuple(sample.labels) for sample in samples}
    assert {**found, **{name: () for name in optional}} == METRICS


def test_metrics_are_never_seen_in_part(start):
    daemon = start()
    path = daemon.page.with_name("metrics.prom")
    eventually(path.exists, "metrics")
    inodes = set()
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        inodes.add(path.stat().st_ino)
        assert path.read_text().endswith("\n")
        assert "timebase_start_time_seconds" in path.read_text()
    assert not path.with_name("metrics.prom.new").exists() or len(inodes) > 1


def test_a_refused_metrics_file_is_told_once_and_the_page_goes_on(start, tmp_path):
    daemon = start(f"--metrics={tmp_path}/nowhere/metrics.prom")
    daemon.wait_for_log("metrics: cannot make .*nowhere.*trying again every second")
    seq = daemon.wait_for_page().seq
    daemon.wait_for_page(beyond=seq + 5)
    assert daemon.log.count("metrics: cannot make") == 1


# ---- cost


def test_memory_and_files_do_not_grow(start):
    daemon = start("--interval=100ms")
    daemon.wait_for_page(beyond=5)
    status = Path(f"/proc/{daemon.process.pid}/status")
    files = f"/proc/{daemon.process.pid}/fd"

    def resident_kib():
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read_text())[1])

    before, open_before = resident_kib(), len(os.listdir(files))
    seq = daemon.wait_for_page().seq
    daemon.wait_for_page(beyond=seq + 20)
    assert resident_kib() <= before + 64
    assert resident_kib() <= 4096
    assert len(os.listdir(files)) == open_before
