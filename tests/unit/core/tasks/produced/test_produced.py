"""A Plan out of the plan file that the agent of a Task has left."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession, KeptDocument
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import labels
from bernstein.core.actions import CreatePlan, TaskDecision
from bernstein.core.documents import PLAN, handed
from bernstein.core.documents.canonical import canonical
from bernstein.core.scheduling import chain
from bernstein.core.sessions import documents
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import produced
from bernstein.core.verification.expected.task import specs_of
from tests.unit.core import objects
from tests.unit.core.objects import BASE, project, snapshot, stalled_for, with_session
from tests.unit.core.tasks.decisions import decide

Object = dict[str, Any]
STEP: Object = {"title": "Limit requests", "role": "backend", "files": ["api.py"]}
LEFT: Object = {"name": "Rate limits", "stages": [{"name": "build", "steps": [STEP]}]}


def goal(status: TaskStatus | None = None, asked: Object | None = None, **spec: Any) -> Task:
    fields: Object = {"role": "manager", "changes": "none", "author": "ann", "maxRetries": 1}
    produces = {"plan": asked or {}}
    found = status or with_session(TaskState.IN_PROGRESS)
    return objects.task(plan=None, status=found, **(fields | {"produces": produces} | spec))


def ended(*left: KeptDocument) -> AgentSession:
    """Its session, which has ended well, and left these."""
    found = objects.dead(work=objects.work(BASE), no_change=True)
    status = found.status.model_copy(update={"documents": left})
    return found.model_copy(update={"status": status})


def kept(document: bytes) -> KeptDocument:
    return KeptDocument(name=PLAN.name, bytes=len(document), sha256=handed.digest(document))


def seen(subject: Task, left: Object | bytes | None = LEFT, **more: Any) -> TaskSnapshot:
    """The Task whose session left this plan file."""
    document = left if isinstance(left, bytes) else json.dumps(left).encode()
    sessions = (ended(*() if left is None else (kept(document),)),)
    file = None if left is None else document
    return snapshot(subject, sessions=sessions, **({"plan_file": file} | more))


def to_the_end(subject: Task, left: Object | bytes | None = LEFT, **more: Any) -> TaskDecision:
    """The decision that closes it, or fails its attempt."""
    decision = decide(seen(subject, left, **more))
    while decision.status.state is TaskState.DONE:
        later = subject.model_copy(update={"status": decision.status})
        decision = decide(seen(later, left, **more))
        assert decision.status != later.status
    return decision


def made(left: Object, asked: Object | None = None, **spec: Any) -> Plan:
    """The Plan of this plan file."""
    decision = to_the_end(goal(asked=asked, **spec), left)
    (action,) = decision.actions
    assert isinstance(action, CreatePlan)
    plan = Plan.model_validate(action.plan | {"metadata": objects.metadata("p", "uid-p")})
    assert decision.status.produced is not None
    assert decision.status.produced.plan == action.plan["metadata"]["name"]
    return plan


def problems(left: Object | bytes | None, **spec: Any) -> str:
    """What the next attempt is told of this plan file."""
    found = to_the_end(goal(**spec), left).status
    assert found.state is TaskState.FAILED
    assert found.attempts[-1].reason == "PlanFileInvalid"
    assert found.feedback is not None
    return found.feedback


def test_a_valid_plan_file_becomes_a_plan_that_waits_for_people_once_the_task_is_closed() -> None:
    decision = to_the_end(goal(), LEFT)

    (action,) = decision.actions
    assert isinstance(action, CreatePlan)
    assert decision.status.state is TaskState.CLOSED
    meta, spec = action.plan["metadata"], action.plan["spec"]
    assert meta["name"] == decision.status.produced.plan  # type: ignore[union-attr]
    assert meta["name"].startswith("rate-limits-")
    assert meta["labels"] == {labels.MANAGED_BY: labels.MANAGER, labels.TASK: "work"}
    assert "ownerReferences" not in meta
    assert spec["approval"]["plan"] == "Always"
    assert (spec["author"], spec["projectRef"]) == ("ann", "default")


def test_the_same_file_makes_the_same_object_whoever_is_asked() -> None:
    assert to_the_end(goal(), LEFT).actions == to_the_end(goal(), LEFT).actions


def test_plans_of_the_same_name_of_two_tasks_have_names_of_their_own() -> None:
    other = goal().model_copy(
        update={"metadata": goal().metadata.model_copy(update={"uid": "another"})}
    )
    names = {
        produced.plan_object(task, task.status, LEFT)["metadata"]["name"]
        for task in (goal(), other)
    }

    assert len(names) == 2


def test_a_closed_task_makes_no_plan_any_more() -> None:
    closed = goal(to_the_end(goal(), LEFT).status)

    assert decide(seen(closed)).actions == ()
    assert produced.awaited(seen(closed)) is None


@pytest.mark.parametrize(
    ("state", "left", "reads"),
    [
        (TaskState.IN_PROGRESS, LEFT, True),
        (TaskState.DONE, LEFT, True),
        (TaskState.OPEN, LEFT, False),
        (TaskState.IN_PROGRESS, None, False),
    ],
)
def test_the_file_is_read_only_where_the_next_decision_needs_it(
    state: TaskState, left: Object | None, reads: bool
) -> None:
    found = produced.awaited(seen(goal(with_session(state)), left))

    assert (found is not None) is reads


def test_of_a_task_that_produces_nothing_no_file_is_read_and_none_is_missing() -> None:
    other = goal(produces=None)

    assert produced.awaited(seen(other)) is None
    assert decide(seen(other, None)).status.state is TaskState.DONE


# --- what is refused ------------------------------------------------------------------------------


def test_without_a_plan_file_the_attempt_is_rejected() -> None:
    assert "left no plan file .bernstein/plan.yaml" in problems(None)


def test_all_problems_are_told_to_the_next_attempt_at_once() -> None:
    wrong = {
        "name": "x",
        "stages": [
            {"name": "a", "depends_on": ["b"], "steps": [{"role": "wizard", "model": "gpt-0"}]}
        ],
    }

    told = problems(wrong)

    for each in ("title", "invalid value 'wizard'", "gpt-0", "unknown stage 'b'"):
        assert each in told, told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"max_agents": 999}, "max_agents"),
        ({"project_ref": "other"}, "project_ref"),
        ({"author": "eve"}, "author"),
        ({"suspend": False}, "suspend"),
        ({"repos": [{"path": "https://git.example/other.git"}]}, "repos[0].path"),
        ({"workflow": {}}, "workflow"),
        ({"cli": "nobody"}, "cli"),
        ({"merge": "direct"}, "merge"),
        ({"budget": -1}, "budget"),
        ({"approval": {"plan": "Sometimes"}}, "approval.plan"),
    ],
)
def test_what_a_plan_may_not_say_is_refused(change: Object, told: str) -> None:
    assert told in problems(LEFT | change)


@pytest.mark.parametrize(
    "left", [b"[]", b"null", b'"text"', b"{", b"\xff", b'{"name": 1e999}', b"[" * 5000]
)
def test_what_is_no_plan_at_all_is_refused(left: bytes) -> None:
    assert "PlanFileInvalid" in problems(left)


def test_who_has_no_retry_left_needs_a_person_who_reads_all_problems() -> None:
    found = to_the_end(goal(maxRetries=0), LEFT | {"max_agents": 999}).status

    assert (found.state, stalled_for(found.conditions)) == (TaskState.FAILED, "PlanFileInvalid")
    assert "max_agents" in (found.feedback or "")


def test_one_retry_is_told_and_then_it_is_over() -> None:
    first = to_the_end(goal(), LEFT | {"max_agents": 999}).status
    again = first.model_copy(update={"state": TaskState.IN_PROGRESS})
    second = to_the_end(goal(again), LEFT | {"max_agents": 999}).status

    assert stalled_for(first.conditions) is None
    assert stalled_for(second.conditions) == "PlanFileInvalid"
    assert second.attempt == 2


def test_a_file_that_is_lost_costs_no_attempt() -> None:
    found = decide(seen(goal(), LEFT, plan_file=None)).status

    assert (found.state, found.attempt) == (TaskState.OPEN, 0)
    assert found.attempts[-1].reason == "PodLost"


def test_a_file_that_is_lost_after_it_was_judged_fails_the_attempt() -> None:
    judged = decide(seen(goal())).status
    assert judged.state is TaskState.DONE

    found = decide(seen(goal(judged), LEFT, plan_file=None))

    assert found.status.state is TaskState.FAILED
    assert found.actions == ()
    assert "lost" in (found.status.feedback or "")


def test_changes_beside_the_plan_file_are_refused() -> None:
    changed = objects.dead(work=objects.work())
    left = changed.status.model_copy(update={"documents": ended(kept(b"{}")).status.documents})
    session = changed.model_copy(update={"status": left})

    found = decide(snapshot(goal(), sessions=(session,), plan_file=b"{}")).status

    assert found.attempts[-1].reason == "UnexpectedChanges"


# --- what the file says, and what the Task says ---------------------------------------------------


@pytest.mark.parametrize(
    ("said", "asked", "counts"),
    [
        (None, None, None),
        ("10", None, "10"),
        (None, "5", "5"),
        ("10", "5", "5"),
        (4, "5", "4"),
        ("4.50", "4.5", "4.5"),
    ],
)
def test_of_two_budgets_the_smaller_one_counts(
    said: object, asked: str | None, counts: str | None
) -> None:
    left = LEFT if said is None else LEFT | {"budget": said}

    assert made(left, {"budget": asked} if asked else {}).spec.budget == counts


@pytest.mark.parametrize(
    ("said", "asked", "counts"),
    [(None, None, None), (2, None, 2), (None, 3, 3), (2, 3, 2), (3, 2, 2)],
)
def test_of_two_numbers_of_agents_the_smaller_one_counts(
    said: int | None, asked: int | None, counts: int | None
) -> None:
    left = LEFT if said is None else LEFT | {"max_agents": said}

    assert made(left, {"maxAgents": asked} if asked else {}).spec.max_agents == counts


@pytest.mark.parametrize(
    ("said", "asked", "counts"),
    [
        ({"plan": "Never"}, None, ("Always", "Never", None)),
        ({"plan": "AboveCost", "above_usd": 500}, None, ("Always", "Never", None)),
        ({"result": "Never"}, {"result": "Always"}, ("Always", "Always", None)),
        ({"result": "Always"}, {"result": "HighRisk"}, ("Always", "Always", None)),
        ({"moved_base": "Keep"}, None, ("Always", "Never", None)),
        ({"moved_base": "Keep"}, {"movedBase": "Ask"}, ("Always", "Never", "Ask")),
    ],
)
def test_of_two_policies_of_approval_the_stricter_one_counts(
    said: Object, asked: Object | None, counts: tuple[str, str, str | None]
) -> None:
    policy = made(LEFT | {"approval": said}, {"approval": asked} if asked else {}).spec.approval

    assert isinstance(policy, ApprovalPolicy)
    assert (policy.plan, policy.result, policy.moved_base) == counts
    assert policy.above_usd is None


def test_a_pull_request_that_the_task_asks_for_needs_a_forge_as_one_of_the_file_does() -> None:
    told = problems(LEFT, produces={"plan": {"merge": "pr"}})

    assert "merge: pr: the Project's repository has no 'forge'" in told
    assert made(LEFT).spec.merge is None


def test_the_name_that_the_task_gives_is_that_of_the_object() -> None:
    (action,) = to_the_end(goal(asked={"name": "limits"}), LEFT).actions

    assert isinstance(action, CreatePlan)
    assert action.plan["metadata"]["name"] == "limits"


def test_the_model_of_a_step_stays_as_it_is_written() -> None:
    left = LEFT | {"stages": [{"name": "a", "steps": [STEP | {"model": "haiku"}]}]}

    assert made(left).spec.stages[0].steps[0].model == "haiku"


def test_a_plan_works_in_the_repository_of_its_task_unless_it_names_others() -> None:
    asked = goal(repo="https://git.example/app.git")

    assert [r.path for r in _made_by(asked, LEFT).repos] == ["https://git.example/app.git"]
    named = LEFT | {"repos": [{"path": "app"}]}
    assert [r.path for r in _made_by(asked, named).repos] == ["app"]
    assert _made_by(goal(), LEFT).repos == ()


def _made_by(task: Task, left: Object) -> Any:
    (action,) = to_the_end(task, left).actions
    assert isinstance(action, CreatePlan)
    meta = objects.metadata("p", "uid-p")
    return Plan.model_validate(action.plan | {"metadata": meta}).spec


def test_what_nobody_sees_gets_into_no_plan() -> None:
    hidden = "Limit\u200b\U000e0041 requests"
    left = LEFT | {"stages": [{"name": "a", "steps": [STEP | {"title": hidden}]}]}

    assert made(left).spec.stages[0].steps[0].title == "Limit requests"


def test_a_project_whose_approver_is_not_the_author_is_no_obstacle_to_who_is_known() -> None:
    asks = project(approval={"approverIsNotAuthor": True})

    decision = to_the_end(goal(), LEFT, project=asks)

    assert decision.status.state is TaskState.CLOSED


@pytest.mark.parametrize(
    ("author", "asked", "waits"),
    [
        (None, {"approverIsNotAuthor": True}, True),
        ("ann", {"approverIsNotAuthor": True}, False),
        (None, {"result": "Always"}, False),
        (None, None, False),
    ],
)
def test_no_agent_is_paid_for_a_plan_that_nobody_could_approve(
    author: str | None, asked: Object | None, *, waits: bool
) -> None:
    subject = goal(asked={"approval": asked}, author=author)

    wait = chain.author_missing(snapshot(subject), objects.at(0))

    assert (wait is not None and wait.reason == "AuthorMissing") is waits


# --- what its session may leave, and is told ------------------------------------------------------


def test_only_who_is_to_produce_a_plan_may_leave_a_plan_file() -> None:
    assert documents.expected(seen(goal())) == ("plan.yaml",)
    assert "plan.yaml" not in documents.expected(seen(goal(produces=None)))


def test_yaml_as_the_recorder_hands_it_over_becomes_a_plan() -> None:
    written = b"""\
