"""What must hold once nobody acts any more and nothing goes wrong: all is over, or says why not.

And which ends of Plans people may take back.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bernstein.api import plan, project, session, task
from bernstein.api.encoding import load
from bernstein.api.meta import ConditionType, UsageCounts
from bernstein.api.plan import DELIVERED_PARTIALLY
from bernstein.api.pod import CHECK, INSPECT, LAND, PROBE, RECORDER, RecorderResult
from bernstein.api.requests import KILL, RETRY, UNBLOCK, UNCLAIM, VERIFY, Answer
from bernstein.api.states import SessionState, TaskState
from bernstein.core import conditions, labels, pods, projects
from bernstein.core.fsm import is_final
from bernstein.core.requests import WITHOUT_A_ROUND, unanswered
from bernstein.core.tasks import retention
from bernstein.kube.resource import JOBS, PODS, Object, is_deleting, key_of, uid_of
from bernstein.resources import PLANS, PROJECTS, SESSIONS, TASKS
from tests.model.cluster.programs import Run
from tests.model.cluster.store import Store
from tests.model.people import is_kept_by_others
from tests.model.replicas import Replica

if TYPE_CHECKING:
    from tests.model.oracles import Oracles

ANSWER_SECONDS = 30.0
"""An answer takes no longer: then whoever waits for it gives up."""
KEPT_LONGER_SECONDS = 600.0
"""Whatever went wrong meanwhile, so long after its time a Task is gone."""


def unfinished(store: Store) -> list[str]:
    """What is still on its way."""
    return [
        *_tasks(store),
        *_plans(store),
        *_sessions(store),
        *_jobs(store),
        *unsound(store),
    ]


def unsound(store: Store) -> list[str]:
    """Projects that are not Ready, and Jobs that tried their credentials and are still there."""
    found = [project.parse(obj) for obj in store.all(PROJECTS)]
    left = [
        f"Job {key_of(job).name} is still there"
        for job in store.all(JOBS)
        if job["metadata"]["labels"].get(labels.JOB) == PROBE and not is_deleting(job)
    ]
    return left + [
        f"Project {p.metadata.name}: {ready and (ready.reason, ready.message)}"
        for p in found
        if (ready := conditions.find(p.status.conditions, ConditionType.READY)) is None
        or ready.status != "True"
    ]


def _tasks(store: Store) -> Iterator[str]:
    for obj in store.all(TASKS):
        found = task.parse(obj)
        if not is_final(found.status, found.spec.max_retries):
            yield f"Task {found.metadata.name} is {found.status.state}"


def _plans(store: Store) -> Iterator[str]:
    for obj in store.all(PLANS):
        found = plan.parse(obj)
        if found.status.ended_at is None and found.status.phase != "Invalid":
            yield f"Plan {found.metadata.name} is {found.status.phase}"


def _sessions(store: Store) -> Iterator[str]:
    for obj in store.all(SESSIONS):
        found = session.parse(obj)
        if found.status.state is not SessionState.DEAD:
            yield f"session {found.metadata.name} is {found.status.state}"


def _jobs(store: Store) -> Iterator[str]:
    for job in store.all(JOBS):
        if not job["status"].get("conditions") and not job["spec"].get("suspend"):
            yield f"Job {key_of(job).name} goes on"


def without_reason(store: Store, dead_nodes: set[str]) -> list[str]:
    """What is neither over nor says why it waits. What lies on a dead node cannot be removed."""
    return [
        *_silent_tasks(store),
        *_silent_plans(store),
        *_sessions(store),
        *_left_over(store, dead_nodes),
    ]


def _silent_tasks(store: Store) -> Iterator[str]:
    for obj in store.all(TASKS):
        found = task.parse(obj)
        status = found.status
        final = is_final(status, found.spec.max_retries)
        goes = is_deleting(obj) and not is_kept_by_others(obj)
        if final or status.waiting is not None or goes:
            continue
        yield f"Task {found.metadata.name} is {status.state} and does not say why"


def _silent_plans(store: Store) -> Iterator[str]:
    for obj in store.all(PLANS):
        found = plan.parse(obj)
        if found.status.ended_at is None and not (
            found.status.waiting is not None or is_deleting(obj)
        ):
            yield f"Plan {found.metadata.name} is {found.status.phase} and does not say why"


def _left_over(store: Store, dead_nodes: set[str]) -> Iterator[str]:
    kept = {
        owner["uid"]
        for pod in store.all(PODS)
        if pod["spec"].get("nodeName") in dead_nodes
        for owner in pod["metadata"].get("ownerReferences", ())
    }
    for job in store.all(JOBS):
        ended = job["status"].get("conditions") or job["spec"].get("suspend")
        if not ended and uid_of(job) not in kept:
            yield f"Job {key_of(job).name} goes on"
    for pod in store.all(PODS):
        if is_deleting(pod) and pod["spec"].get("nodeName") not in dead_nodes:
            yield f"pod {key_of(pod).name} is held by {pod['metadata'].get('finalizers')}"


def miscounted(store: Store, oracles: Oracles) -> list[str]:
    """Tasks and Plans whose spend is not that of their sessions, each once."""
    wrong = []
    for obj in store.all(TASKS):
        found = task.parse(obj)
        spent = oracles.spent.get(found.metadata.uid, UsageCounts())
        over = is_final(found.status, found.spec.max_retries)
        if over and found.status.usage != spent:
            wrong.append(f"Task {found.metadata.name}: {found.status.usage}, used: {spent}")
    for obj in store.all(PLANS):
        of_plan = plan.parse(obj)
        spent = oracles.spent.get(of_plan.metadata.uid, UsageCounts())
        if of_plan.status.usage != spent:
            wrong.append(f"Plan {of_plan.metadata.name}: {of_plan.status.usage}, used: {spent}")
    return wrong


def unheard(store: Store, ended: session.AgentSession, used: UsageCounts) -> list[str]:
    """What pods have said of what they used, and their session does not count at its end.

    What a pod says while the answer to a live look at it is on its way is not known to who acts on
    that answer: then what was reported before counts.
    """
    wrong = []
    for pod in store.all(PODS):
        if pod["metadata"]["labels"].get(labels.OWNER_UID) != ended.metadata.uid:
            continue
        message = (pods.terminated(pod, RECORDER) or {}).get("message")
        if not message or not pods.has_ended(pod):
            continue
        said, report = load(RecorderResult, message).usage, ended.status.report
        counts = {(said.input, said.output)}
        if _just_looked_at(store, pod):
            reported = (report.usage if report else None) or UsageCounts()
            counts.add((reported.input, reported.output))
        if (used.input, used.output) not in counts:
            wrong.append(f"{ended.metadata.name}: {said}, {used}")
    return wrong


def _just_looked_at(store: Store, pod: Object) -> bool:
    """Whether the pod had not ended at a look on whose answer somebody may be acting."""
    look = store.looked_at.get(uid_of(pod))
    if look is None or pods.has_ended(look.object):
        return False
    return store.seconds - look.at <= ANSWER_SECONDS


def ghosts(store: Store, replica: Replica) -> dict[str, str | None]:
    """Where a replica's caches differ from what there is: which version each shows instead; None:
    none. What is written just now is on its way for a moment."""
    assert replica.engine is not None
    found: dict[str, str | None] = {}
    for informer in replica.engine.caches.informers:
        shown = {key_of(o): _version(o) for o in informer.objects()}
        there = {key_of(o): _version(o) for o in store.all(informer.resource)}
        differ = (key for key in sorted({*shown, *there}) if shown.get(key) != there.get(key))
        found |= {f"{informer.resource.kind} {key.name}": shown.get(key) for key in differ}
    return found


def _version(obj: Object) -> str:
    return str(obj["metadata"]["resourceVersion"])


def kept_too_long(store: Store) -> list[str]:
    """Tasks that should have been deleted a while ago, by what their Project says."""
    there = projects.named(project.parse(obj) for obj in store.all(PROJECTS))
    tasks = [task.parse(obj) for obj in store.all(TASKS) if not is_deleting(obj)]
    needed = {name for t in tasks if retention.ended_at(t) is None for name in t.spec.depends_on}
    return [
        f"{t.metadata.name} ended at {ended}"
        for t in tasks
        if (ended := retention.ended_at(t)) is not None
        and retention.stands_alone(t.metadata)
        and t.metadata.name not in needed
        and (its := projects.of_task(t, None, there).project) is not None
        and ended + _kept_seconds(its) < store.now()
    ]


def _kept_seconds(of: project.Project) -> timedelta:
    return timedelta(seconds=of.spec.retention.tasks_seconds + KEPT_LONGER_SECONDS)


def goes_too_early(
    store: Store, old: Object | None, new: Object | None, by_people: Container[str]
) -> bool:
    """Whether a Job is deleted that people may still want to read. `by_people`: uids of what they
    have deleted themselves."""
    if old is None or is_deleting(old) or (new is not None and not is_deleting(new)):
        return False
    if uid_of(old) in by_people or _is_past_its_time(store, old):
        return False
    return _stands_for_an_end(store, old)


def _stands_for_an_end(store: Store, job: Object) -> bool:
    """Whether a Task is Closed by the word of this Job, whose pod nobody has told to go.

    It goes with its Task, or when its time is over: people may read what it has printed.
    """
    made = [pod for pod in store.all(PODS) if pod["metadata"]["labels"].get(labels.JOB_UID)]
    mine = [pod for pod in made if pod["metadata"]["labels"][labels.JOB_UID] == uid_of(job)]
    if not mine or not all(pods.has_ended(pod) and not is_deleting(pod) for pod in mine):
        return False
    owner = job["metadata"]["labels"].get(labels.OWNER_UID)
    for obj in store.all(TASKS):
        if uid_of(obj) == owner and not is_deleting(obj):
            status = task.parse(obj).status
            merged = status.delivery is not None and status.delivery.state == "Merged"
            by = f"-{LAND}-{status.delivery.round}" if status.delivery is not None else ""
            return merged and key_of(job).name.endswith(by)
    return False


def _is_past_its_time(store: Store, job: Object) -> bool:
    """Whether the cluster deletes the Job because it ended long ago."""
    ends = [c["lastTransitionTime"] for c in job["status"].get("conditions", ())]
    seconds = timedelta(seconds=job["spec"].get("ttlSecondsAfterFinished", 0))
    return any(datetime.fromisoformat(end) + seconds <= store.now() for end in ends)


def goes_on(old: plan.Plan, new: plan.Plan) -> bool:
    """It had failed, and a Task of it was granted another round."""
    rounds = [sum(row.rounds or 0 for row in each.status.tasks) for each in (old, new)]
    return old.status.phase == "Failed" and rounds[0] < rounds[1]


def goes_in_part(old: plan.Plan, new: plan.Plan) -> bool:
    """It had ended badly, and somebody has asked for a part of it."""
    asked = new.status.partial.request if new.status.partial is not None else None
    stands = asked in [each.id for each in new.spec.requests if each.verb == "DeliverPartial"]
    return old.status.phase in ("Failed", "Cancelled") and new.status.ended_at is None and stands


def parts(store: Store, oracles: Oracles) -> list[str]:
    """Plans of which a part was delivered that nobody asked for, or that is not what was judged:
    the end of the ledger, or a merge of it with the target."""
    wrong = []
    for found in map(plan.parse, store.all(PLANS)):
        status = found.status
        if status.phase != DELIVERED_PARTIALLY:
            continue
        judged, delivery, begun = status.verification, status.delivery, status.integration
        assert judged is not None
        assert delivery is not None
        assert begun is not None
        made_of = judged.origin.sha if judged.origin is not None else judged.sha
        there = judged.ref == delivery.onto  # the target had all of it already
        holds = [
            there or made_of == begun.tip,
            there or delivery.sha in oracles.landed[begun.target],
            judged.passed is True and judged.sha == delivery.sha,
            ("DeliverPartial", "Done") in [(a.verb, a.answer) for a in status.requests or ()],
        ]
        if not all(holds):
            wrong.append(f"Plan {found.metadata.name}: {holds}")
    return wrong


def rounds(status: task.TaskStatus) -> int:
    """How many rounds of attempts a Task was granted."""
    return status.round.number if status.round is not None else 0


def rounds_granted(answers: Iterable[Answer] | None) -> int:
    """How many rounds people were answered to have; what is tried at once, or judged
    on a newer tip, goes on in its own."""
    done = [a for a in answers or () if (a.verb, a.answer) == (RETRY, "Done")]
    return sum(answer.message not in WITHOUT_A_ROUND for answer in done)


def chain_of(found: plan.Plan) -> list[tuple[str | None, str]]:
    """Who landed what in a Plan, in order."""
    rows = [(r.landed.number, r.uid, r.landed.sha) for r in found.status.tasks if r.landed]
    return [(uid, sha) for _, uid, sha in sorted(rows)]


def is_judged_anew(judged: task.Task | None, run: Run) -> bool:
    """Whether the run judges work of a Task that has failed, for somebody who asked."""
    if judged is None or run.role not in (CHECK, INSPECT):
        return False
    new = unanswered(judged.spec.requests, judged.status.requests)
    return any(request.verb == VERIFY for request in new)


def wrongly_moved(old: task.Task, new: task.Task, known: Iterable[task.Task]) -> str | None:
    """What is wrong with a move that only people, or the end of others, may be the reason of."""
    last, was = new.status.history[-1], old.status.state
    verb = {"Killed": KILL, "Unclaimed": UNCLAIM, "Unblocked": UNBLOCK}.get(last.reason)
    if verb is None:
        return None
    if was is TaskState.ORPHANED:
        first = old.status.history[-1].actor
        return None if last.actor == first else f"{last.actor} ends what {first} began"
    if last.actor != "operator":
        before = {answer.id for answer in old.status.requests or ()}
        now = [a for a in new.status.requests or () if a.id not in before and a.answer == "Done"]
        asked = any(a.by == last.actor and a.verb in (verb, KILL) for a in now)
        return None if asked else f"{last.actor} did not ask for it: {last.reason}"
    if verb != UNBLOCK:
        return None  # what the person asked for is carried through
    named = old.status.blocked.tasks if old.status.blocked is not None else ()
    closed = {t.metadata.name for t in known if t.status.state is TaskState.CLOSED}
    return None if named and closed.issuperset(named) else f"{named} are not all Closed"
