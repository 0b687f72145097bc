"""Program `compare`: what does a tool find in the work that it does not find in its base, or
measure worse than there?"""

from __future__ import annotations

import functools
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from bernstein.api.encoding import dump
from bernstein.api.pod import EXCERPT_CHARACTERS, CheckVerdict, InspectResult
from bernstein.api.programs.comparing import CompareConfig, Compared, Listing
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.checks import findings, measures, outputs, renames
from bernstein.checks.findings import Finding, Known, Line, NoListing, Unanswered
from bernstein.checks.measures import Measured, Measures
from bernstein.checks.outputs import baseline, functions, mutants
from bernstein.checks.outputs.baseline import Baseline
from bernstein.checks.rules.protect_tests import WEAKENED
from bernstein.checks.time_limit import TimeLimitError, time_limit
from bernstein.checks.weakening import collected_tests
from bernstein.core import sanitise
from bernstein.pods import log, nofollow
from bernstein.pods.errors import PodError
from bernstein.pods.programs.inspect import fit

CONFIG = CompareConfig

_FILE_BYTES = 20_000_000
_OUTPUT_BYTES = 100_000_000
_SECONDS = 120.0
"""For reading either tree. What is compared is the agent's: it may be as slow to read as can be."""
_LOOKED_AT = 8_000
"""Characters of an excerpt that are looked through for secrets, before it is cut."""
_QUOTED = 1200
"""Characters of what a command printed, below a line of ours."""
_EVERY_64 = re.compile(rb"(?:[^\n]*+\n){64}")
_ON_BASE = "nothing can be told of what is found on the commit before this work"
_SHORTER = (
    "Nobody can tell whether one is lost, and no later work could be compared with this one: "
    "list fewer or shorter names, such as one for all rows of a test"
)
_MISSING = (126, 127, 128)
"""Exit codes of a shell that does not find its command, or may not run it."""
_WAS_KNOWN = "what the base has was known"
_EMPTY = len(',"base":""')
"""Bytes that a verdict takes besides its own."""

T = TypeVar("T")
Before: TypeAlias = Callable[[], Baseline | str]
"""What was found or measured in the base, read once; see `_before`."""


def run(config: CompareConfig) -> Compared:
    """Passed without new findings, else Failed with them; Skipped where the base has no list."""
    before: Before = functools.cache(functools.partial(_before, config))
    try:
        verdict = _collected(config) if _lists_tests(config) else _compare(config, before)
    except Unanswered as error:
        excerpt = sanitise.quoting(error.message, error.said, EXCERPT_CHARACTERS)
        verdict = CheckVerdict(config.name, "Errored", error.reason, excerpt)
    log.event("compared", check=config.name, verdict=verdict.verdict, reason=verdict.reason)
    if config.known is not None:
        verdict = replace(verdict, excerpt=telling_known(verdict.excerpt))
    (verdict,) = fit(InspectResult((verdict,)), config.share - _EMPTY).verdicts
    told = Compared(verdict.name, verdict.verdict, verdict.reason, verdict.excerpt)
    with_base = replace(told, base=_to_keep(config, before))
    return with_base if len(dump(with_base)) <= config.share else told


def telling_known(excerpt: str) -> str:
    """What is told of a comparison with a base that was not measured."""
    room = EXCERPT_CHARACTERS - len(_WAS_KNOWN) - 1
    return f"{sanitise.text(excerpt, room)}\n{_WAS_KNOWN}".strip()


def _to_keep(config: CompareConfig, before: Before) -> str:
    """What was found or measured in the base, for the next comparison with it; "": it was known, or
    is none that can be kept."""
    if config.known is not None or config.least is not None or _lists_tests(config):
        return ""
    try:
        base = before()
    except Unanswered:
        return ""
    return "" if isinstance(base, str) else baseline.packed(base) or ""


