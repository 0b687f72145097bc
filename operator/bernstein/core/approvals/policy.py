"""Whether a person must be asked: the stricter of what a Project and a Plan say.

It is worked out from what is now: a policy that has become stricter asks about what has not landed
yet, and one that asks no more lets on what waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import cast

from bernstein.api.approvals.policy import PLANS, RESULTS, ApprovalPolicy
from bernstein.api.plan import Estimate, Plan, PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.reasons import VerdictReason
from bernstein.api.task import Task
from bernstein.api.verification import CheckResult, Verification
from bernstein.checks.changes import digest_of
from bernstein.checks.rules import collected_tests, file_scope
from bernstein.checks.weakening.collected_tests import TOO_LONG, in_short
from bernstein.core.sanitise import line, some
from bernstein.core.verification.models import ONCE_MORE
from bernstein.core.verification.words import is_left_to_a_person

_NONE = digest_of(())
"""Of a Project that protects no path."""
MISSING_AUTHOR = "the approver may not be the author, so spec.author must say who that is"


def effective(project: ProjectSpec, plan: PlanSpec | None) -> ApprovalPolicy:
    """The stricter of both, field by field."""
    asked = plan.approval if plan is not None else None
    return project.approval if asked is None else stricter(project.approval, asked)


def stricter(first: ApprovalPolicy, second: ApprovalPolicy) -> ApprovalPolicy:
    """Of each field what asks for more; of a base that moved what `first` says, unless the other
    one asks."""
    both = (first, second)
    which = max((each.plan for each in both), key=PLANS.index)
    expiries = [e.expires_after_seconds for e in both if e.expires_after_seconds is not None]
    return ApprovalPolicy(
        plan=which,
        above_usd=_lowest(both) if which == "AboveCost" else None,
        result=max((each.result for each in both), key=RESULTS.index),
        expires_after_seconds=min(expiries, default=None),
        approver_is_not_author=any(each.approver_is_not_author for each in both),
        moved_base=_moved_base(first, second),
    )


def _lowest(policies: Iterable[ApprovalPolicy]) -> str | None:
    figures = [each.above_usd for each in policies if each.above_usd is not None]
    return min(figures, key=Decimal, default=None)


def _moved_base(project: ApprovalPolicy, plan: ApprovalPolicy) -> str | None:
    return "Ask" if plan.moved_base == "Ask" else project.moved_base


def tightened(was: ApprovalPolicy, said: ApprovalPolicy) -> dict[str, object]:
    """The fields that `said` names and in which it is the stricter one, with their new values: what
    may change of the policy of a Plan that is there."""
    changes = {
        field: getattr(said, field)
        for field in said.model_fields_set
        if _is_stricter(field, getattr(was, field), getattr(said, field))
    }
    if "plan" in changes:
        changes["above_usd"] = said.above_usd
    return changes


def _is_stricter(field: str, was: object, said: object) -> bool:
    """Whether it asks people for more; `was` may be replaced by it then."""
    if was == said or said is None:
        return False
    if field == "expires_after_seconds":
        return was is None or cast("int", said) < cast("int", was)
    if field == "above_usd":
        return was is not None and Decimal(cast("str", said)) < Decimal(cast("str", was))
    if field == "moved_base":
        return was != "Ask"
    words: tuple[object, ...] = {"plan": PLANS, "result": RESULTS}.get(field, (False, True))
    return words.index(said) > words.index(was)


_OF_SEVERAL = 50
"""Characters of a path where several are named: together they have to fit one reason."""


def lacks_author(policy: ApprovalPolicy, author: str | None) -> bool:
    """Whether nobody knows who may not decide.

    Whatever else the policy says: people are asked about protected paths, about what a model has
    judged and about gates, too, and by then the work is paid for.
    """
    return policy.approver_is_not_author and author is None


def why_plan(
    policy: ApprovalPolicy, estimate: Estimate | None, written_by: str | None = None
) -> tuple[str, ...]:
    """Why a person must say yes before the Plan begins; empty: nobody must. `written_by`: the Task
    whose agent wrote it."""
    if policy.plan == "Always" and written_by is not None:
        return (f"an agent wrote it, that of Task '{written_by}'",)
    if policy.plan == "Always":
        return ("every Plan is asked about",)
    if policy.plan == "Never" or policy.above_usd is None:
        return ()
    cost = estimate.cost_usd if estimate is not None else None
    if cost is None:
        return ("what it may cost is not known",)
    if Decimal(cost) > Decimal(policy.above_usd):
        return (f"its estimate, ${cost}, is above ${policy.above_usd}",)
    return ()


def why_result(
    policy: ApprovalPolicy, task: Task, judged: Verification, protected: str
) -> tuple[str, ...]:
    """Why a person must say yes before this lands; empty: nobody must. `protected`: the digest of
    the Project's protected paths.

    What changes nothing lands nothing. A change of a protected path is asked about whatever the
    policy says: it is what runs, or steers, where no check of ours is.
    """
    return why_whole(policy, (task,), judged, protected)


def why_whole(
    policy: ApprovalPolicy, tasks: Iterable[Task], judged: Verification, protected: str
) -> tuple[str, ...]:
    """The same of the work of all these. What it changes is asked about whatever Tasks there are:
    also where there is none."""
    if judged.sha == judged.base:
        return ()
    if policy.result == "Never":
        return _of_protected_paths(judged, protected)
    risks = _risks(tasks, judged, protected)
    if policy.result == "Always":
        return ("all work is asked about", *risks)
    return risks


def _of_task(task: Task) -> Iterator[str]:
    if task.spec.role == "security":
        yield "its role is security"
    if task.spec.complexity == "high":
        yield "its complexity is high"


def _risks(tasks: Iterable[Task], judged: Verification, protected: str) -> tuple[str, ...]:
    risks = list(dict.fromkeys(why for task in tasks for why in _of_task(task)))
    risks += _of_protected_paths(judged, protected)
    if judged.protected_by is None:
        # Nothing was compared, with this list or another one, as where a program's message is lost.
        risks.append(
            "it is not known whether it weakens tests, or changes files that configure checks"
        )
    if judged.tests_weakened:
        named = _named(judged.tests_weakened)
        risks.append(f"it takes lines from a test that existed, or weakens it: {named}")
    risks += map(_lost, _not_collected(judged))
    if judged.checks_configured:
        named = _named(judged.checks_configured)
        risks.append(f"it changes a file that configures checks: {named}")
    return (*risks, *_of_files(judged))


def _of_protected_paths(judged: Verification, protected: str) -> tuple[str, ...]:
    """What was compared with another list, or with none, may change one; where none is protected
    nothing does."""
    if protected == _NONE:
        return ()
    if judged.protected_by != protected:
        return ("it is not known whether it changes protected paths",)
    if judged.protected:
        return (_changes_protected(judged),)
    return ()


def _changes_protected(judged: Verification) -> str:
    """With as many names as there is room for, and how many others there are."""
    paths = [judged.protected or "", *(judged.protected_more or ())]
    count = judged.protected_files or len(paths)
    if count == 1:
        return f"it changes a protected path: {_named(paths[0])}"
    named = ", ".join(_named(path, _OF_SEVERAL) for path in paths)
    others = f" and {count - len(paths)} more" if count > len(paths) else ""
    return f"it changes {count} protected paths: {named}{others}"


def _not_collected(judged: Verification) -> list[CheckResult]:
    rule = (r for r in judged.checks if r.name == collected_tests.NAME)
    return [r for r in rule if r.verdict in ("Failed", "TimedOut")]


def _lost(result: CheckResult) -> str:
    found = in_short(result.excerpt)
    if result.excerpt.startswith(TOO_LONG):
        return TOO_LONG
    if found is None:
        return "its tests cannot be listed any more"
    number, first = found
    return f"tests that were there are not collected any more: {number}, such as {_named(first)}"


def _of_files(judged: Verification) -> Iterator[str]:
    """The first file that is not the Task's to change, or not so, by the verdict on that."""
    for result in (r for r in judged.checks if r.name == file_scope.NAME):
        first = result.excerpt.partition("\n")[0]
        path = first.removesuffix(file_scope.ONLY_ADDING)
        if result.reason == file_scope.TOO_LARGE:
            yield "it is not known whether it only adds to files that are append-only"
        elif result.reason == file_scope.OUTSIDE and path != first:
            yield f"it does more than add to a file that is append-only: {_named(path)}"
        elif result.reason == file_scope.OUTSIDE:
            yield f"it changes a file that its step does not declare: {_named(path)}"


