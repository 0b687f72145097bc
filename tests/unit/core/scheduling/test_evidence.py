"""What a Task has met itself stays known while others, its Plan or its turn keep it waiting."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.api.states import TaskState
from bernstein.api.task import Move, Task
from bernstein.api.waiting import Waiting
from bernstein.core.reasons.waits import SOON_SECONDS, seconds_to_wait
from bernstein.core.scheduling.schedule import Schedule
from bernstein.core.verification.crowd import FOLLOW_EACH
from tests.unit.core import objects
from tests.unit.core.objects import at, plan, project, status
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot, new_board
from tests.unit.core.scheduling.schedules import schedule

DAY = 24 * 3600
KEY = {"name": "key", "key": "k"}


def look(*tasks: Task, now: float = 0, agents: int = 9, **of_plan: Any) -> Schedule:
    """One schedule; all Tasks are of one Plan."""
    found = ProjectSnapshot(
        project=project(limits={"maxAgents": agents}),
        members=tasks,
        plan_of={t.metadata.name: plan(**of_plan) for t in tasks},
        tasks={t.metadata.name: t for t in tasks},
    )
    return schedule(found, at(now))


def after(found: Schedule, *tasks: Task) -> list[Task]:
    """The Tasks as they are written then."""
    new = {t.metadata.name: s for t, s in (*found.moves, *found.waits)}
    statuses = (new.get(t.metadata.name, t.status) for t in tasks)
    pairs = zip(tasks, statuses, strict=True)
    return [task.model_copy(update={"status": status}) for task, status in pairs]


def held(name: str, until: float | None, reason: str = "UsageLimited", **more: Any) -> Task:
    waiting = objects.held(reason, None if until is None else at(until), "used up", **more)
    return objects.task(name, status=status(waiting=waiting))


def waits(task: Task) -> Waiting:
    assert task.status.waiting is not None
    return task.status.waiting


def test_a_wait_of_a_day_goes_on_while_the_plan_is_suspended_and_after() -> None:
    task = held("a", DAY)

    assert look(task, suspend=True).waits == ()
    (suspended,) = after(look(task, suspend=True), task)
    assert look(suspended, now=3600).moves == ()
    assert look(suspended, now=3600).again == DAY - 3600
    assert len(look(suspended, now=DAY).moves) == 1


def test_a_task_that_may_not_try_keeps_nobody_waiting() -> None:
    """Its Plan is suspended: whoever waited for it would wait for nothing."""
    first, second = (held(name, DAY) for name in "ab")
    alone = objects.task("free", plan=None, status=status())
    known = {t.metadata.name: t for t in (first, second, alone)}
    suspended = plan(suspend=True)
    found = schedule(
        ProjectSnapshot(project(), known.values(), {"a": suspended, "b": suspended}, known), at(0)
    )

    assert [t.metadata.name for t, _ in found.moves] == ["free"]


def test_two_that_have_met_the_same_are_two_while_no_agent_is_free() -> None:
    busy = objects.task("busy", status=status(TaskState.IN_PROGRESS))
    tasks = [held("a", 0), held("b", 0), objects.task("c", status=status())]
    for now in (1, 2, 3):
        found = look(busy, *tasks, now=now, agents=1)
        _, *tasks = after(found, busy, *tasks)
        assert [waits(t).reason for t in tasks] == ["MaxAgents", "UsageLimited", "UsageLimited"]
    assert look(busy, *tasks, agents=1).waits == ()

    (claimed,) = look(*tasks).moves
    assert claimed[0].metadata.name == "a"


def test_who_tries_keeps_the_others_waiting_until_its_agent_runs() -> None:
    tasks = after(look(held("a", 0), held("b", 0), now=1), held("a", 0), held("b", 0))
    first, second = tasks

    assert first.status.state is TaskState.CLAIMED
    assert (waits(first).until, waits(first).needs_person) == (None, False)
    assert look(*tasks, now=2).moves == ()

    running = objects.task("a", status=status(TaskState.IN_PROGRESS))
    assert [t.metadata.name for t, _ in look(running, second, now=3).moves] == ["b"]


def test_who_has_met_it_itself_keeps_its_words_while_another_one_tries() -> None:
    mine = "no Secret. Remedy: Create it."
    first = held("a", 0, "SecretNotFound")
    second = held("b", 0, "SecretNotFound", needs_person=True, scope="Agent")
    second = second.model_copy(
        update={
            "status": status(waiting=waits(second).model_copy(update={"message": mine})),
        }
    )

    _, behind = after(look(first, second, now=1), first, second)

    assert (waits(behind).message, waits(behind).needs_person) == (mine, True)
    assert waits(behind).until is None
    assert waits(behind).tried is not None


def test_a_wait_that_was_set_before_the_time_of_day_went_back_is_over() -> None:
    task = held("a", 400 * DAY)

    assert len(look(task).moves) == 1


def met(name: str, when: float, until: float, reason: str = "UsageLimited") -> Task:
    """Its session has said so at `when`; it tries again at `until`."""
    back = Move(to_state="Open", reason=reason, attempt=0, time=at(when))
    task = held(name, until, reason)
    return task.model_copy(
        update={"status": task.status.model_copy(update={"history": (back,)})},
    )


def claimed(found: Schedule) -> list[str]:
    return [task.metadata.name for task, new in found.moves if new.state is TaskState.CLAIMED]


def test_what_two_sessions_say_holds_others_for_five_minutes_and_not_for_their_day() -> None:
    tasks = [met("a", 0, DAY), met("b", 100, DAY), objects.task("free", status=status())]

    assert claimed(look(*tasks, now=200)) == []
    assert look(*tasks, now=200).again == 100, "then what the first one has met is over for others"
    assert claimed(look(*tasks, now=301)) == ["free"]


def test_what_a_second_session_says_hours_later_confirms_nothing() -> None:
    tasks = [met("a", 0, DAY), met("b", 7200, DAY), objects.task("free", status=status())]

    assert claimed(look(*tasks, now=7201)) == ["free"]


@pytest.mark.parametrize("reason", ["UsageLimited", "SecretNotFound", "RepositoryUnreachable"])
def test_who_cannot_try_for_want_of_files_holds_others_for_five_minutes(reason: str) -> None:
    busy = objects.task("busy", status=status(TaskState.IN_PROGRESS), files=["x"])
    free = objects.task("free", status=status())

    def blocked(name: str) -> Task:
        task = held(name, 0, reason)
        waiting = waits(task).model_copy(update={"reason": "FileOverlap", "until": None})
        its = task.status.model_copy(update={"waiting": waiting})
        spec = task.spec.model_copy(update={"files": ("x",)})
        return task.model_copy(update={"status": its, "spec": spec})

    tasks = [busy, blocked("a"), blocked("b"), free]
    assert claimed(look(*tasks, now=200)) == []
    assert claimed(look(*tasks, now=301)) == ["free"]


def unpushed(name: str, when: float, state: TaskState = TaskState.OPEN) -> Task:
    """Its agent has run, and what that left was pushed nowhere: nothing was reached any more."""
    reason = "RepositoryUnreachable"
    back = Move(from_state="InProgress", to_state="Open", reason=reason, attempt=0, time=at(when))
    again = Move(to_state="Claimed", reason="Scheduled", attempt=0, time=at(when + 300))
    moves = (back, again) if state is TaskState.CLAIMED else (back,)
    waiting = objects.held(reason, at(when + 300), "nothing answers there")
    return objects.task(name, status=status(state, waiting=waiting, history=moves))


@pytest.mark.parametrize("state", [TaskState.OPEN, TaskState.CLAIMED])
def test_what_was_not_reached_from_beside_one_agent_holds_no_other_task(state: TaskState) -> None:
    """It may have left more than gets through in time; a checkout runs before any agent."""
    free, mine = objects.task("free", status=status()), unpushed("a", 0, state)

    assert claimed(look(mine, free, now=200)) == ["free"]
    assert claimed(look(mine, unpushed("b", 100), free, now=200)) == []
    of_checkout = met("b", 100, 400, "RepositoryUnreachable")
    assert claimed(look(mine, of_checkout, free, now=200)) == []


def test_what_was_not_reached_from_beside_two_agents_holds_others_for_minutes() -> None:
    tasks = [unpushed("a", 0), unpushed("b", 100), objects.task("free", status=status())]

    assert claimed(look(*tasks, now=299)) == []
    assert claimed(look(*tasks, now=1001)) == ["a", "b", "free"]


def runs(name: str, since: float) -> Task:
    """Its agent does, and has met nothing."""
    begun = Move(to_state="InProgress", reason="Started", attempt=0, time=at(since))
    return objects.task(name, status=status(TaskState.IN_PROGRESS, history=(begun,)))


@pytest.mark.parametrize("reason", ["SecretNotFound", "ImagePullFailed", "PodRejected"])
def test_all_who_have_met_it_themselves_go_on_once_the_agent_of_one_runs(reason: str) -> None:
    """Not one after another, as each agent begins."""
    tasks = [met(f"t{number}", number, 20, reason) for number in range(5)]

    assert claimed(look(*tasks, now=21)) == ["t0"]
    assert claimed(look(runs("t0", 25), *tasks[1:], now=26)) == ["t1", "t2", "t3", "t4"]


def test_who_fails_after_the_agent_of_another_one_began_is_let_go_by_none() -> None:
    """A quota may have had room for one."""
    tasks = [met(name, 30, 38, "PodRejected") for name in "ab"]

    assert claimed(look(runs("first", 25), *tasks, now=40)) == ["a"]


def test_each_agent_that_begins_lets_so_many_go_on_and_no_more() -> None:
    tasks = [met(f"t{number:03}", 0, 8, "SecretNotFound") for number in range(3 * FOLLOW_EACH)]

    assert len(claimed(look(runs("a", 10), *tasks, now=11, agents=999))) == FOLLOW_EACH + 1
    two = [runs("a", 10), runs("b", 10)]
    assert len(claimed(look(*two, *tasks, now=11, agents=999))) == 2 * FOLLOW_EACH + 1


def test_an_agent_that_begins_shows_nothing_of_its_provider_to_who_was_refused() -> None:
    tasks = [met(name, 0, 300, "ModelAuthFailed") for name in "abc"]
    free = objects.task("free", status=status())

    assert claimed(look(runs("first", 299), *tasks, free, now=299)) == []


def test_a_board_that_is_kept_lets_them_go_on_as_the_agent_begins() -> None:
    tasks = {name: met(name, 0, 8, "SecretNotFound") for name in "abc"}
    board = new_board(_all(tasks))
    assert claimed(board.look(_all(tasks).project, (), at(9))) == ["a"]

    board.put_task("a", runs("a", 12), PLAN, member=True)
    assert claimed(board.look(_all(tasks).project, (), at(12))) == ["b", "c"]


def test_a_key_that_is_refused_is_tried_by_two_however_many_have_met_it() -> None:
    """All would fail: the first one tries, and another one, that two say it again."""
    tasks = [met(name, 10_000, 10_300, "ModelAuthFailed") for name in "abc"]
    free = objects.task("free", status=status())

    assert claimed(look(*tasks, free, now=10_299)) == []
    found = look(*tasks, free, now=10_301)
    assert claimed(found) == ["a", "b"]
    first, second, third = after(found, *tasks)
    assert claimed(look(first, second, third, free, now=10_400)) == []
    again = [met(name, 10_410, 10_710, "ModelAuthFailed") for name in "ab"]
    assert claimed(look(*again, third, free, now=10_500)) == []


@pytest.mark.parametrize("reason", ["AgentNotStarted", "UsageLimited", "ModelAuthFailed"])
def test_who_has_said_it_once_holds_others_for_minutes_whoever_repeats_it(reason: str) -> None:
    """The second one tries after these, instead of waiting for the first one without end."""
    free, second = objects.task("free", status=status()), met("b", 0, 0, reason)

    def at_second(now: float) -> Schedule:
        return look(met("a", now - 5, now + 5, reason), second, free, now=now)

    assert claimed(at_second(299)) == []
    found = at_second(299)
    assert found.again is not None
    assert found.again <= 1, "it is looked at again by then"
    assert claimed(at_second(301)) == ["b"]
    assert claimed(at_second(601)) == ["b", "free"], "should it not have tried"


def test_who_is_to_say_it_again_waits_as_others_do_for_an_agent() -> None:
    tasks = [met("a", 296, 305), met("b", 0, 0), objects.task("free", status=status())]
    busy = objects.task("busy", status=status(TaskState.IN_PROGRESS))

    assert claimed(look(busy, *tasks, now=301, agents=2)) == ["b"]
    (_, *waits) = after(look(busy, *tasks, now=301, agents=1), busy, *tasks)
    assert claimed(look(*waits, now=302, agents=3)) == ["b"]


MET = st.tuples(
    st.integers(0, 1200),
    st.sampled_from(["PodRejected", "UsageLimited", "ModelAuthFailed", "SecretNotFound"]),
)
"""When a Task has failed, and by what."""


@settings(max_examples=200, deadline=None)
@given(st.lists(MET, min_size=1, max_size=5), st.integers(1, 3), st.integers(1200, 1900))
def test_what_was_told_is_not_told_otherwise_in_turn(
    those: list[tuple[int, str]], agents: int, now: int
) -> None:
    """Who waits for an agent has met what it has met, as much as while it waited for others."""
    failed = [met(f"t{n}", when, when + 5, reason) for n, (when, reason) in enumerate(those)]
    tasks = [*failed, objects.task("free", status=status())]

    for _ in range(3):
        tasks = after(look(*tasks, now=now, agents=agents), *tasks)

    assert look(*tasks, now=now, agents=agents).waits == ()


PLAN = plan()
TASKS, FIRST = 1000, 3
"""How many Tasks there are, and at which second the first one tries."""


@pytest.mark.parametrize("reason", ["ImagePullFailed", "PodRejected"])
def test_for_1000_tasks_whose_agents_cannot_start_one_session_in_8_s_is_made(reason: str) -> None:
    """After hours: two have met it by themselves, and whoever tries meets it again at once."""
    names = [f"t{number:04}" for number in range(TASKS)]
    met = [
        held(name, until, reason, times=500)
        for name, until in (("t0000", FIRST), ("t0001", FIRST + 2))
    ]
    tasks = {name: objects.task(name, status=status()) for name in names}
    tasks |= {task.metadata.name: task for task in met}
    board, made = new_board(_all(tasks)), list[str]()
    for second in range(60):
        found = board.look(_all(tasks).project, (), at(second))
        for task, moved in found.moves:
            assert moved.state is TaskState.CLAIMED
            name = task.metadata.name
            made.append(name)
            again = seconds_to_wait(reason, 500)
            board.put_task(name, held(name, second + again, reason, times=500), PLAN, member=True)

    assert len(made) == len(range(FIRST, 60, SOON_SECONDS))
    assert set(made) == {"t0000"}


def _all(tasks: dict[str, Task]) -> ProjectSnapshot:
    return ProjectSnapshot(
        project=project(limits={"maxAgents": 50}),
        members=[*tasks.values()],
        plan_of=dict.fromkeys(tasks, PLAN),
        tasks=tasks,
    )