def _before(config: CompareConfig) -> Baseline | str:
    """What was found or measured in the base; why nobody can tell, where the tool has come to its
    end and nobody can. Raises Unanswered."""
    is_measured = config.tolerance is not None
    if config.known is not None:
        try:
            return baseline.unpacked(config.known, measured=is_measured)
        except ValueError as error:
            raise PodError("InvalidConfig", f"what is known of the base: {error}") from error
    if _code(config.base) != 0:
        return ""
    try:
        return _in_time(lambda: _measured_before(config) if is_measured else _found_before(config))
    except NoListing as error:
        return f"{_ON_BASE}: {error}"


def _found_before(config: CompareConfig) -> Known:
    return findings.known(_listed(config, config.base), _lines(config.base))


def _measured_before(config: CompareConfig) -> Measured:
    scale, output = outputs.MEASURES[config.output], _output(config.base)
    beside = scale.beside(output, config.root) if scale.beside is not None else ()
    return Measured(scale.read(output, config.root), beside)


def _compare(config: CompareConfig, before: Before) -> CheckVerdict:
    verdict = _of_head(config) if config.decides else None
    if verdict is not None:
        return verdict
    if config.least is not None:
        return _scored(config, config.least)
    base = before()
    if config.tolerance is not None:
        return _measured(config, base, config.tolerance)
    if not isinstance(base, Known):
        return _base_fails(config, str(base))
    try:
        comparison = _in_time(lambda: _compared(config, base))
    except NoListing as error:
        return _failed(config, f"what is new cannot be told: {error}")
    if _code(config.head) != 0:
        return _failed(config, "the tool ends with an error, which it does not on the base")
    if not comparison.found and not config.decides:
        return _failed(config, "the tool fails, and lists nothing")
    if comparison.new:
        rows = findings.shown(comparison.first, comparison.new)
        return _failed(config, f"{comparison.new} new:\n{rows}")
    return CheckVerdict(config.name, "Passed", "", _there_before(comparison.found))


def _there_before(found: int) -> str:
    were = "was" if found == 1 else "were"
    return f"{sanitise.count(found, 'finding')} {were} there before" if found else ""


def _in_time(read: Callable[[], T]) -> T:
    """What `read` returns. Raises NoListing where that takes too long, too."""
    try:
        with time_limit(_SECONDS):
            return read()
    except TimeLimitError as error:
        raise NoListing(f"it {error}") from error


def _compared(config: CompareConfig, before: findings.Known) -> findings.Comparison:
    # Read twice: names are to be known before anything is compared, and too much would be kept.
    names = _renamed(config, before.paths, findings.paths_of(_listed(config, config.head)))
    return findings.compared(before, _listed(config, config.head), _lines(config.head), names)


def _base_fails(config: CompareConfig, excerpt: str) -> CheckVerdict:
    """The verdict where the base has no list: work without any finding has no new one either."""
    try:
        has_findings = _in_time(lambda: any(True for _ in _listed(config, config.head)))
    except NoListing:
        has_findings = True
    if has_findings or not config.decides:
        return CheckVerdict(config.name, "Skipped", VerdictReason.BASE_FAILS, excerpt)
    return CheckVerdict(config.name, "Passed")


def _of_head(config: CompareConfig) -> CheckVerdict | None:
    """The verdict where the tool did not come to its end in the work; None: it did."""
    # What is known was told by a tool that has come to its end.
    code, base = _code(config.head), 0 if config.known is not None else _code(config.base)
    if code is None and base is None:
        text = "the tool was not run to its end"
        return CheckVerdict(config.name, "Errored", VerdictReason.NO_VERDICT, text)
    if code is None:
        text = "the tool was not run to its end, which it was on the base"
        return CheckVerdict(config.name, "Failed", VerdictReason.EXIT_CODE, text)
    # Both run in one image: only where it ends so in both is it the image that lacks the tool.
    if code in _MISSING and base in _MISSING:
        text = f"exit code {code}: the image does not have the tool"
        return CheckVerdict(config.name, "Errored", Reason.TOOL_MISSING, text)
    if code == 0:
        return None
    if base == 0:
        text = f"exit code {code}, which it does not end with on the base"
        return CheckVerdict(config.name, "Failed", VerdictReason.EXIT_CODE, text)
    text = f"exit code {code}, and {base} on the base"
    return CheckVerdict(config.name, "Skipped", VerdictReason.BASE_FAILS, text)


