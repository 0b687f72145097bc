"""Which checks of a round have no verdict yet, for who waits for them.

No verdict is written alone, so that a round of many checks costs few writes. What is said here is
therefore as of a while ago: it is written where a round takes longer than most, and then once a
minute at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from bernstein.api.verification import CheckResult, Outstanding
from bernstein.checks.spec import CheckSpec
from bernstein.core.jobs import JobView
from bernstein.core.sanitise import line, some

FIRST_SECONDS = 20
"""From the first Job of the round on; most are over by then."""
AGAIN_SECONDS = 60
_TITLE = 80
_LONGEST = 300


def outstanding(
    before: Outstanding | None,
    jobs: Iterable[JobView],
    checks: Sequence[CheckSpec],
    results: Sequence[CheckResult | None],
    now: datetime,
) -> Outstanding | None:
    """What the status says of it from now on; `before`: what it says.

    `jobs`: those of the round. `results`: the verdict of each check, None where there is none.
    """
    began = min((job.created for job in jobs), default=now)
    due = (now - began).total_seconds() >= FIRST_SECONDS
    if before is not None:
        due = (now - before.told).total_seconds() >= AGAIN_SECONDS
    if not due:
        return before
    out = [spec.title for spec, result in zip(checks, results, strict=True) if result is None]
    text = line(some((line(title, _TITLE) for title in out), len(out)), _LONGEST)
    if before is not None and text == before.checks:
        return before
    return Outstanding(checks=text, told=now)
