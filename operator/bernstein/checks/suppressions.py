"""Comments that silence a linter or type checker for more than one statement, by kind of file.

What counts is what the tools honour, not what a person would write. So these are found, too:

- a comment whose directive stands on the line below its opening
- one behind a byte order mark or a lone carriage return
- one that a notebook spells in JSON
- one in a file whose encoding makes another text of it

The text is therefore read once as all the tools together would read it. A directive is known by its
comment and its word, so that a text that names one is none.

Every pattern is linear: what is open has a bound, and nothing starts anew inside what it has read.
"""

from __future__ import annotations

import posixpath
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

MOST_BYTES = 16_000_000
"""A longer file is not looked at."""

_LINE = 500
"""So many characters of a line before and behind a directive tell it from others."""
_COMMENT = 1000
_MOST_KNOWN = 100_000
"""Of more, those behind the last one count as added."""
_LINE_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class TooLong(Exception):  # noqa: N818 - a verdict on the change, no fault
    """A file has over MOST_BYTES bytes."""


@dataclass(frozen=True, slots=True)
class Directive:
    """One way to silence; `alone`: only where nothing but the comment is on its line."""

    pattern: re.Pattern[str]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Silenced:
    """Where something is silenced; `line` counts from 1, 0 in a notebook.

    `whole` is the hash of the comment with its lines: two of them may hold the same words.
    """

    line: int
    words: str
    whole: int


def _directive(pattern: str, *, alone: bool = False, flags: int = 0) -> Directive:
    """In `pattern`, `~` stands for white space within a line."""
    return Directive(re.compile(pattern.replace("~", r"[^\S\n]*"), re.IGNORECASE | flags), alone)


_PYTHON = (
    _directive("#~ruff~:~(?:noqa|disable|file-ignore)"),
    _directive("#~flake8~[:=]~noqa"),
    _directive("#~(?:ruff~:~)?isort~:~(?:skip.file|off)"),
    _directive(r"\bpylint~:(?:(?!pylint)[^\n;#]){0,500}?\bskip-file"),
    _directive(r"\bpylint~:(?:(?!pylint)[^\n;#]){0,500}?\bdisable(?!-next)", alone=True),
    _directive(r"#~(?:mypy~:|type~:~ignore)", alone=True),
    # `strict` may stand with rules that are switched on beside it.
    _directive(r"#~pyright~:(?!~strict~(?:,~\w+~=~(?:true|error)~)*(?:\n|\Z))", alone=True),
    _directive("#~(?:ty|pyrefly)~:~ignore|#~pytype~:~disable", alone=True),
    _directive("#~(?:pyre-ignore-all-errors|pyre-unsafe|pytype~:~skip-file)"),
)
_OPEN = r"(?:/\*[\s*]*|//~|<!--\s*|#~|\{\{!(?:--)?\s*)"
_SCRIPT = (
    _directive(_OPEN + r"(?:eslint|oxlint|stylelint)-disable(?![-\w])"),
    _directive(_OPEN + r"(?:tslint:disable(?![-\w])|@ts-nocheck|@noflow|deno-lint-ignore-file)"),
    _directive(_OPEN + r"biome-ignore-(?:all|start)|<!--\s*htmlhint\b"),
    _directive(r"/\*\s*(?:eslint|jshint|jslint)\s|//~js[hl]int\s+(?!ignore:line)"),
)
_OF_MARKDOWN = (
    r"<!--\s*(?:(?:eslint-disable|markdownlint-disable(?:-file)?)(?![-\w])"
    r"|markdownlint-configure-file|biome-ignore-(?:all|start))"
)
_MARKDOWN = (
    # Not what stands between two backticks: there it is shown.
    _directive(rf"(?<!`){_OF_MARKDOWN}|{_OF_MARKDOWN}(?![^\n]{{0,200}}?-->`)"),
)
_SHELL = (
    # Before the first command it is for the whole file.
    _directive(r"\A(?:~(?:#[^\n]*)?\n){0,500}~#~shellcheck\s[^\n]{0,500}?\bdisable="),
)
_YAML = (
    _directive("#~yamllint~disable(?!-line)"),
    _directive(r"#~eslint-disable(?![-\w])"),
)
_GAP = r"(?:\s|/\*[^*]{0,100}\*/)*+"
_INNER = rf"#{_GAP}!{_GAP}\["
_ATTRIBUTE = rf"""(?:[^]"#]|"(?:[^"\\]|\\.){{0,200}}"|"|#(?!{_INNER[1:]}))"""
_RUST = (
    _directive(rf"{_INNER}{_ATTRIBUTE}{{0,500}}?\b(?:allow|expect){_GAP}\("),
    _directive(
        rf"#{_GAP}\[{_GAP}(?:allow|expect){_GAP}\([^\]]{{0,500}}\]{_GAP}"
        rf"(?:pub\b{_GAP}(?:\([^)]{{0,50}}\))?{_GAP})?mod\b"
    ),
)
_GO = (
    _directive(
        r"^~//~nolint\b[^\n]*\n(?:~(?://(?!~nolint)[^\n]*)?\n){0,50}~package\b", flags=re.MULTILINE
    ),
    _directive(r"^~package\b[^\n/]*//~nolint\b", flags=re.MULTILINE),
    _directive("//~lint:file-ignore|//~revive:disable(?!-)"),
)
_RUBY = (_directive("#~(?:rubocop|standard)~:~(?:disable|todo)", alone=True),)
_C = (_directive(r"\bNOLINTBEGIN\b|#~pragma~warning~disable|\bcheckstyle[:.]~off\b"),)
_PHP = (_directive("phpcs~:~(?:ignoreFile|disable)|@codingStandardsIgnore(?:File|Start)"),)

