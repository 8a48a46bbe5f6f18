# SPDX-License-Identifier: MIT
"""Every file of spec/vectors: pages of both byte orders, what their ticks mean, and back."""

import json
import sys
from pathlib import Path

import pytest

from timebase import Page, TimebaseError
from timebase.api.library import lib

FOLDER = Path(__file__).parents[2] / "spec" / "vectors"


def named_vectors():
    return [
        pytest.param(vector, id=f"{path.stem}: {vector['name']} ({vector['endian']})")
        for path in sorted(FOLDER.glob("*.json"))
        if path.name != "timeline.json"  # files and boots, no pages: test_timeline.py
        for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]
    ]


VECTORS = named_vectors()


def page_of(vector):
    return Page.from_bytes(bytes.fromhex(vector["page_hex"]), vector["endian"])


@pytest.mark.parametrize("vector", [one for one in VECTORS if one.values[0]["valid"] == 0])
def test_bytes_and_back_in_both_byte_orders(vector):
    other = "big" if sys.byteorder == "little" else "little"
    native = page_of(vector).to_bytes()
    foreign = Page.from_bytes(native, other).to_bytes()
    assert Page.from_bytes(native).to_bytes() == native
    assert Page.from_bytes(foreign, other).to_bytes() == native
    assert foreign != native


def test_there_are_vectors():
    assert VECTORS


@pytest.mark.parametrize("vector", VECTORS)
def test_validate(vector):
    if vector["valid"] == 0:
        page_of(vector).validate()
        return
    with pytest.raises(TimebaseError) as refusal:
        page_of(vector).validate()
    assert refusal.value.code == getattr(lib, vector["valid"])


@pytest.mark.parametrize("vector", VECTORS)
def test_reads(vector):
    page = page_of(vector) if vector["reads"] else None
    for read in vector["reads"]:
        instant = page.convert(int(read["ticks"]))
        found = {name: str(getattr(instant, name)) for name in read if name.endswith("_ns")}
        assert found == {name: read[name] for name in found}
        assert len(found) == 6
        assert instant.flags == read["flags"]


@pytest.mark.parametrize("vector", VECTORS)
def test_inverse(vector):
    page = page_of(vector) if vector["inverse"] else None
    for entry in vector["inverse"]:
        if "utc_ns" in entry:
            ticks = page.ticks_at_utc(int(entry["utc_ns"]))
        else:
            ticks = page.ticks_at_mono(int(entry["mono_ns"]))
        assert ticks == int(entry["ticks"]), entry
