# SPDX-License-Identifier: MIT
"""Logs of the bare machine: a whole one is drawn, any other refused, and nothing is invented."""

import json
import zlib

import jsonschema
import pytest

from timebase import schemas
from timebase.accuracy import bare_machine
from timebase.api.errors import InputError
from timebase.cli.accuracy_serial import draw_log

HZ = 1_000_000_000
FIGURES = {
    *("bare_figure3", "bare_figure4", "bare_figure5", "bare_figure6", "bare_figure7_8"),
    *("bare_figure9", "bare_figure10", "bare_figure11", "bare_figure12"),
    *("bare_loads", "bare_waits"),
}
HARDWARE_ALONE = FIGURES - {"bare_figure3", "bare_figure5", "bare_figure6", "bare_figure7_8"}


def machine(emulated):
    return {
        "kind": "machine",
        "format": 1,
        "bits": 64,
        "vendor": "GenuineIntel",
        "processor": "A processor",
        "emulated": emulated,
        "quick": False,
        "invariant_tsc": True,
    }


def experiments(emulated):
    """What platform/baremetal prints, with saw-teeth for errors."""
    errors = [9 - number % 5 for number in range(256)]
    is_seen = not emulated
    for name, width in (("pit", 2000), ("pm_timer", 200), ("hpet", 20)):
        low, high = HZ - width, HZ + width
        yield {
            "kind": "frequency",
            "by": name,
            "hz_low": low,
            "hz_high": high,
            "elapsed_ns": 20000000,
            "bracket_ticks": 30,
        }
    for cache in ("on", "off"):
        shown = {"cache": cache, "shown": cache == "on" or is_seen, "errors_ticks": errors}
        for reading in ("rdtsc", "lfence", "rdtscp", "cpuid", "rdmsr"):
            yield {"kind": "loop", "reading": reading, "offset_bytes": 0, **shown}
        yield {"kind": "loop", "reading": "rdtsc", "offset_bytes": 29, **shown}
        places = {name: [5] * 64 for name in ("lows_ticks", "medians_ticks", "highs_ticks")}
        placed = {"cache": cache, "shown": shown["shown"], **places}
        yield {"kind": "alignments", **placed}
        for learnt in ("once", "each"):
            yield {"kind": "table_places", "learnt": learnt, **placed}
        for has_table in (False, True):
            yield {"kind": "table", "table": has_table, "period_ticks": 5, **shown}
        for mode in ("periodic", "one_shot", "deadline"):
            for every in (100, 15):
                for background in ("nop", "cpuid", "memory", "ports", "pause", "halt"):
                    yield {
                        "kind": "dispatch",
                        "mode": mode,
                        "interval_us": every,
                        "background": background,
                        "cache": cache,
                        "shown": is_seen,
                        "errors_ticks": errors,
                    }
    for way in ("loop", "exact", "from_interrupt"):
        yield {"kind": "wait", "way": way, "shown": is_seen, "errors_ns": [0.25, -0.5, 1.75] * 20}
    yield {"kind": "done", "experiment": "wait"}


def log_of(lines):
    numbered = [{"line": number, **line} for number, line in enumerate(lines)]
    raw = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in numbered)
    end = {"line": len(numbered), "kind": "end", "lines": len(numbered), "crc32": zlib.crc32(raw)}
    return raw + json.dumps(end, separators=(",", ":")).encode() + b"\n"


def whole(emulated=False):
    return log_of([machine(emulated), *experiments(emulated)])


def loops_alone(emulated=False):
    """A run with two figures: drawing all of them takes seconds."""
    kept = [one for one in experiments(emulated) if one["kind"] in ("frequency", "loop", "done")]
    return log_of([machine(emulated), *kept])


@pytest.fixture
def drawn(tmp_path):
    """What the command makes of a log, pictures and all."""

    def draw(log):
        (tmp_path / "machine.log").write_bytes(log)
        return valid(draw_log(tmp_path / "machine.log", tmp_path / "out"))

    return draw


@pytest.fixture
def read(tmp_path):
    """What bare.json will hold of a log, without pictures."""

    def read_log(log):
        (tmp_path / "machine.log").write_bytes(log)
        return valid(bare_machine.document(tmp_path / "machine.log", []))

    return read_log


def valid(document):
    jsonschema.Draft202012Validator(schemas.load("accuracy_serial")).validate(document)
    return document


def figures_of(document):
    return {one["id"]: one for one in document["figures"]}


