"""How the words of a condition are spelled: judged before Python's parser sees them.

Most mistakes are of a sign or a word that conditions do not have, and get the best answer here.
What passes has so few brackets in each other that no parser has trouble with it, and nothing in it
that some release of Python only warns of.
"""

from __future__ import annotations

import keyword
import re
from typing import NamedTuple

MOST_DEPTH = 20
"""Of what is written in each other."""

_TOKEN = re.compile(
    r"""(?P<space>[ \t]+)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<number>\.?[0-9][\w.]*(?:(?<=[eE])[+-][0-9]+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>==|!=|<=|>=|[-<>()\[\],.])
    |(?P<other>.)""",
    re.ASCII | re.VERBOSE,
)
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = "\\'\"ntrxuU"
_JOINING = ("and", "or", "not", "in")
_WORDS = frozenset((*_JOINING, "True", "False", "None"))
_INSTEAD = {
    "=": "'=' compares nothing, write '=='",
    "&": "write 'and'",
    "|": "write 'or'",
    "!": "write 'not', or '!='",
    "is": "write '=='",
    "'": "a text has no end",
    '"': "a text has no end",
    "{": "an object cannot be written, ask for its fields",
    "}": "an object cannot be written, ask for its fields",
    ":": "neither parts of lists nor ':=' are possible",
    "#": "comments are not possible",
    "\\": "a '\\' is only possible within quotes",
}
_ARITHMETIC = "+-*/%~^@"
NO_ARITHMETIC = "arithmetic is not possible"


class Token(NamedTuple):
    kind: str
    text: str
    at: int


def problem(text: str) -> tuple[str, int] | None:
    """What is wrong, and where: counted from 0. None: Python's parser may see it."""
    hidden = next((at for at, char in enumerate(text) if not _is_seen(char)), None)
    if hidden is not None:
        return "it has a character that nobody sees, write it as an escape within quotes", hidden
    before, depth = Token("space", "", 0), 0
    for found in _TOKEN.finditer(text):
        token = Token(found.lastgroup or "", found[0], found.start())
        wrong = _wrong(token, before)
        if wrong is not None:
            return wrong, token.at
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if depth > MOST_DEPTH:
            return too_deep(), token.at
        before = token
    return None


def too_deep() -> str:
    return f"more than {MOST_DEPTH} levels in each other"


def _is_seen(char: str) -> bool:
    return char.isprintable() or char == "\t"


def _wrong(token: Token, before: Token) -> str | None:
    if token.kind == "text":
        return _wrong_text(token, before)
    if token.kind == "number" and not _NUMBER.fullmatch(token.text):
        return f"'{token.text}' is no number"
    if token.kind == "word":
        return _wrong_word(token.text, before)
    return _wrong_sign(token.text) if token.kind == "other" else None


def _wrong_text(token: Token, before: Token) -> str | None:
    if before.kind == "word" and before.text not in _JOINING:
        return f"'{before.text}' cannot stand before a text"
    if before.kind == "text" and before.at + len(before.text) == token.at:
        return "texts must not touch each other: they begin and end with one quote"
    strange = next((e for e in _ESCAPE.findall(token.text) if e not in _ESCAPES), None)
    if strange is not None:
        return f"a text has '\\{strange}', which is no escape: write '\\\\' for a backslash"
    return None


def _wrong_word(word: str, before: Token) -> str | None:
    if not keyword.iskeyword(word):
        return None
    if before.text == ".":
        return f"'{word}' is a word of its own, write ['{word}']"
    if word in _WORDS:
        return None
    return _INSTEAD.get(word, f"'{word}' is not possible, but comparisons, and, or, not, in are")


def _wrong_sign(sign: str) -> str:
    if sign in _INSTEAD:
        return _INSTEAD[sign]
    if sign in _ARITHMETIC:
        return NO_ARITHMETIC
    return f"'{sign}' is only possible within quotes"
