# SPDX-License-Identifier: MIT
"""Whatever stands in a calendar file: its lines are found, its durations are exact, and all that
comes of nonsense is a complaint."""

import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from timebase.api.errors import InputError
from timebase.run.description import describe
from timebase.run.places import find_places
from timebase.run.toml import TOMLDecodeError, loads
from timebase.text.duration import MOST_NS, UNITS_NS, parse_duration

BARE = st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True)
# Pieces that a line scanner may stumble over: quotes, brackets and comment signs within strings.
VALUES = st.sampled_from(
    ["1", "-0.5e3", "true", '"#"', "'[['", '"""\n[[unit]]\n"""', "'''\n#'\n'''", '"\\""', '"""a"""""',
     "[]", "[\n1, # x]\n2,\n]", "{}", "{ a = 1, b = [ {c = ']'} ] }", "[['a', '''\n''']]",
     "1979-05-27 07:32:00Z", '"\\\\"', "[{a = 1}, {a = {b = '}'}}]", '"""\\\n  x"""', "0xf"]
)  # fmt: skip
BLANKS = st.sampled_from(["", "\n", "# [x]\n", "  \t\n", '# "\n'])


@st.composite
def documents(draw):
    """A TOML text, and the lines on which its keys and tables were put."""
    text, wanted = "", {}

    def put(path, line):
        nonlocal text
        wanted[path] = text.count("\n") + 1
        text += line + "\n" + draw(BLANKS)

    text += draw(BLANKS)
    for name in draw(st.lists(BARE, unique=True, max_size=3)):
        copies = draw(st.integers(0, 3))
        for number in range(max(1, copies)):
            path = (name, number) if copies else (name,)
            put(path, f"[[{name}]]" if copies else f"[ '{name}' ]")
            for key in draw(st.lists(BARE, unique=True, max_size=4)):
                put((*path, key), f'"{key}" = {draw(VALUES)}' if draw(st.booleans()) else
                    f"{key}={draw(VALUES)}")  # fmt: skip
    return text, wanted


def paths_of(value, path=()):
    """All paths of a document."""
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        inner = ()
    for key, one in inner:
        yield (*path, key)
        yield from paths_of(one, (*path, key))


@given(documents())
@settings(max_examples=60)
def test_line_of_each_key_is_found(document):
    text, wanted = document
    found = find_places(text)
    assert {path: found.get(path) for path in wanted} == wanted
    assert set(paths_of(loads(text))) <= found.keys()


FRAGMENTS = st.lists(
    st.sampled_from(
        ["[", "]", "[[", "]]", "{", "}", "=", ",", ".", "\n", " ", "#", '"', "'", '"""', "'''", "\\", "a",
         "b", "1", "\t", "é", "a = 1\n", "[a]\n", "[[u]]\n", "[u.b]\n", "x.y = [\n{a=1}]\n", '"a\\"b" = 2\n']
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(FRAGMENTS)
@settings(max_examples=300)
def test_every_key_of_any_toml_has_a_line(text):
    try:
        document = loads(text)
    except TOMLDecodeError:
        return
    found = find_places(text)
    lines = text.count("\n") + 1
    for path in paths_of(document):
        # Dotted headers make their parents without naming them.
        assert any(longer[: len(path)] == path for longer in found), (path, found)
    assert all(1 <= line <= lines for line in found.values())


@given(FRAGMENTS | st.text(max_size=60))
@settings(max_examples=200)
def test_nonsense_is_refused_and_nothing_else(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            about = describe(path)
        except InputError as refusal:
            assert str(path) in str(refusal)
        else:
            assert about.units


@given(st.integers(0, MOST_NS), st.sampled_from(sorted(UNITS_NS)), st.sampled_from(["", " ", "  "]))
def test_duration_comes_back_exactly(ns, unit, space):
    digits = 12  # a ns is 2.8e-13 h, so hours have more digits than are written here
    whole, part = divmod(Fraction(ns, UNITS_NS[unit]) * 10**digits, 1)
    text = f"{int(whole) // 10**digits}.{int(whole) % 10**digits:0{digits}}{space}{unit}"
    if part == 0:
        assert parse_duration(text) == ns


@given(st.integers(0, 10**15), st.sampled_from(sorted(UNITS_NS)))
def test_whole_numbers_of_any_unit_are_exact_or_too_long(number, unit):
    ns = number * UNITS_NS[unit]
    try:
        assert parse_duration(f"{number}{unit}") == ns
    except ValueError as refusal:
        assert ns > MOST_NS
        assert "too long" in str(refusal)


@given(st.text(max_size=12) | st.floats() | st.integers() | st.none() | st.booleans())
def test_what_is_no_duration_is_a_value_error(value):
    try:
        found = parse_duration(value)
    except ValueError as refusal:
        assert str(refusal)
    else:
        assert 0 <= found <= MOST_NS
