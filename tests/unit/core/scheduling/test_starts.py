"""Who may start now: capacity, files, priority, and one prober for what is broken outside."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.api.states import TaskState
from bernstein.api.waiting import Tried
from bernstein.core.fsm import ACTIVE
from bernstein.core.scheduling.file_overlap import HeldFiles
from bernstein.core.scheduling.peer import Peer
from bernstein.core.scheduling.starts import Capacity
from tests.unit.core.objects import NOW, at
from tests.unit.core.scheduling.overlap import overlap
from tests.unit.core.scheduling.schedules import obstacles

FREE = Capacity(6, {})


def peer(name: str, state: TaskState | None = TaskState.OPEN, **more: Any) -> Peer:
    fields: dict[str, Any] = {
        "plan": "web",
        "priority": 2,
        "batch": False,
        "created": NOW,
        "files": (),
        "agent": "demo",
        "tried": None,
        "ready": state is TaskState.OPEN,
    }
    fields |= more
    return Peer(name=name, state=state, **({"provider": fields["agent"]} | fields))


def met(reason: str) -> Tried:
    return Tried(reason=reason, generation=1)


def why(me: Peer, *others: Peer, capacity: Capacity = FREE) -> str | None:
    queue = obstacles([me, *others], capacity)[me.name]
    return queue.reason if queue is not None else None


def running(name: str, **more: Any) -> Peer:
    return peer(name, TaskState.IN_PROGRESS, **more)


# --- capacity and order -------------------------------------------------------------------------


@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.ORPHANED])
def test_a_full_project_starts_nothing(state: TaskState) -> None:
    assert why(peer("me"), peer("a", state), capacity=Capacity(1, {})) == "MaxAgents"
    assert why(peer("me"), peer("a", state), capacity=Capacity(2, {})) is None


@pytest.mark.parametrize("state", [TaskState.DONE, TaskState.CLOSED, TaskState.FAILED])
def test_only_agents_at_work_take_a_place(state: TaskState) -> None:
    assert why(peer("me"), peer("a", state), capacity=Capacity(1, {})) is None


def test_a_plan_has_a_limit_of_its_own() -> None:
    capacity = Capacity(6, {"web": 1})

    assert why(peer("me"), running("a"), capacity=capacity) == "MaxAgents"
    assert why(peer("me"), running("a", plan="other"), capacity=capacity) is None
    assert why(peer("me", plan=None), running("a"), capacity=capacity) is None


def test_a_ready_task_that_its_own_plan_keeps_waiting_takes_no_place() -> None:
    capacity = Capacity(2, {"web": 1})
    waits = peer("a2", priority=1)

    assert why(peer("me", plan="other"), running("a1"), waits, capacity=capacity) is None


@pytest.mark.parametrize(
    ("first", "me"),
    [
        ({"priority": 1}, {"priority": 2}),
        ({"created": at(-5)}, {"created": NOW}),
        ({"name": "a"}, {"name": "b"}),
    ],
)
def test_the_last_place_goes_by_priority_then_age_then_name(
    first: dict[str, Any], me: dict[str, Any]
) -> None:
    one = peer(**({"name": "x"} | first))
    other = peer(**({"name": "y"} | me))

    assert why(one, other, capacity=Capacity(1, {})) is None
    assert why(other, one, capacity=Capacity(1, {})) == "MaxAgents"


def test_batch_waits_until_no_other_task_is_ready() -> None:
    assert why(peer("me", batch=True, priority=1), peer("a", priority=5)) == "BatchWaits"
    assert why(peer("me", batch=True), running("a")) is None
    assert why(peer("me", batch=True), peer("a", batch=True)) is None


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "stalled", "waits"),
    [
        (TaskState.CLAIMED, False, True),
        (TaskState.IN_PROGRESS, False, True),
        (TaskState.DONE, False, True),
        (TaskState.PENDING_APPROVAL, False, True),
        (TaskState.DONE, True, False),
        (TaskState.CLOSED, False, False),
        (TaskState.OPEN, False, False),
    ],
)
def test_files_are_held_from_the_claim_until_the_work_has_landed(
    state: TaskState, stalled: bool, waits: bool
) -> None:
    other = peer("other", state, files=("a.py",), stalled=stalled, ready=False)

    found = why(peer("me", files=("a.py",)), other)

    assert found == ("FileOverlap" if waits else None)


def test_two_ready_tasks_of_the_same_files_start_one_after_the_other() -> None:
    one, other = peer("a", files=("x",)), peer("b", files=("x",))

    assert why(one, other) is None
    assert why(other, one) == "FileOverlap"


def test_undeclared_files_are_exclusive_only_if_the_project_says_so() -> None:
    strict = Capacity(6, {}, exclusive_undeclared=True)
    busy = running("a", files=("x",))

    assert why(peer("me"), busy) is None
    assert why(peer("me"), busy, capacity=strict) == "FileOverlap"
    assert why(peer("me", files=("y",)), running("a"), capacity=strict) == "FileOverlap"
    assert why(peer("me", files=("y",)), busy, capacity=strict) is None


@pytest.mark.parametrize("exclusive", [False, True])
def test_a_task_that_only_adds_overlaps_with_nobody(exclusive: bool) -> None:
    """It holds no files, and not because it does not say which."""
    capacity = Capacity(6, {}, exclusive_undeclared=exclusive)
    adds: dict[str, Any] = {"files": (), "only_adds": True}

    for other in (running("a"), running("a", files=("**",)), running("a", **adds)):
        assert why(peer("me", **adds), other, capacity=capacity) is None
    for me in (peer("me"), peer("me", files=("**",))):
        assert why(me, running("a", **adds), capacity=capacity) is None
        assert why(me, peer("a", priority=1, **adds), capacity=capacity) is None


def test_files_of_a_task_that_has_just_started_are_held_too() -> None:
    first, second, third = (peer(n, files=(f,)) for n, f in [("a", "x/*"), ("b", "y"), ("c", "x")])

    found = obstacles([third, second, first], FREE)

    assert found["a"] is None
    assert found["b"] is None
    assert found["c"] is not None
    assert found["c"].message == "its files overlap with those of 'a'"


@pytest.mark.parametrize(
    ("held", "hostile"),
    [
        ("a/" * 119 + "x.bbc", "**/a*/" * 5 + "x[!b]c"),
        ("a" * 250 + ".c", "*a" * 120 + "b.c"),
        ("a.py", "{1..100000}.py"),
        ("{1..100000}.py", "a.py"),
        ("x/a.py", "{a,b}" * 50 + "/*.md"),
    ],
)
def test_files_of_one_task_keep_no_other_from_being_judged(held: str, hostile: str) -> None:
    found = obstacles(
        [running("a", files=(held,)), peer("b", files=(hostile,)), peer("c", files=("y.py",))], FREE
    )

    assert found == {"b": None, "c": None}


def test_too_much_to_compare_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeldFiles.__init__, "__defaults__", (10, None))
    held = running("a", files=tuple(f"src/{n}.py" for n in range(10)))

    found = obstacles([held, peer("me", files=("src/*.md",))], FREE)["me"]

    assert found is not None
    assert found.reason == "FileOverlap"
    assert found.message == "its files may overlap with those of 'a': too many to compare"


# --- holds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [TaskState.OPEN, TaskState.CLAIMED])
@pytest.mark.parametrize("reason", ["SecretNotFound", "ImagePullFailed", "Unschedulable"])
def test_others_with_the_same_agent_wait_for_the_one_that_probes(
    state: TaskState, reason: str
) -> None:
    prober = peer("a", state, tried=met(reason), ready=False)

    assert why(peer("me"), prober) == reason
    assert why(peer("me", agent="codex"), prober) is None


def test_a_repository_that_cannot_be_reached_holds_every_agent() -> None:
    prober = peer("a", tried=met("RepositoryUnreachable"), ready=False)

    assert why(peer("me", agent="codex"), prober) == "RepositoryUnreachable"
    assert why(peer("me", repository="another"), prober) is None


@pytest.mark.parametrize(
    "reason",
    [
        *("UsageLimited", "RateLimited", "ProviderUnavailable"),
        *("ModelAuthFailed", "AgentNotStarted", "PodRejected"),
    ],
)
def test_what_one_session_says_holds_no_other_task_until_a_second_one_says_it(reason: str) -> None:
    first, second = (peer(n, tried=met(reason), ready=n == "b") for n in ("a", "b"))

    assert why(peer("me"), first) is None
    assert why(peer("me"), first, peer("b", tried=met("InfrastructureError"))) is None
    assert why(peer("me"), first, second) == reason
    assert why(peer("me", agent="codex"), first, second) is None


@pytest.mark.parametrize("limit", ["UsageLimited", "RateLimited"])
def test_agents_with_the_same_key_wait_for_the_same_provider(limit: str) -> None:
    held = [peer(n, tried=met(limit), ready=False, provider="key") for n in ("a", "b")]

    assert why(peer("me", agent="codex", provider="key"), *held) == limit
    assert why(peer("me", agent="codex", provider="other"), *held) is None


@pytest.mark.parametrize("reason", ["RefNotFound", "RepositoryInvalid"])
def test_a_missing_ref_of_one_plan_holds_that_plan_alone(reason: str) -> None:
    prober = peer("a", tried=met(reason), ready=False)

    assert why(peer("me"), prober) == reason
    assert why(peer("me", plan="other"), prober) is None
    assert why(peer("me", plan=None), prober) is None


def test_who_probes_already_is_not_overtaken() -> None:
    probes = peer("z", TaskState.CLAIMED, tried=met("SecretNotFound"))
    me = peer("me", tried=met("SecretNotFound"), priority=1)

    assert why(me, probes) == "SecretNotFound"


@pytest.mark.parametrize("reason", ["InfrastructureError", "RefMoved", "NameConflict"])
def test_what_went_wrong_with_one_task_holds_no_other(reason: str) -> None:
    assert why(peer("me"), peer("a", tried=met(reason), ready=False)) is None


@pytest.mark.parametrize("agents", [("demo", "codex"), ("codex", "demo"), ("codex", "codex")])
def test_behind_a_repository_that_cannot_be_reached_there_is_one_prober(
    agents: tuple[str, str],
) -> None:
    first, second = agents
    prober = peer("a", tried=met("RepositoryUnreachable"), agent=first)
    waits = peer("b", tried=met("SecretNotFound"), agent=second)

    assert why(prober, waits) is None
    assert why(waits, prober) == "RepositoryUnreachable"
    assert why(peer("me", agent="third"), waits, prober) == "RepositoryUnreachable"


@pytest.mark.parametrize(("agent", "waits"), [("codex", None), ("demo", "SecretNotFound")])
def test_a_hold_of_one_agent_is_told_before_that_of_the_repository_if_it_came_first(
    agent: str, waits: str | None
) -> None:
    first = peer("a", tried=met("SecretNotFound"))
    second = peer("b", tried=met("RepositoryUnreachable"), agent=agent)

    assert why(second, first) == waits
    assert why(peer("me"), first, second) == "SecretNotFound"
    assert why(peer("me", agent="third"), first, second) == "RepositoryUnreachable"


def test_of_two_with_a_hold_the_first_probes() -> None:
    one = peer("a", tried=met("SecretNotFound"))
    other = peer("b", tried=met("SecretNotFound"))

    assert why(one, other) is None
    assert why(other, one) == "SecretNotFound"


def test_an_agent_that_runs_proves_that_the_hold_is_over() -> None:
    assert why(peer("me"), running("a", tried=None)) is None


# --- everything at once -------------------------------------------------------------------------

paths = st.sampled_from(["a", "a/b", "a/*", "**", "c", "[cd]"])
peers = st.lists(
    st.builds(
        lambda state, plan, priority, batch, files: {
            "state": state,
            "plan": plan,
            "priority": priority,
            "batch": batch,
            "files": tuple(files),
        },
        st.sampled_from([TaskState.OPEN, TaskState.OPEN, TaskState.IN_PROGRESS, TaskState.DONE]),
        st.sampled_from(["web", "app", None]),
        st.integers(1, 5),
        st.booleans(),
        st.lists(paths, max_size=2),
    ),
    min_size=1,
    max_size=7,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(peers, st.integers(1, 4), st.integers(1, 3), st.booleans(), st.randoms())
def test_however_tasks_start_limits_files_and_priority_are_kept(
    made: list[dict[str, Any]], project: int, plan: int, exclusive: bool, order: Any
) -> None:
    """Tasks look in any order, each start is seen by the next; then nobody could start."""
    found = [peer(f"p{i}", **one) for i, one in enumerate(made)]
    active = [p for p in found if p.state in ACTIVE]
    capacity = Capacity(max(project, len(active)), {"web": plan}, exclusive)
    for _ in range(2):
        looking = [p for p in found if p.state is TaskState.OPEN]
        order.shuffle(looking)
        for one in looking:
            if obstacles(found, capacity)[one.name] is not None:
                continue
            _starts_rightly(one, found, capacity)
            found[found.index(one)] = peer(
                one.name,
                TaskState.CLAIMED,
                plan=one.plan,
                files=one.files,
                batch=one.batch,
                priority=one.priority,
            )
    ready = [p for p in found if p.state is TaskState.OPEN and not p.batch]
    if ready and len([p for p in found if p.state in ACTIVE]) < capacity.project:
        first = min(ready, key=lambda p: p.order)
        assert obstacles(found, capacity)[first.name] is not None


def _starts_rightly(one: Peer, found: list[Peer], capacity: Capacity) -> None:
    active = [p for p in found if p.state in ACTIVE]
    assert len(active) < capacity.project
    if one.plan == "web":
        assert sum(p.plan == "web" for p in active) < capacity.plans["web"]
    for other in found:
        if other.holds_files and other.name != one.name:
            assert not overlap(one.files, other.files)