def _named(path: str, most: int = 100) -> str:
    """An agent has chosen it: between quotes nobody takes it for our words."""
    return f"'{line(path, most)}'"


def why_models(judged: Verification) -> tuple[str, ...]:
    """Why a person must say yes to what models have judged, whatever the policies say; empty:
    nobody must.

    A model may keep work back. Its yes alone lets nothing on: beside it some signal must hold that
    no model answers.
    """
    required = [r for r in judged.checks if r.required]
    left = [r for r in required if is_left_to_a_person(r)]
    why = []
    for reason, text in _OF_MODELS.items():
        of_it = [r.title for r in left if r.reason == reason]
        if of_it:
            named = some((line(title, 60) for title in of_it), len(of_it))
            why.append(line(f"{text}: {named}", 300))
    signals = [r for r in required if r.kind == "signal"]
    shown = any(r.verdict == "Passed" and not r.by_model for r in signals)
    if any(r.by_model for r in signals) and not shown:
        why.append("no signal but those of models says that it is done")
    return tuple(why)


_OF_MODELS = {
    VerdictReason.UNSURE: "a model could not tell for sure",
    VerdictReason.JUDGE_RETRY: ONCE_MORE,
}
"""Why a person decides in a model's place, by the reason of its verdict."""


def author_of(task: Task, plan: Plan | None) -> str | None:
    """Who asked for the work: the author of its Plan, or of the Task without one."""
    return plan.spec.author if plan is not None else task.spec.author