def _measured(config: CompareConfig, base: Baseline | str, tolerance: float) -> CheckVerdict:
    scale = outputs.MEASURES[config.output]
    was, unread = (base, "") if isinstance(base, Measured) else (Measured({}), str(base))
    before = was.measures
    try:
        after, names, lost = _in_time(lambda: _measures_of_work(config, was))
    except NoListing as error:
        if unread:
            return CheckVerdict(config.name, "Skipped", VerdictReason.BASE_FAILS, unread)
        text = f"what was measured cannot be told: {error}"
        return _failed(config, text, VerdictReason.WORSE_THAN_BASE)
    if not before:
        text = "nothing was measured on the base"
        return CheckVerdict(config.name, "Skipped", VerdictReason.NO_BASELINE, text)
    before = measures.under_new_names(before, names)
    if scale.stays:
        before = functions.under_new_names(
            before,
            after,
            lambda path: _contents(config.base)(names.get(path, path)),
            _contents(config.head),
        )
    rows = [*lost, *measures.worse(scale, before, after, tolerance)]
    if rows:
        text = f"{len(rows)} worse:\n{findings.shown(rows)}"
        return _failed(config, text, VerdictReason.WORSE_THAN_BASE)
    return CheckVerdict(config.name, "Passed", "", scale.summary(before, after))


def _scored(config: CompareConfig, least: float) -> CheckVerdict:
    try:
        before = mutants.report(_output(config.base)) if _code(config.base) == 0 else None
    except NoListing:
        before = None
    try:
        work = mutants.report(_output(config.head))
    except NoListing as error:
        text = f"what the tests notice cannot be told: {error}"
        return _failed(config, text, VerdictReason.TESTS_TOO_WEAK)
    verdict, reason, text = mutants.judged(work, before, least)
    return CheckVerdict(config.name, verdict, reason, _excerpt(text))


def _lists_tests(config: CompareConfig) -> bool:
    return config.output in collected_tests.FORMS


def _collected(config: CompareConfig) -> CheckVerdict:
    try:
        before = _in_time(lambda: _tests(config, config.base))
    except NoListing as error:
        text = f"the tests of the commit before this work cannot be listed: {error}"
        return _quoting("Skipped", VerdictReason.NO_BASELINE, text, config, config.base)
    count = sum(before.values())
    try:
        lost = _in_time(lambda: _lost(config, before))
    except collected_tests.TooLong as error:
        return _failed(config, f"{collected_tests.TOO_LONG}: {error}.\n{_SHORTER}", WEAKENED)
    except NoListing as error:
        text = f"none of {sanitise.count(count, 'test')} can be collected any more: {error}"
        return _quoting("Failed", WEAKENED, text, config, config.head)
    if lost:
        hint = "tests that existed before stay"
        return _failed(config, f"{collected_tests.told(lost, before)}\n{hint}", WEAKENED)
    text = f"{sanitise.count(count, 'test')} of the commit before this work can be found again"
    return CheckVerdict(config.name, "Passed", "", text)


def _tests(config: CompareConfig, listing: Listing) -> collected_tests.Names:
    code = _code(listing)
    if code != 0:
        raise NoListing("it is not done" if code is None else f"exit code {code}")
    return collected_tests.names(config.output, _output(listing))


def _lost(config: CompareConfig, before: collected_tests.Names) -> list[str]:
    after = _tests(config, config.head)
    return collected_tests.lost(before, after, _contents(config.base), _contents(config.head))