_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi", ".pyw", ".pyx", ".pxd", ".ipynb"), _PYTHON),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), _SCRIPT),
    **dict.fromkeys((".gjs", ".gts", ".vue", ".svelte", ".astro", ".san", ".hbs"), _SCRIPT),
    **dict.fromkeys((".html", ".htm", ".xhtml", ".css", ".scss", ".sass", ".less"), _SCRIPT),
    **dict.fromkeys((".graphql", ".gql", ".jsonc", ".json5", ".toml"), _SCRIPT),
    **dict.fromkeys((".md", ".markdown"), _MARKDOWN),
    ".mdx": (*_MARKDOWN, *_SCRIPT),
    **dict.fromkeys((".yml", ".yaml"), _YAML),
    **dict.fromkeys((".sh", ".bash", ".dash", ".ksh", ".bats"), _SHELL),
    ".rs": _RUST,
    ".go": _GO,
    **dict.fromkeys((".rb", ".rake", ".gemspec"), _RUBY),
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".cs", ".java"), _C),
    ".php": _PHP,
    **dict.fromkeys((".kt", ".kts"), (_directive(r"@file~:~(?:\[~)?Suppress"),)),
    ".swift": (_directive("//~swiftlint:disable(?!:)"),),
    ".dart": (_directive("//~ignore.for.file~:"),),
    ".sql": (_directive("--~noqa~:~disable"),),
    **dict.fromkeys((".ex", ".exs"), (_directive("#~credo:disable-for-this-file"),)),
}
_BY_PROGRAM = (
    (re.compile(r"\A#![^\n]*\bpython"), _PYTHON),
    (re.compile(r"\A#![^\n]*\b(?:node|deno|bun)\b"), _SCRIPT),
    (re.compile(r"\A#![^\n]*\b(?:ba|da|k)?sh\b"), _SHELL),
    (re.compile(r"\A#![^\n]*\bruby\b"), _RUBY),
)

_CODING = re.compile(
    r"\A(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n))??[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
)
_PLAIN = bytes(range(128)) + rb"\x23 \u0023 +ACM-"
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"|\Z)', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "b": "\b"}


