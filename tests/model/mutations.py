"""The repairs that the engine needs, each taken out again: without it the model finds a fault.

What is taken out is named after what it does. A check that finds nothing without them would be
worth nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

from bernstein.api.pod import AGENT
from bernstein.controllers import job_actions, job_views
from bernstein.controllers.claims import Claims
from bernstein.controllers.job_views import JobViews
from bernstein.controllers.sessions import controller
from bernstein.controllers.wiring import Context
from bernstein.core import pods, runs
from bernstein.core.actions import PlanDecision, RunFence
from bernstein.core.delivery import job_result, landing
from bernstein.core.delivery.way import OnItsWay
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.plans import decide as plans
from bernstein.core.plans.places import begin
from bernstein.core.pods import Object
from bernstein.core.projects import probing
from bernstein.core.sessions import decide as sessions
from bernstein.core.sessions import outcome
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.tasks import cancel, retention
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key
from tests.model.approvals.repairs import QUESTIONS
from tests.model.checks.repairs import CHECKS
from tests.model.cluster.store import Store
from tests.model.pins.repairs import PINS

Mutation = Callable[[], AbstractContextManager[None]]


def _never(*_: Any) -> bool:
    return False


@contextmanager
def live_list() -> Iterator[None]:
    """An end without a pod is believed from what two streams show."""
    view, of = JobViews._view, JobViews.of

    def believed(self: JobViews, *args: Any) -> JobView:
        found = view(self, *args)
        ended = found.complete or found.failed is not None
        return replace(found, no_pod=True) if ended and found.pod is None else found

    async def unexpecting(self: JobViews, owner: Any, now: datetime, *_: Any) -> Any:
        return await of(self, owner, now)

    with patch.object(JobViews, "_view", believed), patch.object(JobViews, "of", unexpecting):
        yield


@contextmanager
def certain_end() -> Iterator[None]:
    """A pod that was told to end counts as ended."""

    def gone(*_: Any) -> runs.State:
        return runs.State.GONE

    with patch.object(runs, "_told_to_end", gone):
        yield


@contextmanager
def lost_nodes() -> Iterator[None]:
    """A node that is silent is waited for."""

    def told(job: JobView, pod: Object, now: datetime) -> runs.State:
        bound = pod.get("spec", {}).get("nodeName")
        return runs.State.ABANDONED if bound else runs.State.GONE

    with patch.object(runs, "_told_to_end", told), patch.object(runs, "is_overdue", _never):
        yield


@contextmanager
def refusals() -> Iterator[None]:
    """What is refused is asked for again and again."""

    def unheard(*_: Any) -> AbstractContextManager[None]:
        return nullcontext()

    with patch.object(job_actions, "refusable", unheard):
        yield


@contextmanager
def fences() -> Iterator[None]:
    """The name of a Job that may still be made by a late request stays free."""
    launch, land = sessions._launch, landing._land

    def unfenced(snapshot: Any, status: Any, now: datetime) -> sessions.SessionDecision:
        decision = launch(snapshot, status, now)
        if not any(isinstance(action, RunFence) for action in decision.actions):
            return decision
        return sessions._never_started(status, "Cancelled", "never started", now)

    def unfenced_landing(status: Any, way: Any, forbids: Any, now: datetime) -> Any:
        step = land(status, way, forbids, now)
        actions = getattr(step, "actions", ())
        if not any(isinstance(action, RunFence) for action in actions):
            return step
        return OnItsWay(forbids(status) or landing.without_turn(status))

    with (
        patch.object(sessions, "_launch", unfenced),
        patch.object(landing, "_land", unfenced_landing),
    ):
        yield


@contextmanager
def vanished_jobs() -> Iterator[None]:
    """The name of an agent's Job that somebody deleted stays free."""
    with patch.object(sessions, "_may_come_again", lambda _: False):
        yield


@contextmanager
def check_fences() -> Iterator[None]:
    """A cancel leaves the names of checks free that a late request may still make."""

    nothing: tuple[RunFence, ...] = ()
    with (
        patch.object(cancel, "_fences", lambda *_: nothing),
        patch.object(plans, "_fences", lambda *_: nothing),
    ):
        yield


@contextmanager
def uncertain_writes() -> Iterator[None]:
    """A write without an answer was not applied, and is not."""

    with unanswered_statuses(), patch.object(Guard, "uncertain", lambda *_: None):
        yield


@contextmanager
def unanswered_statuses() -> Iterator[None]:
    """What is done rests on a status in whose place another one may come that had no answer."""

    with patch.object(Guard, "said", lambda *_: None):
        yield


@contextmanager
def inherited_statuses() -> Iterator[None]:
    """What is done rests on a status in whose place one of the process before may come."""

    with patch.object(Guard, "inherited", lambda *_: []):
        yield


@contextmanager
def late_claims() -> Iterator[None]:
    """A claim counts, whichever process has sent it, and whenever it comes."""
    with patch.object(Claims, "is_late", _never):
        yield


@contextmanager
def ordered_refresh() -> Iterator[None]:
    """What was read live is put into the cache, whatever has come since."""

    async def refresh(self: Informer, key: Key) -> None:
        listed = await self._client.list(
            self.resource, key.namespace, field_selector=f"metadata.name={key.name}"
        )
        cached = self._cache.get(key)
        if listed.items:
            self._cache.update(listed.items[0])
        elif cached is not None:
            self._cache.delete(cached)

    with patch.object(Informer, "refresh", refresh):
        yield


