"""Gate `lint_suppression`: the change adds no comment that silences a linter for a whole file.

Where the linter looks is ours to say, and its configuration is pinned. Such a comment is the way
that is left to hide a file. One that silences a single line stays in sight beside that line.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import islice

from bernstein.api.pod import Check
from bernstein.checks.added import added_lines
from bernstein.checks.gate import Gate
from bernstein.checks.reading import ChangedFile, CommitReader, Reads
from bernstein.checks.time_limit import time_limit
from bernstein.checks.verdict import Verdict, failed, passed

_PYTHON = re.compile(
    r"#\s*ruff\s*:\s*(?:noqa|disable|file-ignore)|#\s*flake8\s*[:=]\s*noqa|#\s*pylint\s*:\s*skip-file"
    # These two silence the rest of the file only where nothing else is on their line.
    r'|^[\s"]*#\s*(?:pylint\s*:\s*disable|mypy\s*:|pyright\s*:(?!\s*strict)|type\s*:\s*ignore)',
    re.IGNORECASE,
)
_SCRIPT = re.compile(
    r"/\*\s*eslint(?:-disable(?!-)|\s)|[/*]\s*@ts-nocheck|tslint:disable(?!-)|oxlint-disable(?!-)"
    r"|biome-ignore-(?:all|start)|deno-lint-ignore-file|stylelint-disable(?!-)"
)
_RUST = re.compile(r"#!\[(?:allow|expect)\(")

_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi", ".pyw", ".ipynb"), _PYTHON),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), _SCRIPT),
    **dict.fromkeys((".vue", ".svelte", ".astro", ".css", ".scss", ".less"), _SCRIPT),
    ".rs": _RUST,
}
_SHOWN = 20


def scan(commit: CommitReader, _check: Check) -> Verdict:
    """Failed with places and words of what was added. Raises TimeoutError."""
    with time_limit(commit.scan_seconds):
        found = (place for file in commit.changed_files() for place in _added(file))
        shown = list(islice(found, _SHOWN))
    if not shown:
        return passed()
    hint = "mend what the linter finds, or silence single lines and say why"
    return failed("SuppressionAdded", "\n".join([*shown, hint]))


def _added(file: ChangedFile) -> Iterator[str]:
    silences = _BY_SUFFIX.get(posixpath.splitext(file.path)[1].lower())
    if silences is None:
        return
    for number, line in added_lines(file.before, file.after):
        match = silences.search(line.decode("utf-8", "replace"))
        if match:
            yield f"{file.path}:{number} {' '.join(match[0].split())[:60]}"


GATE = Gate(name="lint_suppression", condition="any_changed", default_on=True, runs=Reads(scan))