def _quoting(
    verdict: str, reason: str, ours: str, config: CompareConfig, listing: Listing
) -> CheckVerdict:
    """A verdict of which the command says more: the end of what it printed."""
    printed = (_read(listing.findings, _OUTPUT_BYTES) or b"")[-_LOOKED_AT:]
    said = _masked(printed.decode(errors="replace"))[-_QUOTED:]
    return CheckVerdict(config.name, verdict, reason, sanitise.quoting(ours, said, _QUOTED))


def _measures_of_work(
    config: CompareConfig, base: Measured
) -> tuple[Measures, Mapping[str, str], Sequence[str]]:
    """What is measured in the work, the names that its files had before, and which of them cannot
    be measured any more, in words."""
    scale, before, output = outputs.MEASURES[config.output], base.measures, _output(config.head)
    if before and scale.of_work is not None:
        after = scale.of_work(output, base.beside, config.root)
    else:
        after = scale.read(output, config.root)
    was: Collection[str] = ()
    now: Mapping[str, str] = {}
    if before and scale.unread is not None:
        was, now = base.beside, scale.unread(output, config.root)
    names = _renamed(config, [*measures.paths(before), *was], [*measures.paths(after), *now])
    return after, names, measures.newly_unread(was, now, names)


def _failed(
    config: CompareConfig, text: str, reason: str = VerdictReason.NEW_FINDINGS
) -> CheckVerdict:
    return CheckVerdict(config.name, "Failed", reason, _excerpt(text))


def _excerpt(text: str) -> str:
    """What is told of a tool's output, without secrets: masked before it is cut."""
    return sanitise.text(_masked(text), EXCERPT_CHARACTERS)


def _masked(text: str) -> str:
    from bernstein.checks.content import printed  # its patterns take a moment to load

    shown = sanitise.text(text, _LOOKED_AT)
    return printed.without_secrets(shown)


def _code(listing: Listing) -> int | None:
    """The tool's exit code; None: it did not come to an end."""
    code = _read(listing.code, 16)
    return int(code) if code is not None and code.strip().isdigit() else None


def _listed(config: CompareConfig, listing: Listing) -> Iterable[Finding]:
    output = _output(listing)
    return outputs.findings_in(config.output, output, config.root, _contents(listing))


def _output(listing: Listing) -> bytes:
    output = _read(listing.findings, _OUTPUT_BYTES)
    if output is None or len(output) == _OUTPUT_BYTES:
        raise NoListing("the tool printed nothing, or too much")
    return output


def _read(file: str, most: int) -> bytes | None:
    path = Path(file)
    return nofollow.read_below(path.parent, path.name, most)


def _renamed(
    config: CompareConfig, before: Iterable[str], after: Iterable[str]
) -> Mapping[str, str]:
    """The path that a file with findings or measures had before, by that which it has now."""
    return renames.renamed(before, _contents(config.base), after, _contents(config.head))


def _contents(listing: Listing) -> renames.Content:
    return lambda path: nofollow.read_below(Path(listing.tree), path, _FILE_BYTES)


def _lines(listing: Listing) -> Line:
    """Reads the tree's lines; tools list their findings by file, so one file is held."""

    @functools.lru_cache(maxsize=1)
    def of_file(path: str) -> _Lines:
        content = nofollow.read_below(Path(listing.tree), path, _FILE_BYTES) or b""
        return _Lines(content.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))

    return lambda path, number: of_file(path)[number]


class _Lines:
    """A file's lines by their numbers, from 1. Only every so many have their place kept: a list of
    them takes up to fifty times what the file does."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._places = array("q", (match.end() for match in _EVERY_64.finditer(content)))

    def __getitem__(self, number: int) -> bytes:
        """Empty where there is no such line."""
        if number < 1:
            return b""
        block, more = divmod(number - 1, 64)
        if block > len(self._places):
            return b""
        start = self._places[block - 1] if block else 0
        for _ in range(more):
            start = self._content.find(b"\n", start) + 1
            if not start:
                return b""
        end = self._content.find(b"\n", start)
        return self._content[start : end if end >= 0 else None]
