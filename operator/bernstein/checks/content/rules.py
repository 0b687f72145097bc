"""What the lines that a change adds hold, by rules: secrets, licences, regulated data.

A finding tells file, line and kind, but never what was found.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bernstein.checks.added import added_lines, readings
from bernstein.checks.content import unseen
from bernstein.checks.reading import ChangedFile
from bernstein.checks.verdict import Verdict, failed, passed

ALLOWED_PREFIXES = ("FAKE", "TEST", "EXAMPLE", "DUMMY", "PLACEHOLDER")
"""A value that begins with one of these is made up. They are in upper case, so that nobody writes
them by accident."""

ADDED_BYTES = 32_000_000
"""More added text than this is not scanned: the gate fails rather than let it through."""

WINDOW, OVERLAP = 4000, 400
"""Characters that a pattern gets at once, and of them those that it got before."""

MADE_UP = f"a made-up value begins with one of {', '.join(ALLOWED_PREFIXES)}"

_SHOWN = 20
_CARRIED = 800
"""Characters of whole lines that a text of several lines gets again from the block before."""
_COMMENT = re.compile(r"[\s#*/;%!|>]*(?:--\s*)?|\Z")
_END = re.compile(r"[\s*/]*\Z")
_WORD_BEFORE = re.compile(r"[\w-]*\Z")

Finder = Callable[[str], Iterable[re.Match[str]]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of what is looked for; `blocks` when it is of high severity."""

    kind: str
    blocks: bool
    find: Finder
    hint: str = MADE_UP
    """What else helps than to take it out. Where it is MADE_UP, an allowed prefix excuses it. A
    key's own first line has no room for one: what is before it is beside the key, no part of it."""
    near: re.Pattern[str] | None = None
    """Where it is given, a match may go over several lines, and is looked for where this is near:
    `find` gets what `joined` makes of them."""
    only_shown_in: Callable[[str], bool] | None = None
    """Paths of files in which it does not block."""

    def blocks_in(self, path: str) -> bool:
        return self.blocks and not (self.only_shown_in is not None and self.only_shown_in(path))


@dataclass(frozen=True, slots=True)
class Finding:
    """Where something was found, and of which kind; `line` counts from 1, 0 is the file's name."""

    path: str
    line: int
    kind: str
    blocks: bool
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else f"{self.path} (its name)"
        return f"{place} {self.kind}" + ("" if self.blocks else " (does not block)")


class TooMuchText(Exception):  # noqa: N818 - a verdict on the change, no fault
    """The change adds over ADDED_BYTES bytes."""


@dataclass
class Findings:
    """Counts findings, and holds the first of them to be shown."""

    shown: list[Finding] = field(default_factory=list)
    count: int = 0
    hints: dict[str, None] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        if finding in self.shown:  # in another reading of the same file
            return
        self.count += 1
        if finding.hint:
            self.hints[finding.hint] = None
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
    blocking, every = Findings(), Findings()
    try:
        for finding in findings(files, rules, shown, ADDED_BYTES):
            every.add(finding)
            if finding.blocks:
                blocking.add(finding)
    except TooMuchText:
        return failed("TooLarge", f"the change adds over {ADDED_BYTES} bytes of text")
    if not blocking.count:
        return passed(str(every))
    return failed(reason, "\n".join([str(blocking), *blocking.hints]))


def findings(
    files: Iterable[ChangedFile],
    rules: Sequence[Rule],
    shown: Callable[[str], str],
    most: int,
    before_each: Callable[[], None] = lambda: None,
) -> Iterator[Finding]:
    """What stands in added lines and in names, as they are and as a reader sees them.

    `before_each`: is called before each file, and before each block of lines: a caller whose time
    is over raises there. Raises TooMuchText for over `most` added bytes.
    """
    budget = _Budget(most)
    by_line = [rule for rule in rules if rule.near is None]
    for file in files:
        before_each()
        name = [*unseen.without([(0, file.path.encode("utf-8", "surrogateescape"))])]
        place = _Place(shown(name[0][1] if name else file.path), file.path)
        yield from _in_lines(place, [(0, file.path)], rules)
        yield from _in_lines(place, name, by_line)
        for before, after in readings(file):
            added = budget.texts(added_lines(before, after))
            yield from _in_lines(place, added, rules, before_each)
            if unseen.is_in(after):
                seen = unseen.without(added_lines(before, after))
                yield from _in_lines(place, seen, by_line, before_each)


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


