# SPDX-License-Identifier: MIT
"""Patterns of C tokens, so that a fault is found whatever the lines, files and names around it.

Spaces, line ends and comments do not count. `$a` to `$z` is a name or a chain of members, such as
`plan->slew.value`: the same text each time the pattern uses it. `$A` to `$Z` is an expression: any
tokens with balanced brackets, without a comma or semicolon outside of them.
"""

import bisect
import functools
import re

TOKEN = re.compile(
    r"""(?P<none>/\*.*?\*/|//[^\n]*|\s+|\\\n)
    |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])'
    |\$?[A-Za-z_]\w*|\d[\w.]*
    |<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.""",
    re.DOTALL | re.VERBOSE,
)
HOLE = re.compile(r"\$[A-Za-z]\Z")

NAME = r"[A-Za-z_]\w*\n(?:(?:\.|->)\n[A-Za-z_]\w*\n)*"
# A string holds any character. No token may be matched in two ways: a search that fails would try all.
STRING = r"[\"'][^\n]*\n"
PLAIN = rf"[^\n(){{}}\[\];,\"'][^\n]*\n|{STRING}"
INSIDE = rf"[^\n(){{}}\[\];\"'][^\n]*\n|{STRING}"
for _ in range(3):
    INSIDE = rf"{INSIDE}|[(\[]\n(?:{INSIDE})*[)\]]\n"
EXPRESSION = rf"(?:{PLAIN}|[(\[]\n(?:{INSIDE})*[)\]]\n)+?"
MIDDLE_OF_CHAIN = r"(?<!\n\.\n)(?<!\n->\n)"


def tokens(text):
    """(token, where it begins, where it ends) of each."""
    return [
        (found.group(), found.start(), found.end())
        for found in TOKEN.finditer(text)
        if found.lastgroup != "none"
    ]


class Text:
    """A file, or a part of it, as a list of tokens, a line each."""

    def __init__(self, text):
        self.text = text
        self.tokens = tokens(text)
        self.joined = "".join(token + "\n" for token, _, _ in self.tokens)
        lengths = [len(token) + 1 for token, _, _ in self.tokens]
        self.offsets = [0]
        for length in lengths:
            self.offsets.append(self.offsets[-1] + length)

    def span(self, found):
        """Where in the text what was found begins and ends."""
        first = bisect.bisect_left(self.offsets, found.start())
        last = bisect.bisect_left(self.offsets, found.end()) - 1
        return self.tokens[first][1], self.tokens[last][2]


def hole(name, seen, held):
    if name in held:
        return re.escape(held[name])
    if name in seen:
        return rf"(?P={name})"
    seen.add(name)
    return rf"(?P<{name}>{NAME if name.islower() else EXPRESSION})"


@functools.cache
def expression(pattern, held=()):
    """A pattern, which is a tuple of tokens, as a regular expression over Text.joined. `held`
    has pairs of a name and what it has been bound to elsewhere."""
    seen = set()
    parts = [
        hole(token[1], seen, dict(held)) if HOLE.match(token) else re.escape(token) + r"\n"
        for token in pattern
    ]
    start = MIDDLE_OF_CHAIN if HOLE.match(pattern[0]) else ""
    return re.compile("^" + start + "".join(parts), re.MULTILINE)


def longest_plain(pattern):
    """The longest token that is no hole, as it stands in Text.joined: without it there is no match."""
    return max((token + "\n" for token in pattern if not HOLE.match(token)), key=len, default="")


def parse(text):
    return tuple(token for token, _, _ in tokens(text))


def filled(text, found, held=()):
    """The replacement, with what the pattern's holes held."""
    texts = {
        name: re.sub(r" ?(\.|->) ?", r"\1", value.replace("\n", " ").strip())
        for name, value in (*held, *found.groupdict().items())
    }
    return re.sub(r"\$([A-Za-z])\b", lambda match: texts[match.group(1)], text)
