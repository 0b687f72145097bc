"""What objects are looked up by in the caches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from bernstein.api.pod import AGENT
from bernstein.api.programs.cached import CACHE
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.states import TaskState
from bernstein.api.waiting import WaitReason
from bernstein.core import labels, names, pods
from bernstein.core.diagnosis import claimed
from bernstein.core.fsm import ACTIVE
from bernstein.core.owners import is_plan
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry
from bernstein.core.verification import crowd
from bernstein.core.verification.crowd import MOVERS, is_lacking, looks_soon
from bernstein.core.waiting import secrets_missed
from bernstein.kube.resource import Object, controller_of, is_deleting

SESSION, UPSTREAM, PLAN, AWAITED = "session", "upstream", "plan", "awaited"
"""Names of indexes; that of pods and Jobs by owner is with those who read them."""
AT_WORK, DONE, DONE_IN = "at work", "done", "done in"
BEGINS, BEGUN, MISSES = "begins", "begun", "misses"
PROPOSED, LIMITED, CLAIMING = "proposed", "limited", "claiming"
PRODUCED = "produced"
LACKS, RESTS, SEEKS, MOVES = "lacks", "rests", "seeks", ""
"""Names of others, which hold few of thousands: Tasks that have an agent, by Project; Tasks that
are Done, by Plan, and by Project; Plans that ask for a turn to begin or have one, by Project; Plans
that have begun and have not ended, by Project; Plans and Tasks that wait for a pull request, by
Project, and those of which a Job has met a limit of the forge; Tasks and Plans that wait for a
missing Secret, by Project; pods that wait for the claim of a cache, by Project; Tasks of which a
check waits for what a new pod alone shows to be there, by Project, check and cause; Plans and other
Tasks that wait for the like, by Project; and these by Project, check and cause. Jobs that move refs
count as one check, which is called "". Tasks and Plans of a Project are under each of
`may_be_of`. Tasks that have produced a Plan are under what `plan_called` says."""


def session_of_pod(pod: Object) -> Collection[str]:
    """The session whose agent runs in it; pods of checks name theirs for people only."""
    own = pod["metadata"]["labels"]
    return (own[labels.SESSION],) if own.get(labels.JOB) == AGENT else ()


def plan_of(task: Object) -> Collection[str]:
    """The Plan that owns it. Its uid alone may be written in any namespace, beside any API."""
    owner = controller_of(task)
    if owner is None or not is_plan(owner["apiVersion"], owner["kind"]):
        return ()
    return (plan_named(task["metadata"]["namespace"], owner["uid"]),)


def plan_of_session(session: Object) -> Collection[str]:
    """The Plan of its Task, as its spec names it."""
    plan = session["spec"].get("planRef")
    return (plan_named(session["metadata"]["namespace"], plan["uid"]),) if plan is not None else ()


def depends_on(task: Object) -> Collection[str]:
    """The names of the Tasks that it depends on by name."""
    names: Collection[str] = task["spec"].get("dependsOn", ())
    return names


def produced(task: Object) -> Collection[str]:
    """The Plan that was made of what its agent left."""
    made = (task.get("status") or {}).get("produced")
    return (plan_called(task["metadata"]["namespace"], made["plan"]),) if made else ()


def awaited(task: Object) -> Collection[str]:
    """The names of the Tasks that it is Blocked on."""
    if _state(task) != TaskState.BLOCKED:
        return ()
    names: Collection[str] = (task["status"].get("blocked") or {}).get("tasks", ())
    return names


def claiming(pod: Object) -> Collection[str]:
    """The Project of a pod that reads its cache, and in which nothing has run yet."""
    own = pod["metadata"]["labels"]
    if own.get(labels.JOB) == CACHE or claimed(pod) is None or pods.has_ended(pod):
        return ()
    if any(map(pods.has_ever_run, pods.containers(pod))):
        return ()
    return (of_project(pod["metadata"]["namespace"], own.get(labels.PROJECT)),)


def at_work(task: Object) -> Collection[str]:
    """The Project of one that has an agent."""
    return (_where(task),) if _state(task) in ACTIVE else ()


def done(task: Object) -> Collection[str]:
    """The Plan that owns one that is Done."""
    return plan_of(task) if _state(task) == TaskState.DONE else ()


def done_in(task: Object) -> Collection[str]:
    """The Project of one that is Done."""
    return (_where(task),) if _state(task) == TaskState.DONE else ()


def begins(plan: Object) -> Collection[str]:
    """The Project of a Plan that asks for a turn to begin, or has one."""
    asked = (plan.get("status") or {}).get("beginning")
    return (_where(plan),) if asked is not None else ()


def begun(plan: Object) -> Collection[str]:
    """The Project of a Plan that has begun, and has not ended."""
    status = plan.get("status") or {}
    at_work = status.get("integration") is not None and status.get("endedAt") is None
    return (_where(plan),) if at_work else ()


def proposed(obj: Object) -> Collection[str]:
    """The Project of a Plan or Task that waits for what becomes of its pull request."""
    status = obj.get("status") or {}
    deliveries = (each.get("delivery") for each in (status, *(status.get("repositories") or ())))
    opened = any((each or {}).get("pullRequest") is not None for each in deliveries)
    waits = opened and status.get("endedAt") is None
    return (_where(obj),) if waits else ()


def limited(obj: Object) -> Collection[str]:
    """The Project of a Plan or Task of which a Job has met a limit of the forge."""
    return (_where(obj),) if limits_of(obj) else ()


def limits_of(obj: Object) -> frozenset[str]:
    """Until when the forge takes no requests, as Jobs of a Plan or Task were told that propose,
    that read what is said, or that close."""
    status, found = obj.get("status") or {}, set[str]()
    for row in (status, *(status.get("repositories") or ())):
        delivery = row.get("delivery") or {}
        for each in (row.get("waiting"), delivery, delivery.get("feedback")):
            if each is not None and each.get("reason") == ForgeReason.RATE_LIMITED:
                found.add(each.get("until") or "")
    return frozenset(found - {""})


def misses(obj: Object) -> Collection[str]:
    """The Project of a Task or Plan that waits for a missing Secret."""
    waiting = (obj.get("status") or {}).get("waiting") or {}
    reason, message = waiting.get("reason", ""), waiting.get("message", "")
    return (_where(obj),) if secrets_missed(reason, message) else ()


def lacks(task: Object) -> Collection[str]:
    """For what its checks wait that a new pod alone shows to be there: each with the Project.

    For nothing, where it does not try that by itself.
    """
    status = task.get("status") or {}
    judged = status.get("verification") or {}
    if _state(task) != TaskState.DONE or judged.get("passed") is not None or not _looks_soon(task):
        return ()
    where = of_project(task["metadata"]["namespace"], status.get("project"))
    found = ((c["name"], c["verdict"], c.get("reason", "")) for c in judged.get("checks", ()))
    return {f"{where}/{name}/{why}" for name, verdict, why in found if is_lacking(verdict, why)}


def seeks(obj: Object) -> Collection[str]:
    """For what a Plan or a Task waits that tries it for itself, as long as a new pod alone shows it
    to be there: each with the Project. While it is tried, too: else all would take the place of who
    tries, one after another."""
    where = _where(obj)
    return {f"{where}/{check}/{why}" for check, why in (*_checks_sought(obj), *_moves_sought(obj))}


def _checks_sought(plan: Object) -> Collection[tuple[str, str]]:
    """The checks of a Plan that cannot begin, with the cause."""
    status = plan.get("status") or {}
    judged = status.get("verification") or {}
    if not _goes_on(plan) or "state" in status or judged.get("passed") is not None:
        return ()
    if (status.get("waiting") or {}).get("reason") == WaitReason.SUSPENDED or not _looks_soon(plan):
        return ()
    found = ((c["name"], c["verdict"], c.get("reason", "")) for c in judged.get("checks", ()))
    return {(name, why) for name, verdict, why in found if is_lacking(verdict, why)}


def _moves_sought(obj: Object) -> Collection[tuple[str, str]]:
    """Why a Job that moves refs cannot begin. Of a Plan whose Tasks are refused there is none."""
    status = obj.get("status") or {}
    waiting = status.get("waiting") or {}
    reason, tried = waiting.get("reason", ""), waiting.get("tried") or {}
    is_ready = status.get("expanded") is True or _state(obj) == TaskState.DONE
    if not is_ready or not _goes_on(obj) or policy(reason).retry is not Retry.SOON:
        return ()
    if "untilAlone" not in waiting and ("until" in waiting or tried.get("reason") != reason):
        return ()
    secrets = ",".join(sorted(secrets_missed(reason, waiting.get("message", ""))))
    return ((MOVES, f"{reason}/{secrets}"),)


def _goes_on(obj: Object) -> bool:
    status = obj.get("status") or {}
    is_suspended = obj["spec"].get("suspend", False)
    return not (is_suspended or is_deleting(obj) or status.get("endedAt"))


def sought(obj: Object) -> Collection[str]:
    """What a new pod has to show, where its Jobs wait for that to run again: each with the Project
    and the check."""
    where = _where(obj)
    if _moves_sought(obj):
        waiting = obj["status"]["waiting"]
        missed = secrets_missed(waiting["reason"], waiting.get("message", ""))
        return {f"{where}/{MOVES}/{what}" for what in crowd.sought((waiting["reason"],), missed)}
    if not lacks(obj) and not _checks_sought(obj):
        return ()
    judged = obj["status"]["verification"]
    wanted = (a for a in judged.get("again") or () if a["round"] == judged.get("round"))
    checks = {names.off_base(each["check"]) for each in wanted}
    found = ((c["verdict"], c.get("reason", "")) for c in judged.get("checks", ()))
    reasons = {why for verdict, why in found if is_lacking(verdict, why)}
    return {f"{where}/{check}/{what}" for check in checks for what in crowd.sought(reasons)}


def shown(pod: Object) -> Mapping[str, datetime]:
    """What its pod shows to others of the Project and the check, called as in `sought`, and since
    when."""
    own = pod["metadata"]["labels"]
    check = MOVES if own.get(labels.JOB) in MOVERS else own.get(labels.CHECK)
    if check is None:
        return {}
    where = of_project(pod["metadata"]["namespace"], own.get(labels.PROJECT))
    found = crowd.shows(pod).items()
    return {f"{where}/{names.off_base(check)}/{what}": since for what, since in found}


def rests(obj: Object) -> Collection[str]:
    """The Project of a Plan or a Task that tries again what a new pod alone shows, for itself."""
    status = obj.get("status") or {}
    waiting = status.get("waiting") or {}
    if "untilAlone" not in waiting or "until" not in waiting or lacks(obj):
        return ()
    return (of_project(obj["metadata"]["namespace"], status.get("project")),)


def _looks_soon(task: Object) -> bool:
    if is_deleting(task):
        return False
    waiting = (task.get("status") or {}).get("waiting") or {}
    return looks_soon(
        waiting.get("until"),
        waiting.get("untilAlone"),
        needs_person=waiting.get("needsPerson", False),
    )


def _where(obj: Object) -> str:
    status = obj.get("status") or {}
    return of_project(obj["metadata"]["namespace"], status.get("project"))


def _state(task: Object) -> object:
    return (task.get("status") or {}).get("state")


def of_project(namespace: str, project: str | None) -> str:
    """What indexes have a Project under."""
    return f"{namespace}/{project or ''}"


def may_be_of(namespace: str, project: str) -> tuple[str, str]:
    """What indexes have Tasks and Plans of the Project under: its name, and none, under which are
    those that do not say yet whose they are."""
    return of_project(namespace, project), of_project(namespace, None)


def plan_named(namespace: str, uid: str) -> str:
    """What the index PLAN has a Plan under."""
    return f"{namespace}/{uid}"


def plan_called(namespace: str, name: str) -> str:
    """What the index PRODUCED has a Plan under."""
    return f"{namespace}/{name}"
