"""Program `compare`: what does the linter find in the work that it does not find in its base?"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from bernstein.api.pod import (
    EXCERPT_CHARACTERS,
    TERMINATION_LIMIT,
    CheckVerdict,
    CompareConfig,
    InspectResult,
    Listing,
)
from bernstein.checks import findings
from bernstein.checks.findings import Finding, Line, NoListing
from bernstein.core import sanitise
from bernstein.pods import log, nofollow
from bernstein.pods.programs.inspect import fit

CONFIG = CompareConfig

_FILE_BYTES = 20_000_000
_OUTPUT_BYTES = 200_000_000


def run(config: CompareConfig) -> CheckVerdict:
    """Passed without new findings, else Failed with them; Skipped where the base has no list."""
    verdict = _compare(config)
    log.event("compared", check=config.name, verdict=verdict.verdict, reason=verdict.reason)
    return fit(InspectResult((verdict,)), TERMINATION_LIMIT).verdicts[0]


def _compare(config: CompareConfig) -> CheckVerdict:
    if _code(config.base) != 0:
        return CheckVerdict(config.name, "Skipped", "BaseFails")
    try:
        before = list(_listed(config.base, config.root))
        after = list(_listed(config.head, config.root))
        found = findings.new(before, _lines(config.base), after, _lines(config.head))
    except NoListing as error:
        return _failed(config, f"what is new cannot be told: {error}")
    if _code(config.head) != 0:
        return _failed(config, "the linter ends with an error, which it does not on the base")
    if not after:
        return _failed(config, "the linter fails, and lists nothing")
    if found:
        return _failed(config, f"{len(found)} new:\n{findings.shown(found)}")
    return CheckVerdict(config.name, "Passed", "", f"{len(after)} findings were there before")


def _failed(config: CompareConfig, text: str) -> CheckVerdict:
    excerpt = sanitise.text(text, EXCERPT_CHARACTERS)
    return CheckVerdict(config.name, "Failed", "NewFindings", excerpt)


def _code(listing: Listing) -> int | None:
    """The linter's exit code; None: it did not come to an end."""
    said = _read(listing.code, 16)
    return int(said) if said is not None and said.strip().isdigit() else None


def _listed(listing: Listing, root: str) -> Iterator[Finding]:
    output = _read(listing.findings, _OUTPUT_BYTES)
    if output is None or len(output) == _OUTPUT_BYTES:
        raise NoListing("the linter printed nothing, or too much")
    return findings.listed(output.split(b"\n"), root)


def _read(file: str, most: int) -> bytes | None:
    path = Path(file)
    return nofollow.read_below(path.parent, path.name, most)


def _lines(listing: Listing) -> Line:
    """Reads the tree's lines; linters list their findings by file, so one file is held."""

    @functools.lru_cache(maxsize=1)
    def of_file(path: str) -> list[bytes]:
        content = nofollow.read_below(Path(listing.tree), path, _FILE_BYTES) or b""
        return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")

    def line(path: str, number: int) -> bytes:
        lines = of_file(path)
        return lines[number - 1] if 0 < number <= len(lines) else b""

    return line
