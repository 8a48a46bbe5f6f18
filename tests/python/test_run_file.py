# SPDX-License-Identifier: MIT
"""Calendar files: what is right is understood, what is wrong is named with its line."""

import re

import pytest

from timebase.api.errors import InputError
from timebase.run.description import describe
from timebase.run.places import find_places, line_of
from timebase.text.duration import parse_duration, show_duration

UNIT = '[[unit]]\nname = "a"\nduration = "1us"\nnone = true\n'


def described(tmp_path, text):
    path = tmp_path / "c.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return describe(path)


def complaint(tmp_path, text):
    with pytest.raises(InputError) as refusal:
        described(tmp_path, text)
    return str(refusal.value)


@pytest.mark.parametrize(
    "text, ns",
    [
        ("250us", 250_000),
        ("1ms", 1_000_000),
        ("2 s", 2_000_000_000),
        (" 1.5 ms ", 1_500_000),
        ("0.001us", 1),
        ("3µs", 3000),
        ("3μs", 3000),
        ("2min", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("0", 0),
        (0, 0),
    ],
)
def test_duration_is_a_number_and_a_unit(text, ns):
    assert parse_duration(text) == ns


@pytest.mark.parametrize(
    "value, hint",
    [
        (5, "with a unit"),
        (1.5, "with a unit"),
        (True, "with a unit"),
        (False, "with a unit"),
        (None, "with a unit"),
        ("5", "no unit"),
        ("5 m", "unknown unit"),
        ("5 MS", "write a number and a unit"),
        ("", "write a number and a unit"),
        ("ms", "write a number and a unit"),
        ("-1ms", "write a number and a unit"),
        ("1e3ms", "write a number and a unit"),
        ("nan s", "write a number and a unit"),
        ("inf", "write a number and a unit"),
        ("1,5ms", "write a number and a unit"),
        ("0.5ns", "whole number of ns"),
        ("1.0000001us", "whole number of ns"),
        ("40000000min", "at most"),
        ("9" * 30 + "h", "at most"),
    ],
)
def test_no_duration_is_refused_with_a_hint(value, hint):
    with pytest.raises(ValueError, match=hint):
        parse_duration(value)


@pytest.mark.parametrize(
    "ns, text",
    [(0, "0 ns"), (12.34, "12.3 ns"), (999.4, "999 ns"), (999.9, "1.0 µs"), (-1500, "-1.5 µs"),
     (2_000_000, "2.0 ms"), (61e9, "61.0 s"), (36e12, "36,000 s")],
)  # fmt: skip
def test_duration_is_shown_with_three_digits(ns, text):
    assert show_duration(ns) == text


def test_whole_file_is_understood(tmp_path):
    about = described(
        tmp_path,
        """
        [calendar]
        start = 2026-11-21T10:00:00.5+01:00
        length = "10 s"
        cpu = 3
        priority = 60
        utilisation = 0.8
        may_overlap = true
        avoid_tick = true
        realtime = ["scheduler", "memory"]

        [[unit]]
        name = "send"
        ready = "1ms"
        period = "2ms"
        duration = "10us"
        deadline = "1ms"
        timeout = "50us"
        releases = 7
        wait = "exact"
        never_early = true
        prepare = false
        rehearse = true
        save_power = true
        steady = true
        call = "lib:with:colons.so:send"
        argument = -5

        [[unit]]
        name = "back up"
        duration = "1ms"
        command = ["cp", "a b", ""]
        stdout = "out"
        stderr = "err"
        at_most = 3
        kill_after = "2s"
        on_error = "stop"
        """,
    )
    assert about.calendar.start == 1_795_251_600_500_000_000
    assert (about.calendar.length_ns, about.calendar.cpu, about.calendar.priority) == (
        10**10,
        3,
        60,
    )
    assert (about.calendar.utilisation, about.calendar.may_overlap, about.calendar.avoid_tick) == (
        0.8,
        True,
        True,
    )
    assert about.calendar.realtime == ("scheduler", "memory")
    send, copy = about.units
    assert (send.action, send.target) == ("call", ("lib:with:colons.so", "send"))
    assert (send.ready_ns, send.period_ns, send.duration_ns) == (10**6, 2 * 10**6, 10**4)
    assert (send.deadline_ns, send.timeout_ns, send.releases) == (10**6, 50_000, 7)
    assert (send.wait, send.argument) == ("exact", -5)
    assert (send.never_early, send.prepare, send.rehearse) == (True, False, True)
    assert (send.save_power, send.steady) == (True, True)
    assert (copy.action, copy.target) == ("command", ("cp", "a b", ""))
    assert (copy.stdout, copy.stderr, copy.at_most) == ("out", "err", 3)
    assert (copy.kill_after_ns, copy.on_error) == (2 * 10**9, "stop")


def test_little_is_needed(tmp_path):
    about = described(tmp_path, UNIT)
    (unit,) = about.units
    assert about.calendar.start == "now"
    assert about.calendar.cpu is None
    assert about.calendar.realtime is True
    assert (unit.wait, unit.prepare, unit.period_ns) == ("sleep", True, 0)


# What stands in the file, the line that is to be named, and words of the complaint.
MALFORMED = [
    ("", 1, "no [[unit]]"),
    ("# nothing\n", 1, "no [[unit]]"),
    ("unit = 3\n", 1, "[[unit]]"),
    ("unit = []\n", 1, "[[unit]]"),
    ("[unit]\nname = 'a'\n", 1, "[[unit]]"),
    ("unit = [1, {}]\n", 1, "[[unit]]"),
    ("unit = [{}, []]\n", 1, "unit number 1: no action"),
    ("x = 1\n" + UNIT, 1, "there is no such key"),
    ("[calender]\n" + UNIT, 1, "did you mean calendar?"),
    ("calendar = 1\n" + UNIT, 1, "write [calendar]"),
    ("x = 1\ncalendar = []\n" + UNIT, 2, "write [calendar]"),
    (UNIT + "index = 1\n", 5, "there is no such key"),
    (UNIT + "ready_ns = 1\n", 5, "did you mean ready?"),
    ("[calendar]\n\nlenght = '1s'\n" + UNIT, 3, "did you mean length?"),
    ("[calendar]\nlength = 5\n" + UNIT, 2, "with a unit"),
    ("[calendar]\ncpu = -1\n" + UNIT, 2, "from 0 to 8191"),
    ("[calendar]\ncpu = 1.0\n" + UNIT, 2, "whole number"),
    ("[calendar]\npriority = 100\n" + UNIT, 2, "from 1 to 99"),
    ("[calendar]\npriority = true\n" + UNIT, 2, "whole number"),
    ("[calendar]\nutilisation = 0\n" + UNIT, 2, "above 0"),
    ("[calendar]\nutilisation = nan\n" + UNIT, 2, "above 0"),
    ("[calendar]\nutilisation = inf\n" + UNIT, 2, "at most 1"),
    ("[calendar]\nmay_overlap = 'yes'\n" + UNIT, 2, "true or false"),
    ("[calendar]\nrealtime = ['FIFO']\n" + UNIT, 2, "scheduler"),
    ("[calendar]\nrealtime = 1\n" + UNIT, 2, "true, false or an array"),
    ("[calendar]\nstart = 'tomorrow'\n" + UNIT, 2, '"next second"'),
    ("[calendar]\nstart = 2026-11-21T10:00:00\n" + UNIT, 2, "append Z"),
    ("[calendar]\nstart = 2026-11-21\n" + UNIT, 2, "without quotes"),
    ("[calendar]\nstart = 5\n" + UNIT, 2, "without quotes"),
    ("[[unit]]\nname = 'a'\nnone = true\n", 1, "duration is missing"),
    ("[[unit]]\nduration = '1us'\nnone = true\n", 1, "name is missing"),
    (UNIT + "\n" + UNIT, 7, "line 2 has a unit of this name"),
    (UNIT.replace('"a"', "''"), 2, "not empty"),
    (UNIT.replace('"a"', "3"), 2, "string"),
    (UNIT.replace('"a"', '"a\\u0007"'), 2, "printable"),
    (UNIT.replace('"a"', f'"{"a" * 65}"'), 2, "at most 64"),
    (UNIT + "period = '1 ms '\nready = '1 sec'\n", 6, "unknown unit"),
    (UNIT + "wait = 'spin'\n", 5, '"exact"'),
    (UNIT + "wait = ['exact']\n", 5, '"exact"'),
    (UNIT + "releases = 0\n", 5, "from 1"),
    (UNIT + "releases = 9223372036854775808\n", 5, "from 1"),
    (UNIT + "prepare = 1\n", 5, "true or false"),
    (UNIT + "perod = '1s'\n", 5, "did you mean period?"),
    (UNIT + "xyz = '1s'\n", 5, "there are name"),
    (UNIT + "argument = 1\n", 5, "goes with call only"),
    (UNIT + "stdout = 'x'\n", 5, "goes with command only"),
    (UNIT + "on_error = 'stop'\n", 5, "goes with command or python only"),
    (UNIT + "python = 'a:b'\n", 4, "one action"),
    (UNIT.replace("none = true", "none = false"), 4, "none = true"),
    (UNIT.replace("none = true\n", ""), 1, "no action"),
    (UNIT.replace("none = true", "call = 'x.so'"), 4, "library.so:function"),
    (UNIT.replace("none = true", "call = ':f'"), 4, "library.so:function"),
    (UNIT.replace("none = true", "call = 'a:b'\nargument = 1.5"), 5, "whole number"),
    (UNIT.replace("none = true", "call = 'a:b'\nargument = 9223372036854775808"), 5, "whole number"),
    (UNIT.replace("none = true", 'call = "a:b"\nargument = "a\\u0000b"'), 5, "whole number"),
    (UNIT.replace("none = true", "python = 'module'"), 4, "module:function"),
    (UNIT.replace("none = true", "python = 'a:b'\nrehearse = true"), 5, "call or none only"),
    (UNIT.replace("none = true", "command = 'ls -l'"), 4, "array"),
    (UNIT.replace("none = true", "command = []"), 4, "array"),
    (UNIT.replace("none = true", "command = ['ls', 3]"), 4, "each argument"),
    (UNIT.replace("none = true", 'command = ["l\\u0000s"]'), 4, "zero"),
    (UNIT.replace("none = true", "command = ['ls']\nat_most = 65"), 5, "from 1 to 64"),
    ("unit = [\n  {name = 'a', duration = '1us', none = true},\n  {name = 'b',\n"
     "   duration = 1, none = true},\n]\n".replace(",\n   duration", ", duration"), 3, "with a unit"),
]  # fmt: skip


@pytest.mark.parametrize("text, line, words", MALFORMED)
def test_fault_is_named_with_its_line(tmp_path, text, line, words):
    found = complaint(tmp_path, text)
    here = [one for one in found.splitlines() if one.startswith(f"{tmp_path}/c.toml:{line}: ")]
    assert any(words in one for one in here), found


NO_TOML = [
    ("[[unit]\n", 1),
    ("a = \n", 1),
    ("a = 1\na = 2\n", 2),
    ("[a\n", 1),
    ('a = "x', 1),
    ("\n\nb = [1,\n", 4),
    ("a = 1\r\nb = 2\r\nc\r\n", 3),
    (b"a = '\xff'\n", 1),
    (b"\n\xe9", 2),
    ("a = " + "[" * 5000 + "]" * 5000, 1),
]


@pytest.mark.parametrize("text, line", NO_TOML)
def test_what_is_no_toml_is_named_with_line_and_column(tmp_path, text, line):
    place = re.escape(f"{tmp_path}/c.toml:{line}:") + r"\d+: not (TOML|UTF-8)"
    assert re.match(place, complaint(tmp_path, text))


STUMBLING = '''\
# [x]
a = """x"""""
b.c = "]#"
[[u]]
d = """
[e]
""\\""" """
f = [ # ]
  {g = '}'},
  {h = 1},
]
[u.i]
j = 1
[[u]]
[[u.k]]
[[u.k]]
"l\\"" = 1979-05-27 07:32:00
[u.i."m.n"]
o = 2
'''


def test_lines_are_found_where_scanners_stumble():
    found = find_places(STUMBLING)
    assert found == {
        ("a",): 2,
        ("b",): 3,
        ("b", "c"): 3,
        ("u",): 4,
        ("u", 0): 4,
        ("u", 0, "d"): 5,
        ("u", 0, "f"): 8,
        ("u", 0, "f", 0): 9,
        ("u", 0, "f", 0, "g"): 9,
        ("u", 0, "f", 1): 10,
        ("u", 0, "f", 1, "h"): 10,
        ("u", 0, "i"): 12,
        ("u", 0, "i", "j"): 13,
        ("u", 1): 14,
        ("u", 1, "k"): 15,
        ("u", 1, "k", 0): 15,
        ("u", 1, "k", 1): 16,
        ("u", 1, "k", 1, 'l"'): 17,
        ("u", 1, "i", "m.n"): 18,
        ("u", 1, "i", "m.n", "o"): 19,
    }
    assert line_of(found, ("u", 0, "f", 1, "none")) == 10
    assert line_of(found, ("none",)) == 1


def test_all_faults_are_told_at_once_in_their_order(tmp_path):
    found = complaint(tmp_path, UNIT + "period = 1\nready = 2\ndeadline = 3\n" + UNIT + "x = 1\n")
    lines = [int(one.split(":")[1]) for one in found.splitlines()]
    assert lines == sorted(lines)
    assert len(lines) == 5


def test_unit_is_called_by_its_name_or_number(tmp_path):
    assert 'unit "a": period: ' in complaint(tmp_path, UNIT + "period = 1\n")
    assert "unit number 1: " in complaint(tmp_path, "[[unit]]\nnone = true\n")


@pytest.mark.parametrize("name", ["missing.toml", ".", "missing/c.toml"])
def test_file_that_cannot_be_read(tmp_path, name):
    with pytest.raises(InputError, match="cannot read"):
        describe(tmp_path / name)


def test_file_without_end_is_not_read_to_it(tmp_path):
    path = tmp_path / "c.toml"
    path.write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(InputError, match="more than 1 MiB"):
        describe(path)
