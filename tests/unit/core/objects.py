"""Objects as the caches hold them: Projects, Plans, Tasks, sessions, Jobs and what pods say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bernstein.api import pod as protocol
from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.api.delivery import Delivery
from bernstein.api.encoding import dump
from bernstein.api.integration import Integration
from bernstein.api.meta import Condition, UsageCounts
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.projects import workplace
from bernstein.api.projects.workplace import Workplace
from bernstein.api.session import AgentSession, AgentSessionStatus, Outcome, Work
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.verification import Verification
from bernstein.checks.changes import digest_of
from bernstein.checks.spec import Subject
from bernstein.core import conditions, labels, names, owners
from bernstein.core.jobs import JobView
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.verification.expected.required import required_checks
from tests.unit.checks.default_gates import only_known
from tests.unit.core.sightings import seen
from tests.unit.core.waits import held as held
from tests.unit.core.waits import waits as waits

Object = dict[str, Any]

NOW = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
NAMESPACE = "team"
PLAN_UID = "11112222-3333-4444-8555-666677778888"
INIT = ("checkout", "pusher", "recorder", "formatter", "collect")


def at(seconds: float) -> datetime:
    """So many seconds after NOW (before it where negative)."""
    return NOW + timedelta(seconds=seconds)


def sha(number: int) -> str:
    return f"{number:040x}"


COMPARED = digest_of(PROTECTED_PATHS)
"""Work was compared with the protected paths of a Project that says nothing of them."""
BASE, HEAD, TREE, TIP = sha(0xBA5E), sha(0x4EAD), sha(0x73EE), sha(0x719)


def metadata(name: str, uid: str, **more: Any) -> Object:
    fields: Object = {"namespace": NAMESPACE, "generation": 1, "creationTimestamp": at(-60)}
    return fields | {"name": name, "uid": uid} | more


def plan_uid(name: str) -> str:
    return PLAN_UID if name == "web" else f"uid-{name}"


def project(name: str = "default", *, generation: int = 1, **spec: Any) -> Workplace:
    """One with one repository, or as it is seen by who works in the first."""
    account = {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")}
    fields: Object = {
        "repositories": [
            {"name": "app", "url": "https://git.example/app.git", "credentials": account}
        ],
        "agents": [{"name": "demo", "adapter": "demo", "image": "agent:1"}],
        "toolchain": {"image": "toolchain:1"},
        "gates": {"pipeline": [{"name": "pii_scan", "enabled": False}]},
        "merge": {"strategy": "direct"},
    }
    fields |= spec
    whole = Project.model_validate(
        {
            "metadata": metadata(name, f"uid-{name}", generation=generation),
            "spec": fields | {"gates": only_known(fields["gates"])},
        }
    )
    return in_first(whole)


def in_first(project: Project) -> Workplace:
    """The Project as it is seen by who works in its first repository."""
    return workplace.at(project, project.spec.repositories[0].name)


def task(
    name: str = "work",
    *,
    plan: str | None = "web",
    status: TaskStatus | None = None,
    created: datetime | None = None,
    **spec: Any,
) -> Task:
    """A Task of the Plan `web`, or of none."""
    owned = [owners.owner_reference("Plan", plan, plan_uid(plan))] if plan is not None else []
    fields: Object = {"title": f"Do {name}", "projectRef": "default", "stage": "build"}
    return Task.model_validate(
        {
            "metadata": metadata(
                name, f"uid-{name}", ownerReferences=owned, creationTimestamp=created or at(-60)
            ),
            "spec": fields | spec,
            "status": (status or TaskStatus()).model_dump(),
        }
    )


def status(state: TaskState | None = TaskState.OPEN, **more: Any) -> TaskStatus:
    """A Task's status, decided upon at least once."""
    fields: Object = {"observed_generation": 1, "project": "default", "state": state}
    return TaskStatus.model_validate(fields | more)


