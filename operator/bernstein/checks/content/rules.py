"""What the lines that a change adds hold, by rules: secrets, licences, regulated data.

A finding tells file, line and kind, but never what was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bernstein.checks.added import added_lines, readings
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict, failed, passed

ALLOWED_PREFIXES = ("FAKE", "TEST", "EXAMPLE", "DUMMY", "PLACEHOLDER")
"""A value that begins with one of these is made up. They are in upper case, so that nobody writes
them by accident."""

ADDED_BYTES = 32_000_000
"""More added text than this is not scanned: the gate fails rather than let it through."""

WINDOW, OVERLAP = 4000, 400
"""Characters that a pattern gets at once, and of them those that it got before."""

_SHOWN = 20
_WORD_BEFORE = re.compile(r"[\w-]*\Z")

Finder = Callable[[str], Iterable[re.Match[str]]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of what is looked for; `blocks` when it is of high severity."""

    kind: str
    blocks: bool
    find: Finder
    may_be_made_up: bool = True
    """Whether an allowed prefix excuses it. A key's own first line has no room for a prefix: one
    before it is beside the key, not part of it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Where something was found, and of which kind; `line` counts from 1, 0 is the file's name."""

    path: str
    line: int
    kind: str
    blocks: bool

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else f"{self.path} (its name)"
        return f"{place} {self.kind}" + ("" if self.blocks else " (does not block)")


class TooMuchText(Exception):  # noqa: N818 - a verdict on the change, no fault
    """The change adds over ADDED_BYTES bytes."""


@dataclass
class _Findings:
    """Counts findings, and holds the first of them to be shown."""

    shown: list[Finding] = field(default_factory=list)
    count: int = 0

    def add(self, finding: Finding) -> None:
        if finding in self.shown:  # in another reading of the same file
            return
        self.count += 1
        if self.count <= _SHOWN:
            self.shown.append(finding)

    def __str__(self) -> str:
        more = self.count - len(self.shown)
        lines = [*map(str, self.shown), *([f"and {more} more"] if more else [])]
        return "\n".join(lines)


def scan(
    files: Iterable[ChangedFile],
    rules: Sequence[Rule],
    reason: str,
    shown: Callable[[str], str],
) -> Verdict:
    """Failed for `reason` if an added line holds something that blocks; otherwise Passed.

    `shown`: makes a path fit to be shown. Besides the contents themselves, only a few lines are in
    memory at a time.
    """
    blocking, every = _Findings(), _Findings()
    try:
        for finding in _findings(files, rules, shown):
            every.add(finding)
            if finding.blocks:
                blocking.add(finding)
    except TooMuchText:
        return failed("TooLarge", f"the change adds over {ADDED_BYTES} bytes of text")
    if not blocking.count:
        return passed(str(every))
    hint = f"a made-up value begins with one of {', '.join(ALLOWED_PREFIXES)}"
    return failed(reason, f"{blocking}\n{hint}")


def _findings(
    files: Iterable[ChangedFile], rules: Sequence[Rule], shown: Callable[[str], str]
) -> Iterator[Finding]:
    budget = _Budget(ADDED_BYTES)
    for file in files:
        path = shown(file.path)
        yield from _in_lines(path, [(0, file.path)], rules)
        for before, after in readings(file):
            added = budget.texts(added_lines(before, after))
            yield from _in_lines(path, added, rules)


@dataclass
class _Budget:
    """`left` is how many bytes of added lines may still be looked at."""

    left: int

    def texts(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
        """The lines, decoded. Raises TooMuchText when they are over the budget."""
        for number, line in lines:
            self.left -= len(line)
            if self.left < 0:
                raise TooMuchText
            # NUL bytes between characters hide text from patterns, not from readers.
            yield number, line.replace(b"\0", b"").decode("utf-8", "replace")


def _in_lines(
    path: str, lines: Iterable[tuple[int, str]], rules: Sequence[Rule]
) -> Iterator[Finding]:
    """Findings in numbered lines of one file, at most one per line and kind."""
    here, kinds = -1, set[str]()
    for block in _blocks(lines):
        # Most blocks hold nothing: one search of a block is many times faster than one per line.
        text = "\n".join(part for _, part in block)
        suspected = [rule for rule in rules if any(True for _ in rule.find(text))]
        for number, part in block if suspected else ():
            if number != here:
                here, kinds = number, set()
            for rule in suspected:
                if rule.kind in kinds:
                    continue
                if any(_counts(rule, part, match) for match in rule.find(part)):
                    kinds.add(rule.kind)
                    yield Finding(path, number, rule.kind, rule.blocks)


def _counts(rule: Rule, line: str, match: re.Match[str]) -> bool:
    return not (rule.may_be_made_up and _is_made_up(line, match))


def _is_made_up(line: str, match: re.Match[str]) -> bool:
    """Whether the value, or the word that it is part of, begins with an allowed prefix."""
    start = match.start()
    before = _WORD_BEFORE.search(line, max(start - 64, 0), start)
    word = (before[0] if before else "") + match[0]
    values = (word, *filter(None, match.groups()))
    return any(value.lstrip("-").startswith(ALLOWED_PREFIXES) for value in values)


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Lines in groups of at most WINDOW characters, so that no pattern gets a text that is long
    enough to make it slow. A longer line is cut into pieces that overlap."""
    block: list[tuple[int, str]] = []
    size = 0
    for number, line in lines:
        for start in range(0, max(len(line), 1), WINDOW - OVERLAP):
            part = line[start : start + WINDOW]
            if block and size + len(part) > WINDOW:
                yield block
                block, size = [], 0
            block.append((number, part))
            size += len(part)
    if block:
        yield block
