# SPDX-License-Identifier: MIT
"""C sources as far as the rules need them: what a file includes, defines and calls."""

import collections
import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
CALL = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(")
# A line that begins with a type and goes on with a name, parameters and a body.
FUNCTION = re.compile(
    r"^(?P<head>[A-Za-z_][\w \t\n*]*?[\s*])(?P<name>[A-Za-z_]\w*)\("
    r"(?P<parameters>[^;{}]*)\)\s*\{",
    re.MULTILINE,
)
NO_TYPE = {"return", "else", "case", "goto", "typedef"}
NO_CALL = {"if", "for", "while", "switch", "return", "sizeof", "offsetof", "__asm__"}
ENDINGS = {".c", ".h", ".S", ".cpp"}

Call = collections.namedtuple("Call", "line name")
Include = collections.namedtuple("Include", "line kind header")


def blank(found):
    """Spaces for what was found, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", found.group())


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.DOTALL)


def code_only(text):
    """No comments, strings, preprocessor lines and attributes."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', blank, without_comments(text))
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.MULTILINE)
    return re.sub(r"__attribute__\s*\(\(.*?\)\)", blank, text, flags=re.DOTALL)


class Source:
    def __init__(self, root, path):
        self.name = path.relative_to(root).as_posix()
        self.folder, _, self.file = self.name.rpartition("/")
        self.module = self.name.rpartition(".")[0]  # x.c and x.h are one
        text = path.read_text(errors="replace")
        self.text, self.code = without_comments(text), code_only(text)
        self.functions = {}  # name -> is it for this file alone?
        self.bodies = []
        for found in FUNCTION.finditer(self.code):
            words = found.group("head").split()
            if words[0] in NO_TYPE or found.group("name") in NO_CALL:
                continue
            self.functions[found.group("name")] = "static" in words and path.suffix == ".c"
            self.bodies.append((found.end(), self.end_of(found.end())))

    def end_of(self, start):
        """Where the body that begins there ends."""
        depth = 1
        for found in re.finditer(r"[{}]", self.code[start:]):
            depth += 1 if found.group() == "{" else -1
            if depth == 0:
                return start + found.end()
        return len(self.code)

    def line(self, offset):
        return self.code.count("\n", 0, offset) + 1

    def includes(self):
        return [
            Include(self.line(found.start()), found.group(1), found.group(2))
            for found in INCLUDE.finditer(self.text)
        ]

    def calls(self):
        """In the bodies of functions only: elsewhere a declaration looks the same."""
        return [
            Call(self.line(start + found.start(1)), found.group(1))
            for start, end in self.bodies
            for found in CALL.finditer(self.code[start:end])
            if found.group(1) not in NO_CALL
        ]

    def words(self, pattern):
        return [
            (self.line(found.start()), found.group()) for found in re.finditer(pattern, self.code)
        ]


def sources(root, folders):
    paths = [path for folder in folders for path in sorted((root / folder).rglob("*"))]
    return [
        Source(root, path)
        for path in paths
        if path.suffix in ENDINGS and "target" not in path.parts
    ]


def definitions(files):
    """Function -> the files that define it for others."""
    table = collections.defaultdict(list)
    for source in files:
        for name, alone in source.functions.items():
            if not alone:
                table[name].append(source)
    return table