name: Rate limits
stages:
  - name: build
    steps:
      - {title: Limit requests, role: backend, files: [api.py], model: sonnet}
"""
    document = canonical(written)
    assert isinstance(document, bytes)

    decision = to_the_end(goal(), document)

    assert decision.status.state is TaskState.CLOSED


def test_no_gate_is_asked_about_a_repository_of_which_nothing_changes() -> None:
    signals = [{"type": "path_exists", "path": "README.md"}]
    judged = objects.verification(sha=BASE)
    plans, reports = goal(completionSignals=signals), goal(produces=None, completionSignals=signals)

    asked = {
        name: [check.name for check in specs_of(snapshot(each), judged)]
        for name, each in {"plans": plans, "reports": reports}.items()
    }

    assert asked["plans"] == ["signal-0"]
    assert "lint" in asked["reports"]


_WORDS = st.sampled_from(
    ("name", "stages", "steps", "title", "approval", "plan", "Never", "budget", "max_agents")
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2000) | st.floats() | st.text(max_size=9) | _WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS | st.text(), inner),
    max_leaves=25,
)


@given(_VALUES, st.dictionaries(_WORDS | st.sampled_from(("cli", "repos", "merge")), _VALUES))
def test_whatever_is_left_it_is_refused_in_words_or_waits_for_people(
    anything: Any, more: Object
) -> None:
    for left in (anything, LEFT | more):
        document = json.dumps(left, ensure_ascii=True).encode()

        decision = to_the_end(goal(asked={"budget": "5", "maxAgents": 3}), document)

        if decision.status.state is TaskState.CLOSED:
            (action,) = decision.actions
            assert isinstance(action, CreatePlan)
            spec = Plan.model_validate(action.plan | {"metadata": objects.metadata("p", "u")}).spec
            assert spec.approval is not None
            assert (spec.approval.plan, spec.project_ref, spec.author) == (
                "Always",
                "default",
                "ann",
            )
            assert float(spec.budget or 99) <= 5
            assert (spec.max_agents or 99) <= 3
        else:
            assert decision.status.attempts[-1].reason == "PlanFileInvalid"
