"""A decision and all that it was made on, as JSON; and the same decision, made anew from that.

Recorded decisions outlive the code that made them. So this is the one place that knows what the
code of today calls things, and the words here are the recordings' own: they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from bernstein.api import plan, project, session, task
from bernstein.api.meta import Model
from bernstein.api.pod import Check
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.checks.spec import CheckSpec
from bernstein.core import actions, labels
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.owners import owner_reference
from bernstein.core.sessions import actions as session_actions
from bernstein.core.sessions import decide as sessions
from bernstein.core.sessions.decide import decide as decide_session
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.tasks.decide import decide as decide_task
from bernstein.kube.patches import status_diff
from tests.unit.checks.default_gates import only_known
from tests.unit.core import scheduled
from tests.unit.core.objects import in_first
from tests.unit.core.sightings import seen

PLAN_UID_THEN = "11112222-plan"
_REASON = "projectProblemReason"

Object = dict[str, Any]
Snapshot = TaskSnapshot | PlanSnapshot | sessions.SessionSnapshot


@dataclass(frozen=True)
class Decided:
    """A decision about the first object of a snapshot."""

    snapshot: Snapshot
    before: Object
    """Its status, as it was read."""
    status: Model
    actions: tuple[Any, ...]
    again: float | None

    def as_json(self) -> Object:
        """What is written (a merge patch), what is done, and when it is looked at again."""
        return {
            "writes": status_diff(self.before, self.status.dump()),
            "actions": [action(asked) for asked in self.actions],
            "again": self.again,
        }


def subject(snapshot: Snapshot) -> Any:
    """The object that is decided about."""
    match snapshot:
        case TaskSnapshot():
            return snapshot.task
        case PlanSnapshot():
            return snapshot.plan
        case _:
            return snapshot.session


def decided(snapshot: Snapshot, decision: Any, before: Object | None = None) -> Decided:
    read = subject(snapshot).status.dump() if before is None else before
    return Decided(snapshot, read, decision.status, decision.actions, decision.requeue_after)


def decide(given: Object, now: datetime) -> Decided:
    """By today's code, of what is `given`."""
    match snapshot(given):
        case TaskSnapshot() as of_task:
            return decided(of_task, _decide_task(of_task, given, now), given["task"]["status"])
        case PlanSnapshot() as of_plan:
            # Older code let every Plan begin by itself.
            return decided(of_plan, scheduled.decide_plan(of_plan, now), given["plan"]["status"])
        case of_session:
            before = given["session"]["status"]
            return decided(of_session, decide_session(of_session, now), before)


def _decide_task(of_task: TaskSnapshot, given: Object, now: datetime) -> Any:
    """Older code let every Task schedule itself: that is what its controller and the scheduler do
    together."""
    if given.get("scheduler") == "apart":
        return decide_task(of_task, now)
    sessions = _by_name(session.parse, given["sessions"]).values()
    plans = _by_name(plan.parse, given["plans"])
    return scheduled.decide(of_task, now, sessions, plans)


# --- what it is made on ---------------------------------------------------------------------------


def given(snapshot: Snapshot) -> Object:
    """Objects as the API server serves them, by the names that a snapshot has for them."""
    match snapshot:
        case TaskSnapshot():
            return {
                "kind": "Task",
                "task": snapshot.task.dump(),
                "tasks": _dumped(snapshot.tasks.values()),
                "scheduler": "apart",
                "session": _dump(snapshot.session),
                "plan": _dump(snapshot.plan),
                **_around(snapshot),
            }
        case PlanSnapshot():
            return {
                "kind": "Plan",
                "plan": snapshot.plan.dump(),
                "tasks": _dumped(snapshot.tasks.values()),
                "sessions": _dumped(snapshot.sessions),
                **_around(snapshot),
            }
        case sessions.SessionSnapshot():
            return {
                "kind": "AgentSession",
                "session": snapshot.session.dump(),
                "job": None if snapshot.job is None else job(snapshot.job),
                "launchable": snapshot.launchable,
                "settled": snapshot.settled,
            }


def _around(snapshot: TaskSnapshot | PlanSnapshot) -> Object:
    problem = snapshot.project_problem
    return {
        "project": _dump(snapshot.project),
        "projectProblem": None if problem is None else problem.message,
        _REASON: None if problem is None else problem.reason,
        "jobs": [job(view) for view in snapshot.jobs.values()],
    }