@dataclass(frozen=True)
class _Place:
    """A file: its path as people are shown it, and as it is."""

    shown: str
    path: str

    def finding(self, line: int, rule: Rule) -> Finding:
        return Finding(self.shown, line, rule.kind, rule.blocks_in(self.path), rule.hint)


def _in_lines(
    place: _Place,
    lines: Iterable[tuple[int, str]],
    rules: Sequence[Rule],
    before_each: Callable[[], None] = lambda: None,
) -> Iterator[Finding]:
    """Findings in numbered lines of one file, at most one per line and kind. `before_each`: is
    called before each block of them is looked at."""
    by_line = [rule for rule in rules if rule.near is None]
    over_lines = [rule for rule in rules if rule.near is not None]
    here, kinds = -1, set[str]()
    last: dict[str, int] = {}
    carried: list[tuple[int, str]] = []
    for block in _blocks(lines):
        before_each()
        # Most blocks hold nothing: one search of a block is many times faster than one per line.
        text = "\n".join(part for _, part in block)
        suspected = [rule for rule in by_line if any(True for _ in rule.find(text))]
        for number, part in block if suspected else ():
            if number != here:
                here, kinds = number, set()
            for rule in suspected:
                if rule.kind in kinds:
                    continue
                if any(_counts(rule, part, match) for match in rule.find(part)):
                    kinds.add(rule.kind)
                    yield place.finding(number, rule)
        yield from _over_lines(place, [*carried, *block], over_lines, last)
        carried = _last_lines(block)


def _over_lines(
    place: _Place, block: list[tuple[int, str]], rules: Iterable[Rule], last: dict[str, int]
) -> Iterator[Finding]:
    """Findings that may go over several lines, told by the one in which each begins. `last`: the
    last one of each kind that is known, which is kept."""
    plain = "\n".join(part for _, part in block)
    near = [rule for rule in rules if rule.near is not None and rule.near.search(plain)]
    if not near:
        return
    text, starts = joined(block)
    for rule in near:
        for match in rule.find(text):
            number = block[bisect_right(starts, match.start()) - 1][0]
            if number > last.get(rule.kind, -1) and _counts(rule, text, match):
                last[rule.kind] = number
                yield place.finding(number, rule)


def joined(lines: Iterable[tuple[int, str]]) -> tuple[str, list[int]]:
    """Numbered lines as one text, and where in it each begins.

    Without what makes them a comment, each run of white space as one blank. Lines that follow each
    other are joined by a line feed, others by a form feed.
    """
    parts: list[str] = []
    starts: list[int] = []
    size, before = 0, None
    for number, line in lines:
        start = _COMMENT.match(line)
        words = _END.sub("", line[start.end() if start else 0 :]).split()
        mark = "" if before is None else "\n" if number == before + 1 else "\f"
        parts += [mark, " ".join(words)]
        starts.append(size + len(mark))
        size, before = size + len(mark) + len(parts[-1]), number
    return "".join(parts), starts


def _last_lines(block: list[tuple[int, str]]) -> list[tuple[int, str]]:
    size = 0
    for count, (_, part) in enumerate(reversed(block)):
        size += len(part)
        if size > _CARRIED:
            return block[len(block) - count :]
    return block


def _counts(rule: Rule, line: str, match: re.Match[str]) -> bool:
    return not (rule.hint == MADE_UP and _is_made_up(line, match))


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