@contextmanager
def plan_jobs() -> Iterator[None]:
    """A cancelled Plan does not wait for its own Jobs."""
    cancel_plan = plans._cancel

    def at_once(snapshot: PlanSnapshot, status: Any, now: datetime) -> PlanDecision:
        jobs: Mapping[str, JobView] = snapshot.jobs if landing.has_started(status) else {}
        return cancel_plan(replace(snapshot, jobs=jobs), status, now)

    with patch.object(plans, "_cancel", at_once):
        yield


@contextmanager
def job_deletions() -> Iterator[None]:
    """A Job that is being deleted has no pod where the cache shows none."""
    without_pod = runs._without_pod

    def believed(job: JobView) -> runs.State:
        return runs.State.GONE if job.deleting else without_pod(job)

    with patch.object(runs, "_without_pod", believed):
        yield


@contextmanager
def ended_sessions() -> Iterator[None]:
    """A session ends when its run is given up, not when that is over."""
    alive = sessions._alive

    def at_once(session: Any, job: JobView, status: Any, now: datetime) -> Any:
        decision = alive(session, job, status, now)
        why = decision.status.abandoned
        if why is None:
            return decision
        ran = job.pod is not None and pods.has_started(job.pod, AGENT)
        end = outcome.failed(why.reason, why.message, started=ran)
        return sessions._end(decision.status, outcome.Ending(end), now)

    with patch.object(sessions, "_alive", at_once):
        yield


def _judged_at_once(*args: Any) -> Any:
    """What a Job that moves refs is judged by, without its end."""
    result = job_result.result_of(*args)
    if isinstance(result, job_result.Unfinished) and result.abandoned is not None:
        return Diagnosis(result.abandoned.reason, result.abandoned.message)
    return result


@contextmanager
def ended_landings() -> Iterator[None]:
    """A landing has failed when its Job is given up, not when its run is over."""
    with patch.object(landing, "result_of", _judged_at_once):
        yield


@contextmanager
def given_up_names() -> Iterator[None]:
    """The name of a Job that moves refs is free once that was given up."""
    with patch.object(job_result, "_may_come_again", lambda *_: False):
        yield


@contextmanager
def ended_begins() -> Iterator[None]:
    """A Plan begins again when its Job is given up, not when its run is over."""
    with patch.object(begin, "result_of", _judged_at_once):
        yield


@contextmanager
def landing_doubts() -> Iterator[None]:
    """A land Job without a result has landed nothing."""
    with patch.object(landing, "may_have_landed", _never):
        yield


@contextmanager
def late_sessions() -> Iterator[None]:
    """A session is launched although its Task does not name it any more."""

    def any_of_its_task(session: Any, task: Any, project: Any) -> bool:
        return task is not None and project is not None

    with (
        patch.object(sessions, "is_launchable", any_of_its_task),
        patch.object(controller, "is_launchable", any_of_its_task),
    ):
        yield


@contextmanager
def overdue_runs() -> Iterator[None]:
    """A run that its node does not end in time is waited for."""
    with patch.object(runs, "is_overdue", _never):
        yield


@contextmanager
def orphan_policy() -> Iterator[None]:
    """The chart is installed without its admission policies: a pod may be left without its Job."""

    def none(_: Store) -> None: ...

    with patch.object(Store, "admit_orphans", none), vanished_jobs():
        yield


@contextmanager
def kept_for_others() -> Iterator[None]:
    """A Task whose time is over is deleted, whoever waits for it."""
    due_at = retention.due_at

    def alone(snapshot: TaskSnapshot) -> datetime | None:
        return due_at(replace(snapshot, dependants=()))

    with patch.object(retention, "due_at", alone):
        yield


@contextmanager
def single_probes() -> Iterator[None]:
    """A Project that was changed is tried at once, whatever still tries it."""
    beside = patch.object(probing, "_end_others", lambda *_: ())
    with beside, patch.object(probing, "_is_alone", lambda *_: True):
        yield


@contextmanager
def launched_sessions() -> Iterator[None]:
    """Of a session's Job nobody knows but its status, which tells of it later."""
    begin = controller.SessionController.__init__

    class Nothing(set[str]):
        def add(self, _: str) -> None: ...

    def forgetful(self: controller.SessionController, context: Context) -> None:
        begin(self, context)
        self._launched = Nothing()

    with patch.object(controller.SessionController, "__init__", forgetful):
        yield


@contextmanager
def live_losses() -> Iterator[None]:
    """A pod is lost by what its stream has shown of it."""

    def none(*_: Any) -> tuple[Key, ...]:
        return ()

    with patch.object(job_views, "_seem_lost", none):
        yield


@contextmanager
def live_runs() -> Iterator[None]:
    """What was read of runs is forgotten, and what a late stream shows of them is believed."""

    with patch.object(Informer, "take", lambda *_: None):
        yield


REPAIRS: Mapping[str, Mutation] = {
    mutation.__name__.replace("_", "-"): mutation
    for mutation in (
        live_list,
        certain_end,
        lost_nodes,
        refusals,
        fences,
        vanished_jobs,
        check_fences,
        uncertain_writes,
        unanswered_statuses,
        inherited_statuses,
        late_claims,
        ordered_refresh,
        plan_jobs,
        job_deletions,
        ended_sessions,
        ended_landings,
        ended_begins,
        given_up_names,
        landing_doubts,
        late_sessions,
        overdue_runs,
        orphan_policy,
        kept_for_others,
        single_probes,
        launched_sessions,
        live_losses,
        live_runs,
        *CHECKS,
        *PINS,
        *QUESTIONS,
    )
}
