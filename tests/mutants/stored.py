# SPDX-License-Identifier: MIT
"""The faults as they are stored, and the places in the sources that they mean."""

import collections
import pathlib
import re
import sys

import pattern

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDERS = ("include", "src", "daemon", "measure")
ENDINGS = {".c", ".h", ".S"}
FIELDS = {"what", "kills", "machine", "user", "counter", "in", "from", "to"}
SHOWN = 3  # places that a message names

Mutant = collections.namedtuple(
    "Mutant", "name fixed what kills machine user counter within before after"
)
Place = collections.namedtuple("Place", "file start end text")


class Broken(Exception):
    """The mutant itself is at fault, or the tests are: nothing was proved."""


def fields_of(lines, name):
    """`name: value`, which goes on in lines that begin with four spaces."""
    fields, key = {}, ""
    for line in lines:
        if line.startswith("    ") and key:
            fields[key] += "\n" + line[4:]
            continue
        key, colon, value = line.partition(":")
        if colon and key in FIELDS:
            fields[key] = value.strip()
        else:
            sys.exit(f"tests/mutants: {name}: what is `{line}`?")
    return fields


def mutant(block):
    head, *lines = block.splitlines()
    name, fixed = head.split()[0], head.split()[1:] == ["fixed"]
    fields = fields_of(lines, name)
    missing = {"what", "kills", "from", "to"} - fields.keys()
    if missing:
        sys.exit(f"tests/mutants: {name}: no `{missing.pop()}`; see the text at the top of run")
    return Mutant(
        name,
        fixed,
        fields["what"],
        fields["kills"].split(),
        fields.get("machine", "").split(),
        fields.get("user", ""),
        fields.get("counter", ""),
        pattern.parse(fields.get("in", "")),
        pattern.parse(fields["from"]),
        fields["to"].strip(),
    )


def load():
    """All of them, by name, in the order of the files."""
    mutants = {}
    for path in sorted(HERE.glob("*.mutants")):
        for block in re.split(r"^== ", path.read_text(), flags=re.MULTILINE)[1:]:
            one = mutant("\n".join(line for line in block.splitlines() if line.strip()))
            if one.name in mutants:
                sys.exit(f"tests/mutants: two mutants are named {one.name}")
            mutants[one.name] = one
    return mutants


def functions(text):
    """A file in pieces that end with a brace in the first column: where each begins, and it."""
    start = 0
    for end in [found.end() for found in re.finditer(r"^\}.*$", text, re.MULTILINE)] + [len(text)]:
        yield start, pattern.Text(text[start:end])
        start = end


class Sources:
    def __init__(self, root=ROOT):
        paths = [p for folder in FOLDERS for p in sorted((root / folder).rglob("*"))]
        self.files = {
            path.relative_to(root).as_posix(): pattern.Text(path.read_text())
            for path in paths
            if path.suffix in ENDINGS
        }
        self.pieces = {name: list(functions(file.text)) for name, file in self.files.items()}

    def parts(self, within):
        """What may hold the pattern: all files, or the functions with `within` in them, each with
        what the holes of `within` hold there."""
        if not within:
            return [(name, 0, file, ()) for name, file in self.files.items()]
        wanted = pattern.expression(within)
        found = [
            (name, start, piece, wanted.search(piece.joined))
            for name, pieces in self.pieces.items()
            for start, piece in pieces
        ]
        return [
            (name, start, piece, tuple(match.groupdict().items()))
            for name, start, piece, match in found
            if match
        ]

    def places(self, tokens, within, replacement=""):
        rarest = pattern.longest_plain(tokens)  # most parts do not hold it: no need to try them
        for name, offset, part, held in self.parts(within):
            if rarest not in part.joined:
                continue
            for found in pattern.expression(tokens, held).finditer(part.joined):
                start, end = part.span(found)
                text = pattern.filled(replacement, found, held)
                yield Place(name, offset + start, offset + end, text)

    def place(self, one):
        """Where the fault goes, and what stands there then."""
        places = list(self.places(one.before, one.within, one.after))
        if len(places) == 1:
            return places[0]
        raise Broken(self.advice(one, places))

    def line(self, place):
        text = self.files[place.file].text
        return f"{place.file}:{text.count(chr(10), 0, place.start) + 1}"

    def advice(self, one, places):
        """What to do about a pattern that is found more than once, or not at all."""
        if places:
            where = ", ".join(self.line(place) for place in places[:SHOWN])
            return f"`from:` is found {len(places)} times ({where}): add `in:`, or more tokens"
        if one.within and not self.parts(one.within):
            return "no function holds what `in:` says: " + self.nearest(one.within, ())
        return "`from:` is not found: " + self.nearest(one.before, one.within)

    def longest(self, pieces, within):
        """The longest piece that is found: what holds a piece that is not is not found, either."""
        low, high = 0, len(pieces) - 1  # pieces[low] is found, the one after pieces[high] is not
        while low < high:
            middle = (low + high + 1) // 2
            found = next(self.places(pieces[middle], within), None)
            low, high = (middle, high) if found else (low, middle - 1)
        return pieces[low]

    def nearest(self, tokens, within):
        """The longest beginning or end of the pattern that is found, and what stands around it."""
        lengths = range(1, len(tokens))
        begin = self.longest([tokens[:length] for length in lengths], within)
        end = self.longest([tokens[-length:] for length in lengths], within)
        piece = max(begin, end, key=len)
        return self.stands(piece, list(self.places(piece, within))[:SHOWN])

    def stands(self, piece, places):
        lines = [f"only `{' '.join(piece)}` is; take what stands there now, or drop the mutant"]
        for place in places:
            text = self.files[place.file].text
            start = text.rfind("\n", 0, max(place.start - 80, 0)) + 1
            end = text.find("\n", place.end + 80)
            lines.append(f"{self.line(place)}:\n{text[start : end if end >= 0 else None]}")
        return "\n".join(lines)