def with_session(state: TaskState, number: int = 1, **more: Any) -> TaskStatus:
    """The status of the Task `work` while its session of that number is the current one."""
    return status(state, sessions=number, session=f"work-s{number}", **more)


EVERYTHING = Subject(*[True] * 4)


def asked(name: str, of: Project | None = None) -> str:
    """What a verdict on this gate is the answer to, as the Project asks for it."""
    specs = {spec.name: spec for spec in required_checks((), (of or project()).spec, EVERYTHING)}
    return specs[name].digest


def gate(name: str, verdict: str = "Passed", of: Project | None = None) -> Object:
    """The verdict of a gate."""
    return {"name": name, "kind": "gate", "verdict": verdict, "asked": asked(name, of)}


def verification(**more: Any) -> Verification:
    fields: Object = {
        "base": BASE,
        "sha": HEAD,
        "tree": TREE,
        "ref": "refs/bernstein/1111222233334444/work/s1",
        "files_changed": 1,
        "protected_by": COMPARED,
    }
    return Verification.model_validate(fields | more)


def done(**more: Any) -> TaskStatus:
    """The status of the Task `work` that reported success after one attempt."""
    fields: Object = {"attempt": 1, "verification": verification()}
    return with_session(TaskState.DONE, **(fields | more))


def closed(number: int, *, landed_at: datetime | None = None, **more: Any) -> TaskStatus:
    """The status of a Task whose commit `sha(number)` landed in the Plan's integration ref."""
    judged = verification(
        sha=sha(number), tree=sha(number + 1000), passed=True, checks=[gate("lint")]
    )
    landed = Delivery(
        state="Merged",
        onto=names.integration_ref(PLAN_UID),
        sha=sha(number),
        tree=sha(number + 1000),
        tip=sha(number),
        landed_at=landed_at or at(-10),
    )
    return status(TaskState.CLOSED, attempt=1, verification=judged, delivery=landed, **more)


def plan(
    name: str = "web",
    *,
    status: PlanStatus | None = None,
    begun: bool = True,
    generation: int = 1,
    deleting: bool = False,
    **spec: Any,
) -> Plan:
    """A Plan that has begun: its integration ref stands at BASE."""
    steps = [{"title": "Do work", "model": "sonnet"}]
    fields: Object = {"name": "Better web", "stages": [{"name": "build", "steps": steps}]}
    found, going = status or PlanStatus(observed_generation=-1), NOW if deleting else None
    if begun and found.integration is None:
        ref = names.integration_ref(PLAN_UID)
        integration = Integration(ref=ref, target="refs/heads/main", target_sha=BASE)
        found = found.model_copy(update={"integration": integration, "expanded": True})
    meta = metadata(name, plan_uid(name), generation=generation, deletionTimestamp=going)
    return Plan.model_validate(
        {
            "metadata": meta,
            "spec": fields | spec,
            "status": found.model_dump(),
        }
    )


def session(
    number: int = 1,
    *,
    task: str = "work",
    state: SessionState | None = None,
    stop: str | None = None,
    model: str = "sonnet",
    deleting: bool = False,
    **status: Any,
) -> AgentSession:
    seen_before = {"observed_generation": 1 if state else -1, "state": state}
    found = AgentSessionStatus.model_validate(seen_before | status)
    return AgentSession.model_validate(
        {
            "metadata": metadata(
                f"{task}-s{number}",
                f"uid-{task}-s{number}",
                deletionTimestamp=NOW if deleting else None,
            ),
            "spec": {
                "taskRef": {"name": task, "uid": f"uid-{task}"},
                "planRef": {"name": "web", "uid": PLAN_UID},
                "project": "default",
                "attempt": 1,
                "number": number,
                "agent": "demo",
                "adapter": "demo",
                "model": model,
                "effort": "normal",
                "baseRef": names.integration_ref(PLAN_UID),
                "workRef": names.work_ref(names.refs_of(PLAN_UID), task, number),
                "timeoutSeconds": 1800,
                "stop": {"reason": stop} if stop else None,
            },
            "status": found.model_dump(),
        }
    )


