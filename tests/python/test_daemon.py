# SPDX-License-Identifier: MIT
"""timebased as a whole: start, stop, restart, harm, and what it costs."""

import os
import re
import signal
import stat
import time
from pathlib import Path

import pytest
from daemons import Page, needs_program, run

pytestmark = needs_program


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


# ---- cost


def test_memory_and_files_do_not_grow(start):
    daemon = start("--interval=100ms")
    daemon.wait_for_page(beyond=5)
    status = Path(f"/proc/{daemon.process.pid}/status")
    files = f"/proc/{daemon.process.pid}/fd"

    def kib(*names):
        found = dict(re.findall(r"(\w+):\s+(\d+) kB", status.read_text()))
        return sum(int(found[name]) for name in names)

    # Of files: a page more for each first time that something happens, less when memory is short.
    own = ("RssAnon", "VmSwap")

    def fewest_open():
        """For a moment of each publication other files are open, too: which they are, changes."""
        found = []
        for _ in range(10):
            daemon.wait_for_page(beyond=daemon.wait_for_page().seq)
            found.append(len(os.listdir(files)))
        return min(found)

    before, open_before = kib(*own), fewest_open()
    seq = daemon.wait_for_page().seq
    daemon.wait_for_page(beyond=seq + 20)
    assert kib(*own) <= before + 64
    assert kib("VmRSS") <= 4096
    assert fewest_open() == open_before
