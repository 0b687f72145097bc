"""Which checks do not let a tree on, in words that anybody may read.

Only names that the Project, the step and the program give: what checks printed stays out.
"""

from __future__ import annotations

import re

from bernstein.api.verification import CheckResult, Verification
from bernstein.core.sanitise import count, line

SHOWN = 8
_TITLE = 80
"""Characters of what a signal asks: its index alone tells nobody anything."""
_GOOD = ("Passed", "Skipped", "Bypassed")
_WORD = re.compile(r"[A-Z][A-Za-z0-9]{0,63}\Z")


def named(judged: Verification | None) -> str:
    """Such as `lint Failed (ExitCode), signal-1 TimedOut`; "" where none is known.

    Required checks alone, where there are any: the others keep nothing back.
    """
    bad = [check for check in judged.checks if check.verdict not in _GOOD] if judged else []
    bad = [check for check in bad if check.required] or bad
    told = ", ".join(map(_one, bad[:SHOWN]))
    rest = len(bad) - SHOWN
    return f"{told} and {count(rest, 'more check')}" if rest > 0 else told


def _one(check: CheckResult) -> str:
    reason = f" ({check.reason})" if _WORD.match(check.reason) else ""
    asks = line(check.title, _TITLE) if check.kind == "signal" else ""
    return f"{check.name}{f' ({asks})' if asks else ''} {check.verdict}{reason}"