def added(path: str, before: bytes, after: bytes) -> Iterator[Silenced]:
    """What the file silences that it did not silence before. Raises TooLong."""
    had: Counter[int] | None = None
    for each in _silenced(path, after):
        if had is None:
            known = islice(_silenced(path, before), _MOST_KNOWN)
            had = Counter(silenced.whole for silenced in known)
        if had[each.whole] > 0:
            had[each.whole] -= 1
        else:
            yield each


def _silenced(path: str, content: bytes) -> Iterator[Silenced]:
    suffix = posixpath.splitext(path)[1].lower()
    directives = _directives(suffix, content)
    if not directives:
        return
    if len(content) > MOST_BYTES:
        raise TooLong(path)
    text = content.decode("utf-8", "replace").replace("\ufeff", " ")
    if suffix == ".ipynb":
        for each in _in_text(_lined(_cells(text)), directives):
            yield replace(each, line=0)
        return
    if directives is _PYTHON:
        yield from _in_encoding(text)
    yield from _in_text(_lined(text), directives)


def _directives(suffix: str, content: bytes) -> tuple[Directive, ...]:
    known = _BY_SUFFIX.get(suffix)
    if known is not None or not content.startswith(b"#!"):
        return known or ()
    first = content[:_LINE].decode("utf-8", "replace")
    return next((found for program, found in _BY_PROGRAM if program.match(first)), ())


def _lined(text: str) -> str:
    """With a line for all that any tool takes for one."""
    text = text.replace("\r\n", "\n")
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    return text


def _cells(text: str) -> str:
    """What the strings of a JSON document spell; those of one list are one text.

    It needs no valid document, and keeps what a parser drops, such as the first of two equal keys.
    """
    parts: list[str] = []
    end = 0
    for match in _STRING.finditer(text):
        if text[end : match.start()].strip() != ",":
            parts.append("\n")
        parts.append(_ESCAPE.sub(_unescaped, match[1]))
        end = match.end()
    return "".join(parts)


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _ESCAPED.get(match[2], match[2])


def _in_text(text: str, directives: tuple[Directive, ...]) -> Iterator[Silenced]:
    for directive in directives:
        line, counted = 1, 0
        for match in directive.pattern.finditer(text):
            start, end = _lines_of(text, match)
            if directive.alone and not _is_alone(text, start, match.end()):
                continue
            line, counted = line + text.count("\n", counted, match.start()), match.start()
            words = " ".join(match[0][-_LINE:].split())[-60:]
            yield Silenced(line, words, hash(text[start:end]))


def _lines_of(text: str, match: re.Match[str]) -> tuple[int, int]:
    """From the start of the directive's first line to the end of its comment."""
    start, end = match.span()
    closing = {"/*": "*/", "<!": "-->"}.get(match[0][:2])
    if closing is not None:
        closed = text.find(closing, end, end + _COMMENT)
        end = closed if closed >= 0 else end
    begun = text.rfind("\n", max(start - _LINE, 0), start) + 1
    ended = text.find("\n", end, end + _LINE)
    return begun or max(start - _LINE, 0), ended if ended >= 0 else end + _LINE


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether the line is nothing but a comment; also where its start is too far to be seen."""
    is_seen = start == 0 or text[start - 1] == "\n"
    return not is_seen or text[start:end].lstrip().startswith("#")


def _in_encoding(text: str) -> Iterator[Silenced]:
    """An encoding in which plain text is another one, such as utf-7: comments are not seen."""
    match = _CODING.match(text)
    if match is None or _is_plain(match[1]):
        return
    line = 1 + text.count("\n", 0, match.end())
    yield Silenced(line, f"coding: {match[1]}"[:60], hash(match[0]))


def _is_plain(encoding: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _PLAIN.decode(encoding) == _PLAIN.decode("ascii")
    except (LookupError, ValueError):
        return False
