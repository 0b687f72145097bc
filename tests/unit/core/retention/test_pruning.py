"""The deletion of refs, step by step."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.programs.prune import PruneResult
from bernstein.api.projects.refs import MOST_AT_ONCE, MOST_WAITING, RefPruning, RefToDelete
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import labels, names
from bernstein.core.actions import DeleteJobs
from bernstein.core.jobs import JobView, refusal
from bernstein.core.projects import readiness
from bernstein.core.projects.actions import PruneDecision, RunPrune
from bernstein.core.retention.pruning import PAUSE_SECONDS, Ended, PruneSnapshot, decide
from bernstein.core.retention.refs import Ref, folder_of
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, at, ended, failed, over, pod, running, sha

KEPT = 30 * 86400


def folder(number: int) -> str:
    return names.refs_of(f"{number:016x}")


def ref(number: int, of: int = 0) -> Ref:
    return Ref(f"{folder(of)}/mine/s{number:05}", sha(number))


def row(number: int, of: int = 0, *, due: datetime = NOW) -> RefToDelete:
    return RefToDelete(ref=ref(number, of).ref, sha=sha(number), due=due)


def over_since(number: int, refs: int = 1, *, seconds: float = KEPT + 60) -> Ended:
    """It ended so long ago; a greater number ended later."""
    found = frozenset(ref(n, number) for n in range(1, refs + 1))
    return Ended(at(number - seconds), f"{number:016x}", folder(number), found)


def project(known: RefPruning | None, **spec: Any) -> Workplace:
    found = objects.project(**spec)
    status = found.status.model_copy(update={"refs": () if known is None else (known,)})
    return found.model_copy(update={"status": status})


def step(
    known: RefPruning | None,
    *jobs: JobView,
    held: Collection[str] = (),
    now: datetime = NOW,
    kept: int = KEPT,
    **more: Any,
) -> PruneDecision:
    found = PruneSnapshot(
        project(known, retention={"refsSeconds": kept}),
        {j.name: j for j in jobs},
        is_held=lambda folder: folder in held,
    )
    return decide(replace(found, **more), now)


def job(run: RunPrune, pod: Object | None = None) -> JobView:
    said = {labels.JOB: "prune", labels.ASKED: run.asked}
    return JobView(run.job, f"uid-{run.job}", at(-5), pod=pod, labels=said)


def begun(**more: Any) -> tuple[RefPruning, RunPrune]:
    """A batch that is written down, and its Job."""
    state = step(None, **more).status
    assert state is not None
    (run,) = step(state, **more).actions
    assert isinstance(run, RunPrune)
    return state, run


def told(outcomes: str, reason: str = "", **more: Any) -> RefPruning:
    state, run = begun(**more)
    said = PruneResult(outcomes, reason, "it says why" if reason else "")
    its = job(run, over(ended("prune", said=said)))
    decision = step(state, its)
    assert decision.status is not None
    # Who dies before that is written down leaves the Job to who leads next.
    assert decision.actions == ()
    assert step(decision.status, its).actions == (DeleteJobs((its,)),)
    return decision.status


def test_where_nothing_has_ended_there_is_nothing_to_tell() -> None:
    assert step(None) == PruneDecision(None)


def test_what_is_not_due_yet_is_looked_at_later_and_written_down_by_nobody() -> None:
    decision = step(None, next_end=at(60 - KEPT))
    assert (decision.status, decision.actions, decision.requeue_after) == (None, (), 60.0)


def test_a_batch_is_written_down_before_there_is_a_job() -> None:
    first = step(None, ended=(over_since(1, 2),))
    assert first.status is not None
    assert (first.actions, first.requeue_after) == ((), 1.0)
    assert [each.ref for each in first.status.batch] == [ref(1, 1).ref, ref(2, 1).ref]

    (run,) = step(first.status).actions
    assert run == RunPrune("default--prune-0", first.status.batch)
    at_work = step(first.status, job(run, pod(running("prune"))))
    assert (at_work.status, at_work.actions) == (first.status, ())


def test_what_was_deleted_is_counted_and_the_next_ones_come_after_a_pause() -> None:
    both = (over_since(1), over_since(2))
    state = told("dm", ended=both)

    assert (state.deleted, state.left, state.last_left) == (1, 1, (ref(1, 2).ref,))
    assert (state.batch, state.number) == ((), 1)
    assert state.through is not None
    assert (state.through.at, state.through.uid) == (both[1].at, both[1].uid)
    soon = step(state, ended=(over_since(3),))
    assert (soon.actions, soon.requeue_after) == ((), float(PAUSE_SECONDS))
    later = step(state, ended=(over_since(3),), now=at(PAUSE_SECONDS))
    assert later.status is not None
    assert [each.ref for each in later.status.batch] == [ref(1, 3).ref]


def test_a_plan_with_more_refs_than_a_job_deletes_goes_on_where_it_was() -> None:
    plan = over_since(1, MOST_AT_ONCE + 3)
    state = told("d" * MOST_AT_ONCE, ended=(plan,))

    rest = step(state, ended=(plan,), now=at(PAUSE_SECONDS)).status
    assert rest is not None
    assert [each.sha for each in rest.batch] == [sha(MOST_AT_ONCE + n) for n in (1, 2, 3)]


def test_what_was_deleted_of_objects_goes_when_it_is_due() -> None:
    departed = (row(1), row(2, due=at(3600)))
    state = step(None, departed=departed).status
    assert state is not None
    assert (state.batch, state.waiting) == ((row(1),), departed)

    after = told("d", departed=departed)
    assert after.waiting == (row(2, due=at(3600)),)
    assert step(after, now=at(PAUSE_SECONDS)).requeue_after == 3600.0 - PAUSE_SECONDS


def test_where_the_account_is_refused_the_secret_is_named() -> None:
    state = told("r", Reason.REPOSITORY_AUTH_FAILED, departed=(row(1),))
    words = "the account 'work' does not see the repository"
    state = state.model_copy(update={"repository": "app", "message": words})

    found = readiness.status(project(None), 0, None, None, NOW, readiness.Told((state,)))

    assert "'git-work' (spec.repositories[0].credentials.work" in found.conditions[-1].message


def test_of_what_there_is_no_room_for_the_project_says_so() -> None:
    many = tuple(row(n, due=at(n)) for n in range(1, MOST_WAITING + 6))
    state = step(None, departed=many, lost=7).status
    assert state is not None
    assert (len(state.waiting), state.unwritten, state.lost) == (MOST_WAITING, 5, 7)
    assert state.waiting == many[:MOST_WAITING], "what is due first"

    found = readiness.status(project(None), 0, None, None, NOW, readiness.Told((state,)))
    assert objects.told(found.conditions)["RefsNotDeleted"] == ("True", "NoRoom")
    message = found.conditions[-1].message
    assert "5 refs" in message
    assert "7 refs" in message


def test_who_needs_a_ref_by_now_keeps_it_from_a_job_that_is_not_made_yet() -> None:
    state, _ = begun(ended=(over_since(1),))
    decision = step(state, held={folder(1)})
    assert decision.status is not None
    assert (decision.actions, decision.status.batch, decision.status.through) == ((), (), None)


def test_what_somebody_goes_on_with_waits_and_after_a_day_the_others_do_not_wait_for_it() -> None:
    both = (over_since(1), over_since(2))
    waits = step(None, ended=both, held={folder(1)})
    assert (waits.status, waits.requeue_after) == (None, 60.0)

    old = (over_since(1, seconds=KEPT + 90000), over_since(2))
    passed = step(None, ended=old, held={folder(1)}).status
    assert passed is not None
    assert [each.ref for each in passed.batch] == [ref(1, 2).ref]


def test_a_server_that_refuses_is_tried_again_later_and_later_and_the_project_says_why() -> None:
    state = told("r", Reason.PUSH_REJECTED, departed=(row(1),))
    assert (state.reason, state.failures, state.waiting) == (Reason.PUSH_REJECTED, 1, (row(1),))
    assert state.until is not None
    assert state.until > at(29)
    (told_of,) = (
        each
        for each in readiness.status(
            project(None), 0, None, None, NOW, readiness.Told((state,))
        ).conditions
        if each.type == "RefsNotDeleted"
    )
    assert (told_of.status, told_of.reason) == ("True", Reason.PUSH_REJECTED)
    assert "Remedy:" in told_of.message

    waits = [state]
    for _ in range(9):
        again = waits[-1].until
        assert again is not None
        batch = step(waits[-1], now=again).status
        (run,) = step(batch, now=again).actions
        assert isinstance(run, RunPrune)
        pods = over(failed("prune", Reason.CREDENTIAL_REFUSED))
        known = step(batch, job(run, pods), now=again).status
        assert known is not None
        waits.append(known)
    assert (waits[-1].until or NOW) - (waits[-2].until or NOW) == timedelta(hours=1)
    assert len({each.number for each in waits}) == len(waits)


def test_one_that_the_server_keeps_does_not_keep_the_others() -> None:
    state = told("dr", Reason.PUSH_REJECTED, departed=(row(1), row(2)))
    assert (state.deleted, state.left, state.failures, state.waiting) == (1, 1, 0, ())


def test_a_job_that_was_told_of_others_is_not_believed() -> None:
    state, run = begun(ended=(over_since(1),))
    stranger = job(replace(run, refs=(row(9),)), over(ended("prune", said=PruneResult("d"))))
    decision = step(state, stranger)
    assert decision.status is not None
    assert (decision.status.deleted, decision.status.number) == (0, 1)
    assert decision.actions == (DeleteJobs((stranger,)),)

    short = step(state, job(run, over(ended("prune", said=PruneResult("dd"))))).status
    assert short is not None
    assert short.reason == Reason.INFRASTRUCTURE_ERROR


def test_a_job_that_is_refused_is_tried_again() -> None:
    state, run = begun(ended=(over_since(1),))
    decision = step(state, refusal(run.job, "exceeded quota", NOW))
    assert decision.status is not None
    assert decision.status.reason == Reason.POD_REJECTED


def test_a_project_that_keeps_them_for_ever_deletes_none() -> None:
    state, run = begun(ended=(over_since(1),))
    at_work = job(run, pod(running("prune")))
    assert step(state, at_work, kept=0) == PruneDecision(None, (DeleteJobs((at_work,)),))


numbers = st.integers(min_value=0, max_value=9)


@given(
    ended=st.lists(st.tuples(numbers, st.integers(0, 60)), max_size=8, unique_by=lambda e: e[0]),
    departed=st.lists(st.tuples(st.integers(1, 99), numbers, st.booleans()), max_size=80),
    held=st.sets(numbers),
    held_later=st.sets(numbers),
)
def test_no_job_ever_has_a_ref_that_somebody_needs_or_that_is_not_due(
    ended: list[tuple[int, int]],
    departed: list[tuple[int, int, bool]],
    held: set[int],
    held_later: set[int],
) -> None:
    """Whoever begins to need one between the two looks keeps it, too."""
    rows = tuple(row(n, of, due=at(-1 if due else 60)) for n, of, due in departed)
    more: dict[str, Any] = {
        "ended": tuple(over_since(n, many) for n, many in sorted(ended)),
        "departed": rows,
    }
    state = step(None, held={*map(folder, held)}, **more).status
    if state is None:
        return
    written = {(r.ref, r.sha) for r in rows} | {
        ref(n, o) for o, m in ended for n in range(1, m + 1)
    }
    assert len(state.batch) <= MOST_AT_ONCE
    assert {(r.ref, r.sha) for r in state.batch} <= written
    assert all(each.due <= NOW for each in state.batch)
    assert {folder_of(r.ref) for r in state.batch}.isdisjoint(map(folder, held))

    for action in step(state, held={*map(folder, held_later)}, **more).actions:
        assert isinstance(action, RunPrune)
        assert action.refs == state.batch
        assert {folder_of(r.ref) for r in action.refs}.isdisjoint(map(folder, held_later))


def test_a_name_that_somebody_has_taken_is_left_for_the_next() -> None:
    state, run = begun(ended=(over_since(1),))
    decision = step(state, refusal(run.job, "a Job of nobody's", NOW, taken=True))
    (another,) = (each for each in decision.actions if isinstance(each, RunPrune))
    assert decision.status is not None
    assert (decision.status.number, another.job != run.job) == (state.number + 1, True)