def dead(
    reason: str = "Succeeded",
    *,
    started: bool = True,
    work: Work | None = None,
    usage: UsageCounts | None = None,
    retry_after: int | None = None,
    message: str = "",
    no_change: bool = False,
    number: int = 1,
    stop: str | None = None,
) -> AgentSession:
    """A session of the Task `work` that has ended like this."""
    outcome = Outcome(
        reason=reason,
        message=message,
        started=started,
        retry_after_seconds=retry_after,
        no_change=no_change,
    )
    return session(
        number,
        state=SessionState.DEAD,
        stop=stop,
        outcome=outcome.model_dump(),
        work=None if work is None else work.model_dump(),
        usage=None if usage is None else usage.model_dump(),
    )


def work(sha: str = HEAD, **more: Any) -> Work:
    fields: Object = {
        "base": BASE,
        "sha": sha,
        "tree": TREE,
        "ref": "refs/bernstein/1111222233334444/work/s1",
    }
    facts: Object = {"files_changed": int(sha != BASE), "protected_by": COMPARED}
    return Work.model_validate(fields | facts | more)


def snapshot(
    subject: Task,
    *,
    others: tuple[Task, ...] = (),
    sessions: tuple[AgentSession, ...] = (),
    jobs: tuple[JobView, ...] = (),
    **more: Any,
) -> TaskSnapshot:
    """What a decision about `subject` looks at; its session is the one that its status names."""
    by_name = {s.metadata.name: s for s in sessions}
    own = plan() if owners.plan_of(subject) is not None else None
    fields: Object = {"project": project(), "plan": own}
    return TaskSnapshot(
        task=subject,
        session=by_name.get(subject.status.session or ""),
        jobs={j.name: j for j in jobs},
        tasks={t.metadata.name: t for t in (subject, *others)},
        **(fields | more),
    )


def plan_snapshot(
    subject: Plan, *tasks: Task, jobs: tuple[JobView, ...] = (), **more: Any
) -> PlanSnapshot:
    fields: Object = {"project": project()}
    return PlanSnapshot(
        plan=subject,
        tasks={t.metadata.name: t for t in tasks},
        jobs={j.name: j for j in jobs},
        **(fields | more),
    )


def told(found: tuple[Condition, ...]) -> dict[str, tuple[str, str]]:
    """Conditions as {type: (status, reason)}."""
    return {c.type: (c.status, c.reason) for c in found}


def stalled_for(found: tuple[Condition, ...]) -> str | None:
    """Why a person is needed, if one is."""
    told_ = conditions.find(found, "Stalled")
    return told_.reason if told_ is not None and told_.status == "True" else None


# --- pods ---------------------------------------------------------------------------------------


def running(name: str, since: datetime = NOW) -> Object:
    began = {"startedAt": since.isoformat()}
    return {"name": name, "image": f"{name}:1", "state": {"running": began}}


def waiting(name: str, reason: str = "PodInitializing", message: str = "") -> Object:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"name": name, "image": f"{name}:1", "state": state}


def ended(
    name: str, code: int = 0, *, reason: str | None = None, said: Any = "", after: float = 0
) -> Object:
    """A container that has terminated; `said` is its termination message or what it dumps."""
    message = said if isinstance(said, str) else dump(said)
    why = reason or ("Completed" if code == 0 else "Error")
    over = {"exitCode": code, "reason": why, "message": message}
    over |= {"startedAt": NOW.isoformat(), "finishedAt": at(after).isoformat()}
    return {"name": name, "image": f"{name}:1", "state": {"terminated": over}}


def failed(name: str, reason: str, message: str = "it did not work") -> Object:
    """A program of ours that left a Failure."""
    return ended(name, 1, said=protocol.Failure(reason, message))


