"""What the verdicts of one tree mean together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.task import LONGEST_FEEDBACK
from bernstein.api.verification import CheckResult, Verification
from bernstein.checks.rules import collected_tests, cross_model, file_scope, protect_tests
from bernstein.checks.spec import DIGEST, CheckSpec
from bernstein.core.sanitise import cut, line, some, without_middle
from bernstein.core.verification.words import LEFT_TO_A_PERSON

_LET_ON = (VerdictReason.CONDITION_NOT_MET, VerdictReason.NO_BASELINE, *LEFT_TO_A_PERSON)
"""Why a check may be skipped without keeping anything back; what is left to a person asks him."""
_TITLE = 80
"""Characters of a title, where several are named."""
_MOST_IN_SHORT = 3
_OF_KIND = {"signal": "Completion signal", "gate": "Quality gate"}
_OF_RULES = {
    file_scope.NAME: Reason.SCOPE_VIOLATION,
    protect_tests.NAME: Reason.TESTS_WEAKENED,
    collected_tests.NAME: Reason.TESTS_WEAKENED,
}
_OF_FIELDS = _OF_RULES | {cross_model.NAME: Reason.REVIEW_REJECTED}
"""What the fields of a Project ask for that are no gates of its pipeline."""


def unanswered(verification: Verification, expected: Iterable[CheckSpec]) -> list[CheckSpec]:
    """Expected checks without a verdict on exactly their question."""
    judged = {(result.name, result.asked) for result in verification.checks}
    return [check for check in expected if (check.name, check.digest) not in judged]


def digest_of_checks(checks: Iterable[CheckSpec]) -> str:
    """Names what judges, each check with its settings, in whatever order: `policy` in a status."""
    text = json.dumps(sorted([check.digest, check.timeout] for check in checks))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


def passed(results: Iterable[CheckResult]) -> bool:
    """Every required check Passed, was Bypassed, or was Skipped for a reason that excuses it."""
    return all(satisfies(r) for r in results if r.required)


def satisfies(result: CheckResult) -> bool:
    """Whether work may go on with this verdict, if the check is required."""
    if result.verdict == "Skipped":
        return result.reason in _LET_ON or is_excused(result)
    return result.verdict == "Passed" or is_bypassed(result)


def is_bypassed(result: CheckResult) -> bool:
    """Whether a person has let this go on without it; the word alone may be anybody's."""
    return result.verdict == "Bypassed" and result.kind == "gate" and result.bypass is not None


def may_be_bypassed(result: CheckResult) -> bool:
    """Whether a person may let work go on without it: a gate of the Project's, no rule of it."""
    return result.kind == "gate" and result.name not in _OF_RULES


def is_excused(result: CheckResult) -> bool:
    """Whether the base fails the same check, and the Project lets work on all the same."""
    return result.reason == VerdictReason.BASE_FAILS and result.excused is True


def base_failures(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Required checks that fail on the base, too, where that excuses nothing."""
    failing = (r for r in results if r.required and r.reason == VerdictReason.BASE_FAILS)
    return [result for result in failing if not is_excused(result)]


def rejected(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Required checks that could judge, and said no."""
    return [r for r in results if r.required and r.verdict in ("Failed", "TimedOut")]


def reason(results: Iterable[CheckResult]) -> Reason:
    """SignalFailed where a signal is among those that said no, else GateFailed where a gate is,
    else that of the rule or the review."""
    said_no = rejected(results)
    if any(r.kind == "signal" for r in said_no):
        return Reason.SIGNAL_FAILED
    of_fields = [_OF_FIELDS.get(r.name) for r in said_no]
    return (all(of_fields) and next(iter(of_fields), None)) or Reason.GATE_FAILED


def without(results: Iterable[CheckResult]) -> str:
    """Which gates it goes on without, and who has decided so, in words; "": it has them all."""
    told = (f"{r.name} by {r.bypass.by}" for r in results if r.bypass and is_bypassed(r))
    return ", ".join(told)


def which(results: Iterable[CheckResult]) -> str:
    """The checks that said no, in words."""
    return ", ".join(f"{r.title} ({r.verdict})" for r in rejected(results))


def ran_out_of_memory(results: Iterable[CheckResult]) -> bool:
    return any(result.reason == VerdictReason.OUT_OF_MEMORY for result in results)


def errored(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Required checks that could not judge."""
    return [r for r in results if r.required and r.verdict == "Errored"]


def digest(base: str, sha: str, tree: str, results: Iterable[CheckResult]) -> str:
    """Names exactly what was judged and how, for may_merge and for approvals."""
    judged = [[r.name, r.kind, r.required, r.verdict, r.reason] for r in results]
    text = json.dumps([base, sha, tree, sorted(judged)], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def feedback(results: Iterable[CheckResult], limit: int = LONGEST_FEEDBACK) -> str:
    """What the next attempt is told about the verdicts that rejected this one, and what models
    advise. The first line names each that said no, or the first of them: it alone is told where
    there is no room for more."""
    results = tuple(results)
    said_no = rejected(results)
    told = [*_several(said_no), *map(_told, said_no)]
    return with_advice("\n\n".join(told), results, limit)


def _several(said_no: list[CheckResult]) -> list[str]:
    """Their names on one line; none of a single one, which its own words begin with."""
    if len(said_no) < 2:
        return []
    named = some((f"'{line(r.title, _TITLE)}'" for r in said_no), len(said_no))
    return [f"{len(said_no)} checks have said no: {named}"]


def with_advice(text: str, results: Iterable[CheckResult], limit: int = LONGEST_FEEDBACK) -> str:
    """What the next attempt is told, and behind that what models have found that kept nothing back:
    what is there to be mended is mended with the rest."""
    advised = [_told(r, ", which keeps nothing back") for r in results if _is_advice(r)]
    return cut("\n\n".join(filter(None, (text, *advised))), limit)


def in_short(results: Iterable[CheckResult], limit: int) -> str:
    """How the attempt ended that these verdicts rejected, in few characters: of each of the first
    that said no how what it printed ends, for there the cause stands; of models how they begin, and
    what they advise, as far as there is room behind that."""
    results = tuple(results)
    said_no = rejected(results)
    told = _several(said_no)
    shown = said_no[:_MOST_IN_SHORT]
    room = limit - sum(len(each) + 2 for each in told)
    share = room // max(1, len(shown)) - 2
    text = "\n\n".join([*told, *(_in_short(each, share) for each in shown)])
    return with_advice(text, results, limit)


def _in_short(result: CheckResult, limit: int) -> str:
    told = _told(result)
    return cut(told, limit) if result.by_model else without_middle(told, limit)


def _is_advice(result: CheckResult) -> bool:
    is_told = result.verdict == "Failed" and not result.required
    return result.by_model is True and (is_told or result.reason == VerdictReason.PARTLY_MET)


def _told(result: CheckResult, more: str = "") -> str:
    what = _OF_KIND[result.kind] if result.name not in _OF_RULES else "Rule"
    what = "Review" if result.name == cross_model.NAME else what
    return f"{what} '{result.title}' {result.verdict}{more}:\n{result.excerpt}".rstrip()
