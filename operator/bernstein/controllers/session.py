"""AgentSession controller: Jobs and their pods become outcomes."""

from __future__ import annotations

from datetime import UTC, datetime

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.controllers import conflicts, network_policies
from bernstein.controllers.caches import SESSION, Caches
from bernstein.controllers.jobs.agent import agent_job, prompt_config_map
from bernstein.controllers.kinds import SESSIONS
from bernstein.controllers.settings import Settings
from bernstein.controllers.snapshots import task_snapshot
from bernstein.controllers.writer import Writer
from bernstein.core import delivery
from bernstein.core.prompt import prompt
from bernstein.core.session import (
    Decision,
    DeleteJob,
    Intent,
    Launch,
    ReleasePod,
    ReleaseSession,
    Snapshot,
    decide,
    is_settled,
    refuse,
)
from bernstein.core.spend import cost_of
from bernstein.kube.errors import NameConflict
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import CONFIG_MAPS, JOBS, PODS, Key, Object
from bernstein.observe import logging
from bernstein.observe.metrics import Metrics

log = logging.logger(__name__)


class SessionController:
    def __init__(
        self, caches: Caches, writer: Writer, settings: Settings, metrics: Metrics
    ) -> None:
        self._caches = caches
        self._writer = writer
        self._settings = settings
        self._metrics = metrics

    async def reconcile(self, key: Key) -> Result:
        obj = self._caches.sessions.informer.get(key)
        if obj is None:
            await self._release(key)
            return Result()
        session = self._caches.sessions.of(obj)
        now = datetime.now(UTC)
        jobs = await self._caches.jobs_of(session.metadata.uid, now)
        launchable = await self._launchable(session)
        job = jobs.get(session.status.job or session.metadata.name)
        snapshot = Snapshot(session, job, launchable, self._is_settled(session))
        decision = decide(snapshot, now)
        try:
            for intent in decision.intents:
                await self._execute(key, obj, session, intent)
        except NameConflict as conflict:
            text = conflicts.describe(conflict)
            decision = refuse(snapshot, conflicts.REASON, text, now)
        await self._record(key, obj, session, decision)
        if session.status.state is SessionState.DEAD and (job is None or job.pod is None):
            await self._release(key)
        return Result(decision.requeue_after)

    def _is_settled(self, session: AgentSession) -> bool:
        spec, namespace = session.spec, session.metadata.namespace
        task = self._caches.tasks.get(Key(namespace, spec.task_ref.name))
        ref = spec.plan_ref
        plan = self._caches.plans.get(Key(namespace, ref.name)) if ref is not None else None
        return is_settled(session, task, plan)

    async def _launchable(self, session: AgentSession) -> bool:
        namespace = session.metadata.namespace
        task = self._caches.tasks.get(Key(namespace, session.spec.task_ref.name))
        project = self._caches.projects.get(Key(namespace, session.spec.project))
        if task is None or project is None or task.metadata.uid != session.spec.task_ref.uid:
            return False
        return project.spec.agent(session.spec.agent) is not None

    async def _release(self, key: Key) -> None:
        """A session that is over, or was deleted, records nothing more: its pods may go.

        All of them, also where their Job was deleted before.
        """
        for pod in self._caches.pods.by_index(SESSION, key.name):
            if pod["metadata"]["namespace"] == key.namespace:
                await self._writer.release(key, PODS, pod)

    async def _execute(self, key: Key, obj: Object, session: AgentSession, intent: Intent) -> None:
        match intent:
            case Launch():
                await self._launch(key, session)
            case DeleteJob(job):
                await self._writer.delete_job(key, job)
            case ReleasePod():
                await self._release(key)
            case ReleaseSession():
                await self._writer.release(key, SESSIONS, obj)

    async def _launch(self, key: Key, session: AgentSession) -> None:
        snapshot = await task_snapshot(
            self._caches, Key(key.namespace, session.spec.task_ref.name), datetime.now(UTC)
        )
        assert snapshot is not None
        assert snapshot.project is not None
        agent = snapshot.project.spec.agent(session.spec.agent)
        assert agent is not None
        goes_on = session.spec.resume_ref is not None
        text = prompt(snapshot.task, session.spec.attempt, goes_on=goes_on)
        commit = delivery.commit_message(snapshot, key.name, session.spec.attempt)
        await self._writer.create(
            key, CONFIG_MAPS, prompt_config_map(session, text, self._settings)
        )
        await network_policies.ensure(
            key, snapshot.project, self._caches, self._writer, self._settings
        )
        job = agent_job(session, snapshot.project, agent, commit, self._settings)
        await self._writer.create(key, JOBS, job)

    async def _record(
        self,
        key: Key,
        obj: Object,
        session: AgentSession,
        decision: Decision,
    ) -> None:
        status = decision.status.dump()
        if not await self._writer.status(key, SESSIONS, obj, status, preserve=("report",)):
            return
        old, new = session.status.state, decision.status.state
        if old == new:
            return
        log.info(
            "session moved",
            uid=session.metadata.uid,
            attempt=session.spec.attempt,
            task=session.spec.task_ref.name,
            before=old,
            after=new,
            reason=decision.status.outcome.reason if decision.status.outcome else None,
        )
        adapter = session.spec.adapter
        if new is SessionState.STARTING:
            self._metrics.session_started(key.namespace, adapter)
        if new is SessionState.DEAD and decision.status.outcome is not None:
            self._ended(key, obj, session, decision)

    def _ended(
        self,
        key: Key,
        obj: Object,
        session: AgentSession,
        decision: Decision,
    ) -> None:
        outcome, usage = decision.status.outcome, decision.status.usage
        assert outcome is not None
        adapter = session.spec.adapter
        self._metrics.session_ended(key.namespace, adapter, outcome.reason)
        if usage is not None:
            project = self._caches.projects.get(Key(key.namespace, session.spec.project))
            ended = session.model_copy(update={"status": decision.status})
            self._metrics.spent(key.namespace, adapter, cost_of(ended, project))
            self._metrics.tokens(
                key.namespace,
                adapter,
                input=usage.input,
                output=usage.output,
                cache_read=usage.cache_read,
                cache_write=usage.cache_write,
            )
        self._writer.events.record(
            obj,
            reason=outcome.reason,
            message=outcome.message or f"attempt {session.spec.attempt} ended",
            action="EndSession",
            warning=outcome.reason != "Succeeded",
        )
