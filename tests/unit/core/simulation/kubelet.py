"""Pods are played: what happens next to each, as its fate says."""

from __future__ import annotations

from typing import Any

from bernstein.api import pod as protocol
from bernstein.api.session import AgentSession
from bernstein.core.actions import (
    RunBegin,
    RunCheck,
    RunFence,
    RunFormat,
    RunInspect,
    RunJudge,
    RunLand,
    RunPrepare,
)
from tests.unit.core import objects
from tests.unit.core.simulation.state import TOKENS, Job, State


class Kubelet(State):
    def play(self, name: str, fate: str = "good") -> bool:
        """The next thing that happens to the Job's pod; whether anything did."""
        job = self.jobs[name]
        if job.deleting and (job.pod is None or job.ended):
            if job.held:
                return False
            del self.jobs[name]
            return True
        if job.deleting:
            self._finish(job, *self._partial(job), deleting=True)
            return True
        if job.ended:
            return False
        if fate == "deleted":
            job.deleting = True
            return True
        if job.pod is None:
            job.held = job.role == "agent"
            job.pod = self._pending(job, fate)
            return True
        if job.phase == "Pending":
            return self._start(job, fate)
        self._end(job, fate)
        return True

    def _pod(self, job: Job, *containers: objects.Object, **more: Any) -> objects.Object:
        made = objects.pod(*containers, **more)
        self._name(job, made)
        return made

    def _name(self, job: Job, pod: objects.Object) -> None:
        pod["metadata"] |= {"name": job.name, "uid": f"{job.uid}-pod"}
        pod["metadata"]["creationTimestamp"] = self.now.isoformat()

    def _pending(self, job: Job, fate: str) -> objects.Object:
        main = job.main
        if fate == "stuck":
            bad = objects.waiting(main, "ImagePullBackOff", "no such image")
            return self._pod(job, bad, phase="Pending")
        return self._pod(job, objects.waiting(main), phase="Pending")

    def _start(self, job: Job, fate: str) -> bool:
        assert job.pod is not None
        waits = job.pod["status"]["containerStatuses"][0]["state"]["waiting"]
        if waits["reason"] == "ImagePullBackOff" and fate != "healed":
            return False
        if isinstance(job.wants, AgentSession):
            job.base = self.remote.refs[job.wants.spec.base_ref]
        ready = objects.running(job.main, self.now)
        job.pod = self._pod(job, objects.ended("checkout"), ready)
        return True

    def _finish(self, job: Job, *containers: objects.Object, **more: Any) -> None:
        job.pod = self._pod(job, *containers, **({"phase": "Failed"} | more))

    def _partial(self, job: Job) -> tuple[objects.Object, ...]:
        """What is left of containers that were told to end."""
        if not job.runs:
            return (objects.waiting(job.main),)
        if job.role == "agent":
            self.seen.spent[job.task] += 1
            said = objects.recorded(usage=TOKENS, stopped="Cancelled")
            return (objects.ended("recorder", said=said), objects.ended("agent", 143))
        return (objects.ended(job.main, 143),)

    def _end(self, job: Job, fate: str) -> None:
        match job.wants:
            case AgentSession():
                self._end_agent(job, job.wants, fate)
            case RunCheck():
                self._end_check(job, job.wants, fate)
            case RunInspect() | RunJudge() | RunFence():
                raise AssertionError("in this world nothing of the kind has a pod")
            case _:
                self._end_merge(job, job.wants, fate)

    def _end_agent(self, job: Job, wanted: AgentSession, fate: str) -> None:
        if fate == "checkout":
            unreachable = objects.failed("checkout", "RepositoryUnreachable")
            self._finish(job, unreachable, objects.waiting("agent"))
            return
        self.seen.spent[job.task] += 1
        if fate in ("disrupted", "lost"):
            said = objects.ended("recorder", said=objects.recorded(usage=TOKENS))
            self._finish(job, said, objects.ended("agent", 143), disrupted=True)
            return
        final = {
            "bad": protocol.FinalRecord("AgentFailed", "it cannot be done"),
            "blocked": protocol.FinalRecord("Blocked", "the API"),
            "limited": protocol.FinalRecord("UsageLimited", "come back later", retry_after=600),
        }.get(fate, protocol.FinalRecord("Succeeded"))
        task = self.tasks.get(wanted.spec.task_ref.name)
        path = task.spec.files[0] if task is not None else "late.py"
        change = {} if fate == "empty" else {path: f"{wanted.metadata.name} {job.uid}"}
        out = self.remote.push_work(wanted.spec.work_ref, job.base, change)
        changed = self.remote.changed(out.base, out.sha, self.project.spec.protected_paths)
        seen = objects.recorded(
            base=out.base, sha=out.sha, tree=out.tree, changed=changed, usage=TOKENS, final=final
        )
        pusher = objects.ended("pusher", said=out)
        if fate == "refused":
            pusher = objects.failed("pusher", "CredentialRefused")
        agent = objects.ended("agent")
        if fate == "oom":
            agent = objects.ended("agent", 137, reason="OOMKilled")
        said = objects.ended("recorder", said=seen)
        job.pod = objects.over(objects.ended("checkout"), pusher, said, agent)
        self._name(job, job.pod)

    def _end_check(self, job: Job, wanted: RunCheck, fate: str) -> None:
        problem = self.remote.checkout(wanted.ref, wanted.sha)
        if problem is not None:
            first = objects.ended("checkout", 1, said=problem)
            self._finish(job, first, objects.waiting("check"))
            return
        if fate in ("disrupted", "lost"):
            self._finish(job, objects.ended("check", 143), disrupted=True)
            return
        if wanted.compares:
            self._end_comparison(job, wanted, fate)
            return
        code = {"bad": 1, "limited": 127, "empty": 127, "oom": 1}.get(fate, 0)
        if code == 0 and wanted.base is None:
            self.seen.passed.add((wanted.check.digest, wanted.sha))
        phase = "Failed" if code else "Succeeded"
        job.pod = self._pod(
            job, objects.ended("checkout"), objects.ended("check", code), phase=phase
        )

    def _end_comparison(self, job: Job, wanted: RunCheck, fate: str) -> None:
        verdict = {"bad": "Failed", "limited": "Skipped", "empty": "Skipped"}.get(fate, "Passed")
        if verdict == "Passed":
            self.seen.passed.add((wanted.check.digest, wanted.sha))
        said = protocol.CheckVerdict(wanted.check.name, verdict)
        job.pod = self._pod(
            job, objects.ended("checkout"), objects.ended("check", said=said), phase="Succeeded"
        )

    def _end_merge(
        self, job: Job, wanted: RunBegin | RunFormat | RunPrepare | RunLand, fate: str
    ) -> None:
        main = job.main
        if fate == "bad":
            self._finish(job, objects.failed(main, "BranchProtected", "hook declined"))
            return
        if fate == "disrupted":
            self._finish(job, objects.ended(main, 143), disrupted=True)
            return
        result = self._merge(job, wanted)
        if fate == "lost":  # it did its work, and nobody heard of it
            self._finish(job, objects.ended(main, 143), disrupted=True)
            return
        code = 1 if isinstance(result, protocol.Failure) else 0
        phase = "Failed" if code else "Succeeded"
        job.pod = self._pod(job, objects.ended(main, code, said=result), phase=phase)

    def _merge(self, job: Job, wanted: RunBegin | RunFormat | RunPrepare | RunLand) -> Any:
        protected = self.project.spec.protected_paths
        match wanted:
            case RunBegin():
                return self.remote.begin(wanted)
            case RunFormat():
                return self.remote.format(wanted, protected)
            case RunPrepare():
                return self.remote.prepare(wanted, protected)
        before = self.remote.refs[wanted.onto]
        result = self.remote.land(wanted)
        if self.remote.refs[wanted.onto] != before:
            assert (wanted.onto, wanted.sha) not in self.seen.landed, "landed twice"
            self.seen.landed.add((wanted.onto, wanted.sha))
            self.seen.landed_by[job.owner] += 1
        return result