def _dump(model: Model | None) -> Object | None:
    return None if model is None else model.dump()


def _dumped(models: Iterable[Model]) -> list[Object]:
    return [model.dump() for model in models]


def job(view: JobView) -> Object:
    """A Job with its pod."""
    return {
        "name": view.name,
        "uid": view.uid,
        "created": view.created.isoformat(),
        "deleting": view.deleting,
        "failed": view.failed,
        "complete": view.complete,
        "pod": view.pod,
        "events": list(view.events),
        "labels": dict(view.labels),
    }


def snapshot(given: Object) -> Snapshot:
    """What the caches would show a decision today."""
    match given["kind"]:
        case "Task" | "Launch":
            return TaskSnapshot(
                task=task_then(given["task"]),
                session=_parsed(session.parse, given["session"]),
                plan=_parsed(plan.parse, given["plan"]),
                tasks=_by_name(task_then, given["tasks"]),
                project=_parsed(project_then, given["project"]),
                project_problem=_problem(given),
                jobs=_views(given["jobs"]),
            )
        case "Plan":
            return PlanSnapshot(
                plan=plan.parse(given["plan"]),
                tasks=_by_name(task_then, given["tasks"]),
                sessions=[session.parse(obj) for obj in given["sessions"]],
                project=_parsed(project_then, given["project"]),
                project_problem=_problem(given),
                jobs=_views(given["jobs"]),
            )
        case _:
            return sessions.SessionSnapshot(
                session=session.parse(given["session"]),
                job=None if given["job"] is None else _view(given["job"]),
                launchable=given["launchable"],
                settled=given["settled"],
            )


def task_then(obj: Object) -> task.Task:
    """The Task with its owner, which the older code did not read: the label of its Plan told it."""
    meta = obj["metadata"]
    plan_name = meta.get("labels", {}).get(labels.PLAN)
    if plan_name is not None and not meta.get("ownerReferences"):
        owner = owner_reference("Plan", plan_name, PLAN_UID_THEN)
        meta = meta | {"ownerReferences": [owner]}
    return task.parse(obj | {"metadata": meta})


def project_then(obj: Object) -> Workplace:
    """The Project with the gates that were on by default when it was recorded, and no newer ones,
    and with no path protected, as none was.

    A gate that is on by default from some release on is asked of every Project, and changes all; so
    does the question about work that nobody has compared with the protected paths.
    """
    spec = obj["spec"]
    then = {"gates": only_known(spec.get("gates", {})), "protectedPaths": []}
    return in_first(project.parse(obj | {"spec": spec | then}))


def _problem(given: Object) -> Diagnosis | None:
    """Why there is no Project; the older code had but one reason."""
    text = given["projectProblem"]
    return None if text is None else Diagnosis(given.get(_REASON, Reason.PROJECT_NOT_FOUND), text)


def _parsed(parse: Callable[[Object], Any], obj: Object | None) -> Any:
    return None if obj is None else parse(obj)


def _by_name(parse: Callable[[Object], Any], objects: Iterable[Object]) -> Mapping[str, Any]:
    return {obj["metadata"]["name"]: parse(obj) for obj in objects}


def _views(jobs: Iterable[Object]) -> dict[str, JobView]:
    return {obj["name"]: _view(obj) for obj in jobs}


def _view(obj: Object) -> JobView:
    # What the operator sees for itself was not recorded: it saw a container run when that began.
    containers = (obj["pod"] or {"status": {}})["status"].get("containerStatuses") or ()
    own = {labels.JOB: containers[-1]["name"]} if containers else {}
    view_labels = own | obj["labels"]
    main = view_labels.get(labels.JOB, "")
    return JobView(
        name=obj["name"],
        uid=obj["uid"],
        created=datetime.fromisoformat(obj["created"]),
        deleting=obj["deleting"],
        failed=obj["failed"],
        complete=obj["complete"],
        pod=mounted(obj["pod"], obj["events"]),
        events=tuple(obj["events"]),
        labels=view_labels,
        **seen(obj["pod"], main),
    )


def mounted(pod: Mapping[str, Any] | None, events: Iterable[Object]) -> Object | None:
    """The pod with the volume that its Events tell of, which the older code did not look at."""
    if pod is None:
        return None
    if not any(event["reason"] == "FailedMount" for event in events):
        return {**pod}
    volume = {"name": "secret-read", "secret": {"secretName": "git-read"}}
    return {**pod, "spec": {**pod.get("spec", {}), "volumes": [volume]}}