def pod(
    *containers: Object,
    phase: str = "Running",
    reason: str = "",
    message: str = "",
    disrupted: bool = False,
    deleting: bool | float = False,
    unschedulable: str | None = None,
    node: str | None = "node-1",
    age: float = 5,
) -> Object:
    """A pod as the kubelet tells of it, so many seconds old; `deleting`: its grace ends then."""
    found: list[Object] = []
    if disrupted:
        found.append({"type": "DisruptionTarget", "status": "True", "reason": "Preempted"})
    if unschedulable is not None:
        waits = {"status": "False", "reason": "Unschedulable", "message": unschedulable}
        found.append({"type": "PodScheduled"} | waits)
    meta: Object = {"name": "pod", "uid": "uid-pod", "creationTimestamp": at(-age).isoformat()}
    if deleting is not False:
        meta["deletionTimestamp"] = at(0 if deleting is True else deleting).isoformat()
    return {
        "metadata": meta,
        "spec": {"nodeName": node} if node else {},
        "status": {
            "phase": phase,
            "conditions": found,
            "initContainerStatuses": [c for c in containers if c["name"] in INIT],
            "containerStatuses": [c for c in containers if c["name"] not in INIT],
            **({"reason": reason} if reason else {}),
            **({"message": message} if message else {}),
        },
    }


def over(*containers: Object, **more: Any) -> Object:
    """A pod that has ended; failed when a container has, or when anything else is said of it."""
    codes = [c["state"].get("terminated", {}).get("exitCode", 0) for c in containers]
    phase = "Failed" if any(codes) or more else "Succeeded"
    return pod(*containers, **({"phase": phase} | more))


def recorded(**more: Any) -> protocol.RecorderResult:
    """What the recorder saw of an agent that reported success and changed one file."""
    fields: Object = {
        "base": BASE,
        "sha": HEAD,
        "tree": TREE,
        "changed": protocol.Changed(files=1, python=True, protected_by=COMPARED),
        "usage": protocol.Usage(input=1000, output=200),
        "final": protocol.FinalRecord("Succeeded", text="done"),
    }
    return protocol.RecorderResult(**(fields | more))


def pushed(**more: Any) -> protocol.PusherResult:
    fields: Object = {"base": BASE, "sha": HEAD, "tree": TREE, "final": True}
    return protocol.PusherResult(**(fields | more))


def agent_pod(
    code: int = 0,
    *,
    agent: Object | None = None,
    recorder: Object | None = None,
    pusher: Object | None = None,
    **more: Any,
) -> Object:
    """A pod whose agent has ended, with the results of the containers beside it."""
    return over(
        ended("checkout"),
        pusher or ended("pusher", said=pushed()),
        recorder or ended("recorder", said=recorded()),
        agent or ended("agent", code),
        **more,
    )


def job(name: str, pod: Object | None = None, *, age: float = 5, **more: Any) -> JobView:
    """A Job of ours; its main container is the last one of its pod."""
    fields: Object = {"uid": f"uid-{name}", "created": at(-age), "pod": pod}
    mains = pod["status"]["containerStatuses"] if pod is not None else ()
    own = {labels.JOB: mains[-1]["name"]} if mains else {}
    fields["labels"] = own | more.pop("labels", {})
    return JobView(name=name, **(fields | seen(pod, own.get(labels.JOB, "")) | more))


def result_job(name: str, container: str, said: Any) -> JobView:
    """A Job of one container of ours that ended well and said this."""
    return job(name, over(ended(container, said=said)))


def check_pod(code: int = 0, *, said: str = "", reason: str | None = None) -> Object:
    return over(ended("checkout"), ended("check", code, said=said, reason=reason))


def checked(name: str, code: int = 0, *, said: str = "") -> JobView:
    """A check's Job whose command ended with this exit code."""
    return job(name, check_pod(code, said=said))
