# SPDX-License-Identifier: MIT
"""What is asked of the kernel is given back; what it refuses is said."""

import ctypes
import errno
import os
import subprocess
import sys
import threading

import pytest

from timebase import Realtime, RealtimeBit, TimebaseError
from timebase.api.realtime import EVERYTHING, name_of

CPU = min(os.sched_getaffinity(0))


def state():
    """Of the calling thread and its process: all that may be changed."""
    slack = ctypes.CDLL(None, use_errno=True).prctl(30, 0, 0, 0, 0)  # PR_GET_TIMERSLACK
    with open("/proc/self/status", encoding="utf-8") as file:
        locked = [line for line in file if line.startswith("VmLck")]
    policy = os.sched_getscheduler(0) & ~0x40000000  # SCHED_RESET_ON_FORK
    priority = os.sched_getparam(0).sched_priority
    return os.sched_getaffinity(0), policy, priority, slack, locked


def test_all_is_given_back():
    before = state()
    with Realtime(cpu=CPU, priority=3) as realtime:
        assert realtime.granted | sum(refusal.bit for refusal in realtime.refused) == EVERYTHING
        assert realtime.cpu == CPU
        assert os.sched_getaffinity(0) == {CPU}
    assert state() == before
    assert not realtime.granted


def test_all_is_given_back_after_an_exception():
    before = state()
    with pytest.raises(KeyError):
        with Realtime(cpu=CPU):
            raise KeyError("from within")
    assert state() == before


def test_only_what_is_wanted_is_asked_for():
    with Realtime(wanted=RealtimeBit.TIMER_SLACK) as realtime:
        assert realtime.granted == RealtimeBit.TIMER_SLACK
        assert realtime.cpu is None


def test_refusal_says_why_and_what_to_do():
    with Realtime(cpu=8191, wanted=RealtimeBit.AFFINITY) as realtime:
        (refusal,) = realtime.refused
    assert refusal.bit == RealtimeBit.AFFINITY
    assert refusal.name == name_of(RealtimeBit.AFFINITY)
    assert refusal.reason == os.strerror(errno.ENODEV)
    assert refusal.advice


@pytest.mark.parametrize(
    "arguments",
    [{"cpu": -1}, {"cpu": 8192}, {"priority": 0}, {"priority": 100}, {"wanted": 32}],
)
def test_out_of_range_is_a_value_error(arguments):
    with pytest.raises(ValueError):
        Realtime(**arguments)


@pytest.mark.parametrize("arguments", [{"cpu": "1"}, {"priority": 1.0}, {"cpu": True}])
def test_no_integer_is_a_type_error(arguments):
    with pytest.raises(TypeError):
        Realtime(**arguments)


def test_twice_without_a_release_is_refused():
    realtime = Realtime(wanted=RealtimeBit.TIMER_SLACK)
    with realtime:
        with pytest.raises(RuntimeError):
            realtime.acquire()
    with realtime:
        assert realtime.granted


def test_other_threads_cannot_release():
    refusals = []

    def release():
        try:
            realtime.release()
        except TimebaseError as refusal:
            refusals.append(refusal)

    with Realtime(wanted=RealtimeBit.TIMER_SLACK) as realtime:
        thread = threading.Thread(target=release)
        thread.start()
        thread.join()
        assert realtime.granted
    assert len(refusals) == 1


def test_without_rights_the_rest_is_granted():
    """In a process of nobody's, where root can make one."""
    if os.getuid() != 0:
        pytest.skip("only root can become somebody without rights")
    program = (
        "import os; from timebase import Realtime, RealtimeBit, lib\n"
        "import timebase.api.realtime\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "with Realtime(priority=2) as realtime:\n"
        "    print(*(refusal.bit.name for refusal in realtime.refused))\n"
    ).replace(", lib", "")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "SCHEDULER" in done.stdout
    assert "TIMER_SLACK" not in done.stdout
