"""Program `compare`: what does a tool find in the work that it does not find in its base, or
measure worse than there?"""

from __future__ import annotations

import functools
import re
from array import array
from collections.abc import Iterable
from pathlib import Path

from bernstein.api.pod import (
    EXCERPT_CHARACTERS,
    TERMINATION_LIMIT,
    CheckVerdict,
    CompareConfig,
    InspectResult,
    Listing,
)
from bernstein.checks import findings, measures, outputs
from bernstein.checks.findings import Finding, Line, NoListing
from bernstein.checks.time_limit import time_limit
from bernstein.core import sanitise
from bernstein.pods import log, nofollow
from bernstein.pods.programs.inspect import fit

CONFIG = CompareConfig

_FILE_BYTES = 20_000_000
_OUTPUT_BYTES = 100_000_000
_SECONDS = 120.0
"""For the comparison. What is compared is the agent's: it may be as slow to read as can be."""
_EVERY_64 = re.compile(rb"(?:[^\n]*+\n){64}")
_MISSING = (126, 127, 128)
"""Exit codes of a shell that does not find its command, or may not run it."""


def run(config: CompareConfig) -> CheckVerdict:
    """Passed without new findings, else Failed with them; Skipped where the base has no list."""
    try:
        with time_limit(_SECONDS):
            verdict = _compare(config)
    except TimeoutError as error:
        reason = "NewFindings" if config.tolerance is None else "WorseThanBase"
        verdict = _failed(config, f"what the tool printed cannot be compared: it {error}", reason)
    log.event("compared", check=config.name, verdict=verdict.verdict, reason=verdict.reason)
    return fit(InspectResult((verdict,)), TERMINATION_LIMIT).verdicts[0]


def _compare(config: CompareConfig) -> CheckVerdict:
    told = _of_head(config) if config.decides else None
    if told is not None:
        return told
    if config.tolerance is not None:
        return _measured(config, config.tolerance)
    try:
        if _code(config.base) != 0:
            finds = not config.decides or any(True for _ in _listed(config, config.head))
            return CheckVerdict(config.name, *(("Skipped", "BaseFails") if finds else ("Passed",)))
        found = findings.compared(
            _listed(config, config.base),
            _lines(config.base),
            _listed(config, config.head),
            _lines(config.head),
        )
    except NoListing as error:
        return _failed(config, f"what is new cannot be told: {error}")
    if _code(config.head) != 0:
        return _failed(config, "the linter ends with an error, which it does not on the base")
    if not found.found and not config.decides:
        return _failed(config, "the linter fails, and lists nothing")
    if found.new:
        return _failed(config, f"{found.new} new:\n{findings.shown(found.first, found.new)}")
    were = f"{found.found} findings were there before" if found.found else ""
    return CheckVerdict(config.name, "Passed", "", were)


def _of_head(config: CompareConfig) -> CheckVerdict | None:
    """The verdict where the tool did not come to its end in the work; None: it did."""
    code, base = _code(config.head), _code(config.base)
    if code is None and base is None:
        return CheckVerdict(config.name, "Errored", "NoVerdict", "the tool was not run to its end")
    if code is None:
        text = "the tool was not run to its end, which it was on the base"
        return CheckVerdict(config.name, "Failed", "ExitCode", text)
    # Both run in one image: only where it ends so in both is it the image that lacks the tool.
    if code in _MISSING and base in _MISSING:
        text = f"exit code {code}: the image does not have the tool"
        return CheckVerdict(config.name, "Errored", "ToolMissing", text)
    if code == 0:
        return None
    if base == 0:
        text = f"exit code {code}, which it does not end with on the base"
        return CheckVerdict(config.name, "Failed", "ExitCode", text)
    text = f"exit code {code}, and {base} on the base"
    return CheckVerdict(config.name, "Skipped", "BaseFails", text)


def _measured(config: CompareConfig, tolerance: float) -> CheckVerdict:
    scale = outputs.MEASURES[config.output]
    try:
        before = scale.read(_output(config.base), config.root) if _code(config.base) == 0 else {}
    except NoListing:
        before = {}
    try:
        if before and scale.of_work is not None:
            after = scale.of_work(_output(config.head), _output(config.base), config.root)
        else:
            after = scale.read(_output(config.head), config.root)
    except NoListing as error:
        return _failed(config, f"what was measured cannot be told: {error}", "WorseThanBase")
    if not before:
        return CheckVerdict(
            config.name, "Skipped", "NoBaseline", "nothing was measured on the base"
        )
    found = measures.worse(scale, before, after, tolerance)
    if found:
        return _failed(config, f"{len(found)} worse:\n{findings.shown(found)}", "WorseThanBase")
    return CheckVerdict(config.name, "Passed", "", scale.told(before, after))


def _failed(config: CompareConfig, text: str, reason: str = "NewFindings") -> CheckVerdict:
    excerpt = sanitise.text(text, EXCERPT_CHARACTERS)
    return CheckVerdict(config.name, "Failed", reason, excerpt)


def _code(listing: Listing) -> int | None:
    """The linter's exit code; None: it did not come to an end."""
    said = _read(listing.code, 16)
    return int(said) if said is not None and said.strip().isdigit() else None


def _listed(config: CompareConfig, listing: Listing) -> Iterable[Finding]:
    return outputs.FINDINGS[config.output](_output(listing), config.root)


def _output(listing: Listing) -> bytes:
    output = _read(listing.findings, _OUTPUT_BYTES)
    if output is None or len(output) == _OUTPUT_BYTES:
        raise NoListing("the tool printed nothing, or too much")
    return output


def _read(file: str, most: int) -> bytes | None:
    path = Path(file)
    return nofollow.read_below(path.parent, path.name, most)


def _lines(listing: Listing) -> Line:
    """Reads the tree's lines; linters list their findings by file, so one file is held."""

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
