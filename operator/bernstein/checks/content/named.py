"""Secrets that have no form of their own, known by what stands before them: `Authorization:`, or
the name of a variable or field. And JSON Web Tokens, which are often examples in work, so that
no gate rejects them, but seldom in what is printed.

What is printed is mostly code and its errors. So a value has to look like one: `token = tokens[i]`
and `password: str` stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HIDDEN = "***"

_WEB_TOKEN = re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{4,}+(?:\.[\w-]*+)?", re.ASCII)
_CREDENTIALS = re.compile(
    r"\b(?:(?P<header>authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?)"
    r"(?:bearer|basic|token)|bearer)[ \t]{1,3}"
    r"(?P<value>[\w.~+/-]{8,}+=*+)",
    re.IGNORECASE | re.ASCII,
)
_NAME = re.compile(
    # One search begins in each word, so that none is read twice.
    r"(?<![\w-])[\w-]*?(?:(?P<password>passw(?:or)?d|passphrase|[_-]pwd)|token|secret|credentials?"
    r"|(?:api|auth|access|private|secret)[_-]?key)"
    r"[\"']?[ \t]{0,3}(?::=|=>|[=:])(?!=)[ \t]{0,3}",
    re.IGNORECASE | re.ASCII,
)
_VALUE = re.compile(
    r"\"(?P<double>[^\"\s]{4,512})\"|'(?P<single>[^'\s]{4,512})'"
    r"|(?P<bare>[\w.~+/=@!#%^:?\\-]{4,128}+)(?P<call>[(\[{*])?",
    re.ASCII,
)
"""As much as it takes to judge; the rest of a value that is one is hidden with it."""
_REST = re.compile(r"[^\s\"'`,;&)\]}]*+")
_PLAIN = re.compile(r"[A-Za-z_]+\d{0,2}(?:[.-][A-Za-z_]+\d{0,2})*[.:?!,]?", re.ASCII)
"""A word, names with points between them, as in code, or a word of a sentence."""
_NO_VALUE = {"none", "null", "true", "false", "undefined", "string", "password", "hidden"}
_DIGITS = re.compile(r"\d+", re.ASCII)
_LEAST, _LONG = 16, 20
_RUNS_OF_DIGITS = 4


def without(text: str) -> str:
    """`text` with HIDDEN in place of such values; their names stay. In linear time."""
    parts, end = [], 0
    for start, stop in sorted({*_tokens(text), *_credentials(text), *_assigned(text)}):
        if start >= end:
            parts += [text[end:start], HIDDEN]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _WEB_TOKEN.finditer(text))


def _credentials(text: str) -> Iterator[tuple[int, int]]:
    for found in _CREDENTIALS.finditer(text):
        if found["header"] is not None or not _PLAIN.fullmatch(found["value"]):
            yield found.span("value")


def _assigned(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for name in _NAME.finditer(text):
        if name.start() < end:
            continue
        value = _VALUE.match(text, name.end())
        if value is None or not _is_secret(name, value):
            continue
        start, end = value.span(value.lastgroup or 0)
        if value["bare"] is not None and (rest := _REST.match(text, end)):
            end = rest.end()
        yield start, end


def _is_secret(name: re.Match[str], value: re.Match[str]) -> bool:
    """Whether the value is one, by how it is written and by what its name says."""
    quoted = value["double"] or value["single"]
    said = quoted or value["bare"]
    if said.lower() in _NO_VALUE or HIDDEN in said or value["call"] is not None:
        return False
    is_password = name["password"] is not None
    if quoted is None and _is_variable(name[0]):
        return not _is_expression(said) and (is_password or not said.isdecimal())
    if quoted is not None and is_password:
        return True
    if is_password:
        return _is_password(said)
    return not _PLAIN.fullmatch(said) and _is_random(said)


def _is_variable(name: str) -> bool:
    """Whether it is written as `env` prints one: in capitals, and nothing beside the sign."""
    return name.endswith("=") and name[:-1].isupper() and name[-2].isalpha()


def _is_password(value: str) -> bool:
    """Types, paths and what is called `password1` are none."""
    if _DIGITS.search(value) is None or _is_expression(value) or value[0] in "./\\":
        return False
    return not (_PLAIN.fullmatch(value) and value.lower().startswith("p"))


def _is_expression(value: str) -> bool:
    """`os.environ` or `self.token`."""
    return "." in value and _PLAIN.fullmatch(value) is not None


def _is_random(value: str) -> bool:
    """No name of anything: its digits are all over it, or it has all kinds of letters."""
    if len(value) < _LEAST:
        return False
    if len(_DIGITS.findall(value)) >= _RUNS_OF_DIGITS:
        return True
    kinds = (str.islower, str.isupper, str.isdecimal)
    mixed = all(any(kind(char) for char in value) for kind in kinds)
    return len(value) >= _LONG and mixed and "_" not in value
