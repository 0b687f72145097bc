"""Licences that bind whoever takes in code under them: grants, texts and SPDX expressions.

Text that only speaks of a licence binds nobody. So a grant is looked for in the forms in which a
file states its own: what it is ("this program is licensed under ..."), the words that a licence
tells its users to write, a field `license`, or the licence's own text.

Every pattern is linear: what may repeat has a bound.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache, partial

from bernstein.checks.content.rules import Rule
from bernstein.checks.content.spdx import families

HINT = "the repository's own licence is that of LICENSE, COPYING or LICENSES/ where work began"

_W = "[ \n]"
"""Between two words: lines come joined by `rules.joined`."""
_GNU = f"GNU{_W}%sGeneral{_W}Public{_W}Licen[cs]e"
_TITLES = {
    "AGPL": (_GNU % f"Affero{_W}", f"(?:GNU{_W})?AGPL"),
    "GPL": (_GNU % "", f"(?:GNU{_W})?GPL"),
    "SSPL": (f"Server{_W}Side{_W}Public{_W}Licen[cs]e", "SSPL"),
    "BUSL": (f"Business{_W}Source{_W}Licen[cs]e", "BUSL"),
    "Elastic": (f"Elastic{_W}Licen[cs]e", "ELv2"),
    "CC-BY-NC": (
        rf"(?:Creative{_W}Commons{_W})?Attribution-Non-?Commercial(?:-\w{{1,20}})?",
        "CC BY-NC",
    ),
}
"""By family: what the licence calls itself, at length and in short."""
_NEAR = re.compile(r"licen[cs]e|commercial|GPL|SSPL|BUSL|ELv2|BY-NC", re.IGNORECASE)

_FREE = "MIT|BSD|Apache|ISC|MPL|Mozilla|EPL|LGPL|zlib|Unlicense"
_UP_TO = r"(?:(?!\b(?:not|or|nor|unlike|except)\b)(?:[^.;\f]|\.(?=\d))){0,60}?\b"
_NO_CHOICE = rf"(?![^.;\f]{{0,40}}\bor{_W}(?:the{_W})?(?:{_FREE})\b)"
_VERSION = r"(?:-?v?\d[\d.]{0,5}(?:-only|-or-later)?\+?)?(?![\w-])"
_THING = (
    "file|program|software|code|work|library|project|module|package|source|script|repository"
    "|product|document|documentation|component|material|plugin|application|tool"
)
_OF_ITSELF = (
    rf"\b(?:this|these|all)(?:{_W}[\w-]{{1,20}}){{0,2}}?{_W}(?:{_THING})s?"
    rf"(?:{_W}(?:files?|code|tree))?{_W}(?:is|are)"
    rf"(?:{_W}(?!not\b|never\b|no\b)[\w-]{{1,20}},?){{0,4}}?{_W}"
    "(?:licen[cs]ed|released|distributed|covered|published|provided|available|offered|governed)"
    rf"{_W}(?:under|by){_W}{_UP_TO}"
)
_AS_TOLD = (
    rf"\b(?:it|them|redistribute|modify|copy|distribute){_W}under{_W}the{_W}terms{_W}"
    rf"(?:and{_W}conditions{_W})?of{_W}(?:the{_W})?"
)
_LINE, _LINE_END = r"(?<![^\n\f])", r"(?![^\n\f])"
_SENTENCE = (
    rf"(?:{_LINE}|(?<=[.;:]{_W}))(?-i:Licensed|Released|Distributed|Published|Available)"
    rf"{_W}under{_W}{_UP_TO}"
)


def rules(own: Collection[str]) -> Iterator[Rule]:
    """What to look for. `own`: families that the repository is under, which its files may name."""
    for name in _TITLES:
        if name in own:
            continue
        yield Rule(f"{name} licence", True, partial(_stated, name), hint=HINT, near=_NEAR)
        yield Rule(
            f"{name} licence identifier",
            True,
            partial(_identified, name, frozenset(own)),
            hint=HINT,
            only_shown_in=is_lock,
        )


def stated_in(text: str) -> frozenset[str]:
    """The families that a text, as `rules.joined` makes it, says it is under."""
    return frozenset(name for name, _ in _statements(text))


def titled(line: str) -> frozenset[str]:
    """The families whose name at length is the line, with a version at most."""
    names = (
        name
        for name, (long, _) in _TITLES.items()
        if re.fullmatch(rf"{long}[\w., ]{{0,40}}", line.strip(), re.IGNORECASE)
    )
    return frozenset(names)


def _stated(name: str, text: str) -> Iterator[re.Match[str]]:
    return (match for of, match in _statements(text) if of == name)


@lru_cache(maxsize=1)
def _statements(text: str) -> tuple[tuple[str, re.Match[str]], ...]:
    """Each with its family. Kept for a while: the rule of each family asks for the same text."""
    return tuple((_family(match[0]), match) for match in _STATEMENT.finditer(text))


def _family(statement: str) -> str:
    """The one that is named first."""
    titles = ((name, title.search(statement)) for name, title in _TITLE.items())
    return min((match.start(), name) for name, match in titles if match is not None)[1]


_TITLE = {
    name: re.compile(rf"\b(?:{long}|{short})", re.IGNORECASE)
    for name, (long, short) in _TITLES.items()
}
_LONG = "|".join(long for long, _ in _TITLES.values())
_CAPITALS = "|".join(long.upper() for name, (long, _) in _TITLES.items() if name != "CC-BY-NC")
_SHORT = "|".join(short for _, short in _TITLES.values())
_RARE = "|".join(long for name, (long, _) in _TITLES.items() if name not in ("AGPL", "GPL"))
"""Names that stand with their version on a line of their own where the text itself begins."""
_STATEMENT = re.compile(
    rf"(?:{_OF_ITSELF}|{_SENTENCE}|{_AS_TOLD})(?:{_LONG}|{_SHORT}){_VERSION}{_NO_CHOICE}"
    rf"|{_LINE}(?:(?-i:{_CAPITALS}){_LINE_END}|(?:{_LONG})\n(?:v|version{_W})\d"
    rf"|(?:{_RARE}){_W}(?:v|version{_W})?\d[^\n\f]{{0,30}}{_LINE_END})"
    rf"|License :: OSI Approved :: (?:{_LONG})",
    re.IGNORECASE,
)


# --- SPDX expressions ---------------------------------------------------------------------------

_TAG = re.compile(
    r"SPDX-License-Identifier[\"']?[ \t]{0,5}[:=][ \t]{0,5}[\"']?([\w.+\-/() :]{1,200})",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"(?<![\w.-])licen[cs]e(?:[-_]expression)?[\"']?[ \t]{0,5}(?::|=(?!=))[ \t]{0,5}"
    r"(?:([\"'])([\w.+\-/() ]{1,200})\1|([\w.+\-/() ]{1,200})(?=[\r\n]|\Z))",
    re.IGNORECASE,
)
_LOCK_FILE = re.compile(
    r"(?:.*/)?(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|packages\.lock\.json"
    r"|[^/]{0,100}\.lockb?|gradle\.lockfile|conda-lock\.yml|pylock(?:\.[^/]{1,100})?\.toml)"
)


def is_lock(path: str) -> bool:
    """Whether a tool wrote the file of what others call their packages' licences."""
    return _LOCK_FILE.fullmatch(path) is not None


def identified_in(text: str) -> frozenset[str]:
    """The families of which SPDX expressions of the text leave no other choice."""
    bindings = (bound for _, bound in _expressions(text, frozenset()))
    return frozenset().union(*bindings)


def _identified(name: str, own: frozenset[str], text: str) -> Iterator[re.Match[str]]:
    return (match for match, bound in _expressions(text, own) if name in bound)


@lru_cache(maxsize=1)
def _expressions(
    text: str, own: frozenset[str]
) -> tuple[tuple[re.Match[str], frozenset[str]], ...]:
    """Each with the families that it leaves no other choice than."""
    tags = ((match, families(match[1], own, whole=False)) for match in _TAG.finditer(text))
    fields = (
        (match, families(match[2] or match[3], own, whole=True)) for match in _FIELD.finditer(text)
    )
    return (*tags, *fields)
