"""What `bernstein.checks.tools.mutants` prints: how many faults that it put into code the tests
notice. It is judged by a share that they have to notice, not by what they did before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bernstein.api.reasons import Reason, VerdictReason
from bernstein.checks.findings import Finding, NoListing, one_line, shown
from bernstein.checks.outputs.document import document, report_of
from bernstein.checks.tools.mutants import LEAST, MOST

_BEFORE = "on the commit before this work"
_UNKNOWN = -1
_MORE_TIME = "give the gate more timeoutSeconds"


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the faults in one tree, or why there were none."""

    noticed: int = 0
    survived: tuple[Finding, ...] = ()
    left: int = 0
    """There was no time for so many."""
    fails: int | None = None
    """Exit code of the tests without any fault."""
    late: bool = False
    """The tests were not done in time."""
    slow: bool = False
    """They take too long to be run often enough."""
    nothing: bool = False
    """They run no code of the repository."""
    much: bool = False
    """The change is too large to be told."""

    @property
    def is_unusable(self) -> bool:
        """Whether its tests cannot show anything."""
        return self.fails is not None or self.late or self.slow


def report(output: bytes) -> Report:
    """Raises NoListing."""
    told = document(output)
    with report_of("the program that puts faults into code"):
        each = [_fault(one) for one in told.get("faults", ())]
        survived = tuple(fault for fault, is_noticed in each if not is_noticed)
        fails = told.get("fails")
        found = Report(
            noticed=len(each) - len(survived),
            survived=survived,
            left=int(told.get("left", 0)),
            fails=None if fails is None else int(fails),
            **{word: told.get(word) is True for word in ("late", "slow", "nothing", "much")},
        )
    if len(each) > 2 * MOST or found.left < 0:
        raise NoListing("it tells of more faults than there can be")
    return found


def _fault(told: Mapping[str, Any]) -> tuple[Finding, bool]:
    what = one_line(told["what"])
    return Finding(str(told["path"]), int(told["line"]), what, ""), told["end"] == "noticed"


def judged(work: Report, base: Report | None, least: float) -> tuple[str, str, str]:
    """Verdict, reason and what is told. `base`: None where it has no report; `least`: the share of
    faults that the tests have to notice, from 0 to 1. Skipped for its time is what the base is to
    blame for, and which excuses nothing."""
    before = base or Report(fails=_UNKNOWN)
    if work.much:
        return "Failed", VerdictReason.TESTS_TOO_WEAK, "too many lines are new"
    if work.nothing:
        text = "the changed tests run no function of this repository"
        return "Failed", VerdictReason.TESTS_TOO_WEAK, text
    if work.is_unusable or (work.left and _tried(work) < LEAST):
        if before.is_unusable:
            reason = Reason.TIMEOUT if before.fails is None else VerdictReason.BASE_FAILS
            return "Skipped", reason, f"{_BEFORE} {_why(before)}"
        verdict = "Failed" if work.fails is not None else "TimedOut"
        reason = Reason.TIMEOUT if work.fails is None else VerdictReason.EXIT_CODE
        return verdict, reason, f"{_why(work)}; they do not {_BEFORE}"
    if not _tried(work):
        return "Passed", "", "nothing that has changed can hold a fault"
    share = work.noticed / _tried(work)
    text = f"{work.noticed} of {_tried(work)} faults are noticed"
    text += f" ({work.left} more were not tried: {_MORE_TIME})" if work.left else ""
    if share >= least:
        return "Passed", "", text
    text += f", which is less than {least:g}. Not noticed:\n{shown(work.survived)}"
    return "Failed", VerdictReason.TESTS_TOO_WEAK, text


def _tried(report: Report) -> int:
    return report.noticed + len(report.survived)


def _why(report: Report) -> str:
    if report.fails == _UNKNOWN:
        return "nothing is told of the tests"
    if report.fails is not None:
        return f"the tests end with exit code {report.fails}"
    return f"the tests take too long to be run with faults: {_MORE_TIME}"
