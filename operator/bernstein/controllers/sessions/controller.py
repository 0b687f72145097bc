"""Reconciles AgentSessions: makes their Jobs, and records how their pods ended."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.controllers import execution, job_actions, network_policies
from bernstein.controllers.caches.indexes import SESSION
from bernstein.controllers.jobs.agent import agent_job, prompt_config_map
from bernstein.controllers.jobs.fence import fence_job
from bernstein.controllers.logs import agents as agent_logs
from bernstein.controllers.logs import documents
from bernstein.controllers.predicates import session_matters
from bernstein.controllers.sessions import prompts, usage_metrics
from bernstein.controllers.sessions.watches import watches
from bernstein.controllers.snapshots import task_snapshot
from bernstein.controllers.wiring import Context, KindController, Watch
from bernstein.core import runs
from bernstein.core.actions import RunFence
from bernstein.core.delivery import task as delivery
from bernstein.core.jobs import JobView
from bernstein.core.owners import owner_reference
from bernstein.core.prompts.assembly import Told
from bernstein.core.sessions import prompt
from bernstein.core.sessions.actions import (
    DeleteJob,
    KeepDocuments,
    KeepLog,
    Launch,
    ReleasePods,
    ReleaseSession,
    SessionAction,
)
from bernstein.core.sessions.dead import is_done
from bernstein.core.sessions.decide import (
    SessionDecision,
    SessionSnapshot,
    decide,
    expected_job,
    is_launchable,
    is_settled,
    refuse,
    with_refusal,
)
from bernstein.core.sessions.reading import REPORTED, judgement
from bernstein.kube.errors import NameConflict, WriteRefused
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Due, Result
from bernstein.kube.resource import JOBS, PODS, Key, Object, Resource, uid_of
from bernstein.observe import logging
from bernstein.resources import SESSIONS, TASKS

log = logging.logger(__name__)


NOTED_SECONDS = 1.0
"""Until a session that is being deleted looks again whether its ref is known elsewhere."""


class SessionController(KindController):
    NAME: ClassVar[str] = "agentsession"

    @property
    def primary(self) -> Informer:
        return self._caches.sessions.informer

    def rests_on(self, key: Key) -> Iterable[tuple[Resource, Key]]:
        """Also on its Task, which names the session that may have a Job."""
        yield SESSIONS, key
        obj = self._caches.sessions.informer.get(key)
        if obj is not None:
            task = self._caches.sessions.of(obj).spec.task_ref
            yield TASKS, Key(key.namespace, task.name)

    def matters(self, old: Object | None, new: Object | None) -> bool:
        return session_matters(old, new)

    def watches(self) -> Iterable[Watch]:
        return watches(self._caches)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._launched: set[str] = set()
        """Uids of sessions that are not over, whose Job this process has made or seen."""
        self._older: frozenset[str] = frozenset()
        """Uids of sessions that were there before this process led, and not over: another one may
        have made their Jobs."""

    def begin(self) -> None:
        self._older = frozenset(uid_of(obj) for obj in self._caches.sessions.informer.going())

    def first_look(self) -> Due:
        caches, (known, judged) = self._caches, self._caches.first_look.take_sessions()

        def due(key: Key) -> float:
            session = known.get(key)
            if session is None or session.revision != caches.sessions.informer.revision_shown(key):
                return 0.0
            told, dead = judged.get(key), session.dead
            its_task = Key(key.namespace, dead.task)
            if told is None and caches.tasks.informer.revision_shown(its_task) is not None:
                return 0.0  # how that judges it is not known here
            is_its = told is not None and told.task_uid == dead.task_uid
            judgement = told.judgement if told is not None and is_its else None
            has_pods = caches.job_views.knows_any(session.uid) or any(self._pods(key))
            now = self._context.now()
            return math.inf if is_done(dead, judgement, has_pods=has_pods, now=now) else 0.0

        return due

    async def reconcile(self, key: Key) -> Result:
        obj = self._caches.sessions.informer.get(key)
        if obj is None:
            await self._release(key)
            return Result()
        session = self._caches.sessions.of(obj)
        now = self._context.now()
        jobs = await self._caches.job_views.of(session.metadata, now, self._expected(session))
        name = session.status.job or session.metadata.name
        self._note(session, jobs.get(name))
        launchable = await self._launchable(session)
        task = self._caches.tasks.get(Key(key.namespace, session.spec.task_ref.name))
        judged = judgement(session, task)
        late = job_actions.late_requests(self._context, key.namespace).may_make(name)
        settled = self._is_settled(session)
        project = self._project(session)
        snapshot = SessionSnapshot(
            session,
            jobs.get(name),
            launchable,
            settled,
            judged,
            late,
            launched=session.metadata.uid in self._launched,
            kept=project.spec.retention if project is not None else None,
        )
        decision, refused = await self._carried_out(key, obj, snapshot, now)
        await self._record(key, obj, session, decision)
        if refused is not None and session.status.state is SessionState.DEAD:
            raise refused  # how it ended stays in its status
        return Result(self._again(session, decision))

    async def _carried_out(
        self, key: Key, obj: Object, snapshot: SessionSnapshot, now: datetime
    ) -> tuple[SessionDecision, WriteRefused | None]:
        """The decision, executed, and what the API server refused to change."""
        decision = decide(snapshot, now)
        try:
            refused = await self._execute_all(key, obj, snapshot.session, decision.actions)
        except NameConflict as conflict:
            text = execution.describe(conflict)
            return refuse(snapshot, Reason.NAME_CONFLICT, text, now), None
        except job_actions.Refused as refusal:
            if snapshot.session.status.job is None and not snapshot.launched:
                return refuse(snapshot, Reason.POD_REJECTED, str(refusal), now), None
            return await self._carried_out(key, obj, replace(snapshot, unfenceable=True), now)
        why = str(refused) if refused is not None else None
        return with_refusal(decision, why, now), refused

    async def _execute_all(
        self, key: Key, obj: Object, session: AgentSession, actions: Iterable[SessionAction]
    ) -> WriteRefused | None:
        """All of them, whatever is refused on the way: a pod that may not be let go is to end all
        the same. But the session itself goes last.

        Returns the first refusal of a change.
        """
        first: WriteRefused | None = None
        for action in actions:
            if first is not None and isinstance(action, ReleaseSession):
                break
            try:
                await self._execute(key, obj, session, action)
            except WriteRefused as refused:
                first = first or refused
        return first

    def _expected(self, session: AgentSession) -> str | None:
        """The Job that is looked for with a live read where no cache shows it.

        What a session says of its Job is written with what comes of it. Until then this process
        knows which it has made; of those that another one may have made, the API server does.
        """
        uid = session.metadata.uid
        return expected_job(session, may_have_one=uid in self._launched or uid in self._older)

    def _note(self, session: AgentSession, job: JobView | None) -> None:
        uid = session.metadata.uid
        if session.status.state is SessionState.DEAD:
            self._launched.discard(uid)
        elif job is not None and not runs.is_fence(job):
            self._launched.add(uid)

    def _again(self, session: AgentSession, decision: SessionDecision) -> float | None:
        """When to look again: nobody tells that its ref is noted."""
        if self._is_noted(session) or decision.requeue_after == 0:
            return decision.requeue_after
        return min(NOTED_SECONDS, decision.requeue_after or NOTED_SECONDS)

    def _project(self, session: AgentSession) -> Project | None:
        return self._caches.projects.get(Key(session.metadata.namespace, session.spec.project))

    def _is_settled(self, session: AgentSession) -> bool:
        spec, namespace = session.spec, session.metadata.namespace
        task = self._caches.tasks.get(Key(namespace, spec.task_ref.name))
        ref = spec.plan_ref
        plan = self._caches.plans.get(Key(namespace, ref.name)) if ref is not None else None
        return is_settled(session, task, plan) and self._is_noted(session)

    def _is_noted(self, session: AgentSession) -> bool:
        """Whether its ref is known to who deletes refs, as soon as it may go."""
        project = self._project(session)
        if project is None or project.metadata.deletion_timestamp is not None:
            return True
        if session.metadata.deletion_timestamp is None or not project.spec.retention.refs_seconds:
            return True
        return self._caches.kept_refs.is_noted(session)

    async def _launchable(self, session: AgentSession) -> bool:
        if session.status.job is not None or session.metadata.uid in self._launched:
            return False
        task = Key(session.metadata.namespace, session.spec.task_ref.name)
        if await self._may_launch(session, task):
            return True
        # The Task's status names the session before that is made, but comes by another stream.
        await self._caches.tasks.informer.refresh(task)
        return await self._may_launch(session, task)

    async def _may_launch(self, session: AgentSession, task: Key) -> bool:
        snapshot = await task_snapshot(self._caches, task, self._context.now())
        return snapshot is not None and is_launchable(session, snapshot.task, snapshot.project)

    async def _release(self, key: Key) -> None:
        """Lets all pods of a session go that is over or deleted: nothing more is recorded of it.

        Also pods whose Job was deleted before them.
        """
        for pod in self._pods(key):
            await self._writer.release(key, PODS, pod)

    def _pods(self, key: Key) -> list[Object]:
        """Those in which the agent of the session runs, or ran."""
        beside = self._caches.pods.by_index(SESSION, key.name)
        return [pod for pod in beside if pod["metadata"]["namespace"] == key.namespace]

    async def _execute(
        self, key: Key, obj: Object, session: AgentSession, action: SessionAction
    ) -> None:
        match action:
            case Launch():
                await self._launch(key, session)
            case RunFence(name):
                meta = session.metadata
                owner = owner_reference(SESSIONS.kind, meta.name, meta.uid)
                fence = fence_job(name, key.namespace, owner, self._context.settings)
                with job_actions.refusable(JOBS, name, key, self._context):
                    await self._writer.create(key, JOBS, fence)
            case DeleteJob(job):
                await self._writer.delete_job(key, job)
            case KeepLog(pod):
                await agent_logs.keep(key, session, pod, self._context)
            case KeepDocuments():
                await documents.keep(key, session, action, self._context)
            case ReleasePods():
                await self._release(key)
            case ReleaseSession():
                await self._writer.release(key, SESSIONS, obj)

    async def _launch(self, key: Key, session: AgentSession) -> None:
        snapshot = await task_snapshot(
            self._caches, Key(key.namespace, session.spec.task_ref.name), self._context.now()
        )
        assert snapshot is not None
        assert snapshot.project is not None
        agent = snapshot.project.spec.agent(session.spec.agent)
        assert agent is not None
        texts = prompt.of_snapshot(snapshot, session.spec.attempt, session.spec.resume_ref)
        commit = delivery.commit_message(snapshot, key.name, session.spec.attempt)
        context, told = snapshot.task.spec.context_files, await self._told(key, snapshot.project)
        config_map = prompt_config_map(session, texts, context, self._context.settings, told)
        job = agent_job(session, snapshot.project, agent, commit, self._context.settings)
        with job_actions.refusable(JOBS, key.name, key, self._context):
            await prompts.put(self._writer, key, config_map, session.spec.role_digest)
            await network_policies.ensure(key, snapshot.project, self._context)
            await self._writer.create(key, JOBS, job)
        self._launched.add(session.metadata.uid)
        if session.status.state is SessionState.STARTING:
            _log_move(session, None, SessionState.STARTING)  # born so: no write tells of it
        self._metrics.session_started(key.namespace, session.spec.adapter)

    async def _told(self, key: Key, project: Project) -> tuple[Told, ...]:
        """What the Project tells all its agents, as it is now."""
        asked, reader = project.spec.knowledge, self._context.knowledge
        if not asked or reader is None:
            return ()
        return await reader.read(key.namespace, asked)

    async def _record(
        self,
        key: Key,
        obj: Object,
        session: AgentSession,
        decision: SessionDecision,
    ) -> None:
        if decision.status == session.status:
            return
        status = decision.status.dump()
        if not await self._writer.status(key, SESSIONS, obj, status, preserve=("report",)):
            return
        old, new = session.status.state, decision.status.state
        if old == new:
            return
        outcome = decision.status.outcome
        _log_move(session, old, new, outcome.reason if outcome is not None else None)
        if new is SessionState.DEAD and decision.status.outcome is not None:
            self._ended(key, obj, session, decision)

    def _ended(
        self,
        key: Key,
        obj: Object,
        session: AgentSession,
        decision: SessionDecision,
    ) -> None:
        outcome = decision.status.outcome
        assert outcome is not None
        self._metrics.session_ended(key.namespace, session.spec.adapter, outcome.reason)
        ended = session.model_copy(update={"status": decision.status})
        usage_metrics.count(self._metrics, self._caches, ended, self._project(session))
        if outcome.reason == REPORTED:
            return  # its Task tells that it is Done
        self._writer.events.record(
            obj,
            reason=outcome.reason,
            # What the agent or a server said of it stands in the status alone.
            message=f"attempt {session.spec.attempt} ended; its status.outcome says how",
            action="EndSession",
            warning=True,
        )


def _log_move(
    session: AgentSession,
    before: SessionState | None,
    after: SessionState | None,
    reason: str | None = None,
) -> None:
    log.info(
        "session moved",
        uid=session.metadata.uid,
        attempt=session.spec.attempt,
        task=session.spec.task_ref.name,
        before=before,
        after=after,
        reason=reason,
    )