# --- what it asks for -----------------------------------------------------------------------------


def action(asked: Any) -> Object:
    """An action under its own word, with all that it says."""
    match asked:
        case actions.RunCheck():
            said = _judges(asked, pinned=asked.pinned_sha, check=check(asked.check))
            of_base = {} if asked.base is None else {"base": asked.base}
            return {"action": "run check"} | said | of_base
        case actions.RunInspect():
            checks = [check(each) for each in asked.checks]
            said = _judges(asked, base=asked.base, onto=asked.onto, checks=checks)
            return {"action": "run inspect"} | said
        case actions.RunPrepare() | actions.RunLand() | actions.RunBegin():
            word = type(asked).__name__.removeprefix("Run").lower()
            later = (
                "again",
                "branch",
                "branch_at",
                "signs",
                "marks",
                "resolves",
                "verified",
                "as_it_is",
            )
            said = {key: v for key, v in asdict(asked).items() if key not in later or v}
            said.pop("attests", None)  # no older release told what is said of a landed commit
            return {"action": f"run {word}"} | said
        case actions.DeleteJobs():
            return {"action": "delete jobs"} | _jobs(asked.jobs)
        case actions.KeepCheckLogs():
            return {"action": "keep logs", "before": asked.before} | _jobs(asked.jobs)
        case actions.CreateTasks():
            return {"action": "create tasks", "tasks": list(asked.objects)}
        case actions.CancelTasks():
            return {
                "action": "cancel tasks",
                "tasks": list(asked.names),
                "reason": asked.cancel.reason,
            }
        case actions.CreateSession():
            return {"action": "create session", "number": asked.session["spec"]["number"]}
        case actions.StopSession():
            return {"action": "stop session", "reason": asked.reason}
        case _:
            return _of_session(asked)


def _judges(asked: actions.RunCheck | actions.RunInspect, **more: Any) -> Object:
    said = {"job": asked.job, "asked": asked.asked, "ref": asked.ref, "sha": asked.sha}
    return said | more


def check(spec: CheckSpec) -> Object:
    """A check as it is asked for."""
    return {
        "name": spec.name,
        "kind": spec.kind,
        "title": spec.title,
        "required": spec.required,
        "digest": spec.digest,
        "command": spec.command,
        "image": spec.image,
        "timeout": spec.timeout,
        "pinned": list(spec.pinned),
        "condition": spec.condition,
        "reads": None if spec.reads is None else asdict(spec.reads),
    }


def job_action(said: Object) -> Any:
    """The action of which this was said, where it asks for a Job."""
    more = {key: value for key, value in said.items() if key != "action"}
    match said["action"]:
        case "run check":
            return actions.RunCheck(
                said["job"], _check(said["check"]), said["ref"], said["sha"], said["pinned"]
            )
        case "run inspect":
            checks = tuple(_check(each) for each in said["checks"])
            return actions.RunInspect(
                said["job"], checks, said["ref"], said["sha"], said["base"], said["onto"]
            )
        case "run prepare":
            return actions.RunPrepare(**more)
        case "run land":
            return actions.RunLand(**more)
        case "run begin":
            return actions.RunBegin(**more)
        case word:
            raise TypeError(f"no Job is asked for by {word!r}")


def _check(said: Object) -> CheckSpec:
    fields = {key: value for key, value in said.items() if key != "digest"}
    reads = None if said["reads"] is None else Check(**said["reads"])
    return CheckSpec(**fields | {"pinned": tuple(said["pinned"]), "reads": reads})


def _jobs(views: Iterable[JobView]) -> Object:
    return {"jobs": [{"name": view.name, "uid": view.uid} for view in views]}


def _of_session(asked: Any) -> Object:
    match asked:
        case actions.RunFence():
            return {"action": "fence", "job": asked.job}
        case session_actions.Launch():
            return {"action": "launch"}
        case session_actions.DeleteJob():
            return {"action": "delete job"} | _jobs((asked.job,))
        case session_actions.KeepLog():
            return {"action": "keep log", "pod": asked.pod["metadata"]["name"]}
        case session_actions.ReleasePods():
            return {"action": "release pods"}
        case session_actions.ReleaseSession():
            return {"action": "release session"}
        case _:
            raise TypeError(f"no word for {asked!r}")