def test_a_log_of_hardware_has_every_figure(drawn, tmp_path):
    document = drawn(whole())
    figures = figures_of(document)
    assert set(figures) == FIGURES
    assert all(one["panels"] and one["title"] for one in figures.values())
    assert document["tsc_hz"] == HZ
    assert all(row["p50_ns"] is not None for row in document["rows"])
    for name in FIGURES:
        assert (tmp_path / "out" / f"{name}.png").stat().st_size > 1000
    assert json.loads((tmp_path / "out" / "bare.json").read_text()) == document


def test_what_an_emulator_cannot_show_is_not_invented(read):
    document = read(whole(emulated=True))
    for name, one in figures_of(document).items():
        assert bool(one["panels"]) == (name not in HARDWARE_ALONE), name
        assert one["panels"] or one["note"].startswith("Not shown")
    hidden = [row for row in document["rows"] if not row["shown"]]
    assert hidden and all(row["p50_ns"] is None for row in hidden)


def test_an_interruption_presses_no_other_place_onto_a_line(read):
    lines = list(experiments(emulated=False))
    for line in lines:
        if line["kind"] in ("alignments", "table_places"):
            line["highs_ticks"] = [10_000_000] * 3 + [9] * 61
    figures = figures_of(read(log_of([machine(False), *lines])))
    by_place = figures["bare_figure6"]["panels"][2:3] + figures["bare_figure7_8"]["panels"][2:]
    assert len(by_place) == 3
    for low, high in (panel["y"]["limits"] for panel in by_place):
        assert low < 5 and 9 < high < 20


def test_what_firmware_and_terminal_add_is_left_out(read):
    plain = whole()
    noisy = b"SeaBIOS (1.16)\r\nBooting...\r\n" + plain.replace(b"\n", b"\r\n")
    assert read(noisy) == read(plain)


def test_the_run_in_user_space_stands_beside(drawn, tmp_path):
    one_panel = {
        "title": "",
        "x": {"label": "x", "scale": "linear", "names": [], "limits": None},
        "y": {"label": "y", "scale": "linear", "names": [], "limits": None},
        "series": [
            {"label": "", "role": "article", "kind": "dots", "dash": "solid", "x": [1], "y": [2]}
        ],
    }
    (tmp_path / "out").mkdir()
    figures = [{"id": "figure3", "panels": [one_panel]}]
    (tmp_path / "out" / "accuracy.json").write_text(json.dumps({"figures": figures}))
    titles = [one["title"] for one in figures_of(drawn(loops_alone()))["bare_figure3"]["panels"]]
    assert titles == ["on the bare machine", "in user space"]


def test_a_run_that_stopped_says_why(drawn):
    document = drawn(log_of([machine(False), {"kind": "fault", "text": "no HPET"}]))
    assert document["fault"] == "no HPET"
    assert document["tsc_hz"] is None and document["rows"] == []


def test_nothing_measured_is_no_document(drawn):
    with pytest.raises(InputError, match="nothing was measured: too little memory"):
        drawn(log_of([{"kind": "fault", "text": "too little memory"}]))


@pytest.mark.parametrize(
    "damage, said",
    [
        (lambda log: log[: len(log) // 2], "damaged"),
        (lambda log: log[: log.rindex(b'{"line"')], "none that ends it"),
        (lambda log: log.replace(b'"shown":true', b'"shown":null', 1), "its sum is wrong"),
        (lambda log: log.replace(b"\n", b"", 1), "line 0 of the log is damaged"),
        (lambda log: log.replace(b'{"line":3,', b'{"line":4,'), "line 3 of the log is damaged"),
        (lambda log: b"", "no log of the bare machine"),
        (lambda log: b"\xff\x00" * 50, "no log of the bare machine"),
    ],
)
def test_a_log_that_has_lost_something_is_refused(drawn, damage, said):
    with pytest.raises(InputError, match=said):
        drawn(damage(whole()))


def test_another_format_is_refused(drawn):
    with pytest.raises(InputError, match="format 2"):
        drawn(log_of([{**machine(False), "format": 2}]))


def test_a_file_in_the_place_of_accuracy_json_is_named(drawn, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "accuracy.json").write_text("[]")
    with pytest.raises(InputError, match=r"accuracy\.json is not what"):
        drawn(whole())


def test_the_command_draws_and_prints(timebase_command, tmp_path):
    (tmp_path / "machine.log").write_bytes(loops_alone(emulated=True))
    asked = ["accuracy", "--serial", str(tmp_path / "machine.log"), "--out", str(tmp_path / "o")]
    printed = timebase_command(*asked).out
    refused = timebase_command(*asked, "--quick")
    assert refused.code == 2 and "measures nothing" in refused.err
    assert "Emulated" in printed and "loop by rdtsc at byte 0, cache on" in printed
    assert json.loads(timebase_command(*asked, "--json").out)["tsc_hz"] == HZ
