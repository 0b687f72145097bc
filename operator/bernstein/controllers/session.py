"""AgentSession controller: Jobs and their pods become outcomes."""

from __future__ import annotations

from datetime import UTC, datetime

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.controllers.caches import Caches
from bernstein.controllers.jobs.agent import agent_job, prompt_config_map
from bernstein.controllers.kinds import SESSIONS
from bernstein.controllers.settings import Settings
from bernstein.controllers.snapshots import task_snapshot
from bernstein.controllers.writer import Writer
from bernstein.core import delivery, names
from bernstein.core.pods import JobView
from bernstein.core.prompt import prompt
from bernstein.core.session import Decision, DeleteJob, Intent, Launch, ReleasePod, Snapshot, decide
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Key, Object
from bernstein.observe.metrics import Metrics


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
            await self._release_orphans(key)
            return Result()
        session = self._caches.sessions.of(obj)
        now = datetime.now(UTC)
        jobs = await self._caches.jobs_of(session.metadata.uid, now)
        launchable = await self._launchable(session)
        job = jobs.get(session.status.job or session.metadata.name)
        decision = decide(Snapshot(session, job, launchable), now)
        for intent in decision.intents:
            await self._execute(key, session, intent)
        await self._record(key, obj, session, decision, job)
        return Result(decision.requeue_after)

    async def _launchable(self, session: AgentSession) -> bool:
        namespace = session.metadata.namespace
        task = self._caches.tasks.get(Key(namespace, session.spec.task_ref.name))
        project = self._caches.projects.get(Key(namespace, session.spec.project))
        if task is None or project is None or task.metadata.uid != session.spec.task_ref.uid:
            return False
        return project.spec.agent(session.spec.agent) is not None

    async def _release_orphans(self, key: Key) -> None:
        """A session that was deleted records nothing more: its pods may go."""
        for pod in self._caches.pods.objects(key.namespace):
            if pod["metadata"].get("labels", {}).get(names.LABEL_SESSION) == key.name:
                await self._writer.release(key, pod)

    async def _execute(self, key: Key, session: AgentSession, intent: Intent) -> None:
        match intent:
            case Launch():
                await self._launch(key, session)
            case DeleteJob(job):
                await self._writer.delete_job(key, job)
            case ReleasePod(job):
                if job.pod is not None:
                    await self._writer.release(key, dict(job.pod))

    async def _launch(self, key: Key, session: AgentSession) -> None:
        snapshot = await task_snapshot(
            self._caches, Key(key.namespace, session.spec.task_ref.name), datetime.now(UTC)
        )
        assert snapshot is not None
        assert snapshot.project is not None
        agent = snapshot.project.spec.agent(session.spec.agent)
        assert agent is not None
        text = prompt(snapshot.task, session.spec.attempt)
        commit = delivery.commit_message(snapshot, key.name, session.spec.attempt)
        await self._writer.create(
            key, CONFIG_MAPS, prompt_config_map(session, text, self._settings)
        )
        job = agent_job(session, snapshot.project, agent, commit, self._settings)
        await self._writer.create(key, JOBS, job)

    async def _record(
        self,
        key: Key,
        obj: Object,
        session: AgentSession,
        decision: Decision,
        job: JobView | None,
    ) -> None:
        status = decision.status.dump()
        if not await self._writer.status(key, SESSIONS, obj, status, preserve=("report",)):
            return
        old, new = session.status.state, decision.status.state
        if old == new:
            return
        adapter = session.spec.adapter
        if new is SessionState.STARTING:
            self._metrics.session_started(key.namespace, adapter)
        if new is SessionState.DEAD and decision.status.outcome is not None:
            self._ended(key, obj, session, decision, job)

    def _ended(
        self,
        key: Key,
        obj: Object,
        session: AgentSession,
        decision: Decision,
        job: JobView | None,
    ) -> None:
        outcome, usage = decision.status.outcome, decision.status.usage
        assert outcome is not None
        adapter = session.spec.adapter
        self._metrics.session_ended(key.namespace, adapter, outcome.reason)
        if usage is not None:
            self._metrics.tokens(
                key.namespace,
                adapter,
                input=usage.input,
                output=usage.output,
                cache_read=usage.cache_read,
                cache_write=usage.cache_write,
            )
        if job is not None and decision.status.started_at is not None:
            took = (datetime.now(UTC) - decision.status.started_at).total_seconds()
            good = "succeeded" if outcome.reason == "Succeeded" else "failed"
            self._metrics.job_finished("agent", good, took)
        self._writer.events.record(
            obj,
            reason=outcome.reason,
            message=outcome.message or f"attempt {session.spec.attempt} ended",
            action="EndSession",
            warning=outcome.reason != "Succeeded",
        )
