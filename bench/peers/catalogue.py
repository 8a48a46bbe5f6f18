# SPDX-License-Identifier: MIT
"""What is compared: every call the driver times, and every clock a probe starts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """One row of the cost table; `name` is the one the language's library gives it."""

    name: str
    language: str
    call: str
    gives: str
    ordered: bool  # taken after earlier loads, so that readings of two CPUs can be compared


@dataclass(frozen=True)
class Clock:
    """One row of the start-up and error table; `probe` is the program and its CLOCK argument."""

    name: str
    language: str
    probe: tuple
    reference: str
    has_error: bool = True
    note: str = ""


UTC = "UTC ns"
MONO = "monotonic ns"
ELAPSED = "elapsed ns"
TICKS = "raw ticks"
INTERVAL = "UTC earliest..latest"

CALLS = (
    Call("counter", "C++", "`rdtsc`", TICKS, False),
    Call("timebase_utc_unordered", "C++", "`timebase_utc_ns_unordered`", UTC, False),
    Call("timebase_utc", "C++", "`timebase_utc_ns`", UTC, True),
    Call("timebase_mono", "C++", "`timebase_mono_ns`", MONO, True),
    Call("timebase_utc_interval", "C++", "`timebase_utc_interval`", INTERVAL, True),
    Call("clock_gettime_realtime", "C++", "`clock_gettime(CLOCK_REALTIME)`", UTC, True),
    Call("clock_gettime_monotonic", "C++", "`clock_gettime(CLOCK_MONOTONIC)`", MONO, True),
    Call("chrono_system", "C++", "`std::chrono::system_clock::now`", UTC, True),
    Call("chrono_steady", "C++", "`std::chrono::steady_clock::now`", MONO, True),
    Call("absl_nanos", "C++", "`absl::GetCurrentTimeNanos`", UTC, False),
    Call("absl_now", "C++", "`absl::Now` + `ToUnixNanos`", UTC, False),
    Call("rust_counter", "Rust", "`_rdtsc`", TICKS, False),
    Call("rust_instant", "Rust", "std `Instant::now`", MONO, True),
    Call("rust_instant_elapsed", "Rust", "std `Instant::elapsed`", ELAPSED, True),
    Call("rust_system_time", "Rust", "std `SystemTime::now`", UTC, True),
    Call("quanta_instant", "Rust", "quanta `Instant::now`", MONO, False),
    Call("quanta_clock", "Rust", "quanta `Clock::now`", MONO, False),
    Call("quanta_elapsed", "Rust", "quanta `Instant::elapsed`", ELAPSED, False),
    Call("minstant_now", "Rust", "minstant `Instant::now`", TICKS, False),
    Call("minstant_elapsed", "Rust", "minstant `Instant::elapsed`", ELAPSED, False),
    Call("minstant_unix", "Rust", "minstant `now` + `as_unix_nanos`", UTC, False),
    Call("fastant_now", "Rust", "fastant `Instant::now`", TICKS, False),
    Call("fastant_unix", "Rust", "fastant `now` + `as_unix_nanos`", UTC, False),
    Call("clock_bound_now", "Rust", "clock-bound `Client::now` [1]", INTERVAL, True),
    Call("go_now", "Go", "`time.Now`", UTC + " and " + MONO, True),
    Call("go_now_unix_nano", "Go", "`time.Now().UnixNano`", UTC, True),
    Call("go_since", "Go", "`time.Since`", ELAPSED, True),
    Call("templexxx_unix_nano", "Go", "templexxx/tsc `UnixNano`", UTC, False),
    Call("templexxx_counter", "Go", "templexxx/tsc `RDTSC`", TICKS, False),
)

REALTIME = "CLOCK_REALTIME"
MONOTONIC = "CLOCK_MONOTONIC, elapsed"

# In the order the error probes are started: those that calibrate at start-up come first, while
# nothing else runs.
CLOCKS = (
    Clock("templexxx/tsc", "Go", ("go/probe_templexxx", "unix_nano"), REALTIME),
    Clock("minstant", "Rust", ("rust/release/probe_minstant", "unix"), REALTIME),
    Clock("fastant", "Rust", ("rust/release/probe_fastant", "unix"), REALTIME),
    Clock("quanta", "Rust", ("rust/release/probe_quanta", "instant"), MONOTONIC),
    Clock("timebase UTC", "C++", ("cxx/probe_timebase", "utc"), REALTIME),
    Clock("timebase monotonic", "C++", ("cxx/probe_timebase", "mono"), MONOTONIC),
    Clock("Abseil", "C++", ("cxx/probe_absl", "utc"), REALTIME),
    Clock(
        "std::chrono system",
        "C++",
        ("cxx/probe_chrono", "system"),
        REALTIME,
        note="the reference itself",
    ),
    Clock(
        "std::chrono steady",
        "C++",
        ("cxx/probe_chrono", "steady"),
        MONOTONIC,
        note="the reference itself",
    ),
    Clock(
        "Rust std SystemTime",
        "Rust",
        ("rust/release/probe_std", "system_time"),
        REALTIME,
        note="the reference itself",
    ),
    Clock(
        "Rust std Instant",
        "Rust",
        ("rust/release/probe_std", "instant"),
        MONOTONIC,
        note="the reference itself",
    ),
    Clock("Go time.Now", "Go", ("go/probe_std", "now"), REALTIME, note="the reference itself"),
    Clock(
        "clock-bound client",
        "Rust",
        ("rust/release/probe_clock_bound", "now"),
        REALTIME,
        has_error=False,
        note="[1] no daemon, so no error to measure",
    ),
)

# The program of each language that reads no clock but the launcher's.
EMPTY = {
    "C++": ("cxx/probe_empty", "none"),
    "Rust": ("rust/release/probe_empty", "none"),
    "Go": ("go/probe_empty", "none"),
}

FOOTNOTES = (
    (
        "[1] clock-bound's client reads a synthetic segment in a temporary directory: its daemon"
        " was not run, because it would discipline this machine's clock."
    ),
)
