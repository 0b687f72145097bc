"""What today's code decides otherwise than older code did, on purpose, and why."""

from __future__ import annotations

from typing import Any

from tests.unit.upgrade.change import EVERYTHING, Change
from tests.unit.upgrade.changes_of_rounds import REJECTED, ROUNDS, STANDSTILL, WORDS
from tests.unit.upgrade.changes_of_scheduling import (
    DRAINED,
    LEDGER,
    PLURALS,
    RETENTION,
    SCHEDULING,
    WAITING,
)
from tests.unit.upgrade.differences import Pair
from tests.unit.upgrade.pins import PINS

COUNTED = ("gateErrors", "infrastructureFailures")
PROGRESS = ("conditions.Reconciling", "conditions.Stalled", "phase", "waiting")


def _starts_to_count(pair: Pair) -> bool:
    return all(pair.recorded.get(f) is None and pair.today[f] in (0, 1) for f in COUNTED)


def _is_judged_like_a_task(pair: Pair) -> bool:
    return "candidate" not in pair.recorded["verification"]


def _has_a_digest(pair: Pair) -> bool:
    judged = pair.today["verification"]
    return len(judged["digest"]) == 64 if judged.get("passed") else False


def _was_cut_off(pair: Pair) -> bool:
    said = pair.recorded.get("waiting", {})
    told = {said.get("reason"), *said.get("message", "").split(": ")}
    counts = 1 in [pair.today[field] for field in COUNTED]
    return counts and not told.isdisjoint(("Disrupted", "PodLost")) and _goes_on(pair)


def _goes_on(pair: Pair) -> bool:
    return "waiting" not in pair.today and "Stalled" not in pair.today["conditions"]


def _waits_by_the_table(pair: Pair) -> bool:
    held = [status.get("waiting", {}) for status in (pair.recorded, pair.today)]
    told = [waiting.get("reason") for waiting in held]
    counts = any(pair.today[field] for field in COUNTED)
    until = [waiting.get("until", "") for waiting in held]
    return counts and told[0] == told[1] and bool(until[0] > until[1] > "")


def _backs_off(pair: Pair) -> bool:
    says = pair.today["conditions"].get("Reconciling", {})
    return says.get("reason") == "GateErrored" and "Stalled" not in pair.today["conditions"]


def _is_tried_again(pair: Pair) -> bool:
    until = pair.before.get("waiting", {}).get("until")
    return until is not None and "waiting" not in pair.today and pair.now >= str(until)


def _refuses_a_cancel(pair: Pair) -> bool:
    said, says = (s["conditions"].get("CancelRefused") for s in (pair.recorded, pair.today))
    return said is not None and bool(
        {**said, "message": "the merge has started; a cancel comes too late"} == says
    )


def _says_who_cancelled(pair: Pair) -> bool:
    was, now = (status.get("history", [])[-1:] for status in (pair.recorded, pair.today))
    return bool([{**move, "actor": "user"} for move in was] == now != was)


def _delivery(pair: Pair, **otherwise: Any) -> bool:
    """Whether today's is the recorded one but for these fields, and the next Job has no number
    yet."""
    was, now = (status.get("delivery", {}) for status in (pair.recorded, pair.today))
    meant = {**was, "round": was.get("round", 0) - 1, **otherwise}
    meant = {key: value for key, value in meant.items() if value is not None}
    return bool(now == meant and pair.today["jobs"] == pair.recorded["jobs"] - 1)


def _makes_its_candidate_next(pair: Pair) -> bool:
    before = pair.before.get("delivery", {})
    kept = {field: before[field] for field in ("message", "reason") if field in before}
    return "waiting" not in pair.today and _delivery(pair, step=None, **kept)


def _conflicts(pair: Pair) -> bool:
    now = pair.today.get("delivery", {})
    return now.get("state") == "Conflict" and _delivery(pair, step=None, tip=now["tip"])


def _has_its_candidate(pair: Pair) -> bool:
    judged = pair.today.get("verification", {"passed": None})
    was, step = (s.get("delivery", {}).get("step") for s in (pair.recorded, pair.today))
    return "passed" not in judged and (was, step) == (None, "Preparing")


def _is_judged_first(pair: Pair) -> bool:
    return "delivery" not in pair.today and "passed" not in pair.today.get("verification", {})


def _stalls(pair: Pair) -> bool:
    return "Stalled" in pair.today["conditions"] and pair.today["phase"] == "Stalled"


def _delivers(pair: Pair) -> bool:
    return "Stalled" not in pair.today["conditions"] and pair.today["phase"] == "Delivering"


def _is_abandoned(pair: Pair) -> bool:
    places = (pair.today, pair.today.get("verification", {}), pair.today.get("delivery", {}))
    return any("abandoned" in place for place in places) and "endedAt" not in pair.today


def _is_waited_for(pair: Pair) -> bool:
    was, now = (status.get("state") for status in (pair.recorded, pair.today))
    return was == "Dead" and now == pair.before.get("state")


def _has_no_verdict_yet(pair: Pair) -> bool:
    was, now = (status.get("verification") for status in (pair.before, pair.today))
    return was is not None and was == now != pair.recorded.get("verification")


def _has_a_job_without_a_pod(pair: Pair) -> bool:
    """Whether the older code took a Job for ended that has none in the caches."""
    told = (pair.recorded.get(field, {}) for field in ("delivery", "waiting"))
    was_lost = any(each.get("reason") == "PodLost" for each in told)
    return was_lost and "PodLost" not in str(pair.today)


def _is_fenced(pair: Pair) -> bool:
    return any(action["action"] == "fence" for action in _asked(pair))


def _asked(pair: Pair) -> Any:
    return next((d.today for d in pair.differences if d.path == "actions"), None) or ()


def _only_looks(pair: Pair) -> bool:
    return any(a["action"] == "run land" and a["expect"] is None for a in _asked(pair))


def _follows_its_landing(pair: Pair) -> bool:
    step = pair.before.get("delivery", {}).get("step")
    return step == "Landing" and "Suspended" in pair.recorded["conditions"]


def follows_its_landing(moment: dict[str, Any]) -> bool:
    """Whether a suspended Plan was left where its landing had begun."""
    plan = moment["plan"] or {"spec": {}}
    step = plan.get("status", {}).get("delivery", {}).get("step")
    return step == "Landing" and bool(plan["spec"].get("suspend"))


def _lands(pair: Pair) -> bool:
    says = pair.today["conditions"].get("Reconciling", {})
    return says.get("message") == "it is being merged" and "Stalled" not in pair.today["conditions"]


def _is_being_cancelled(pair: Pair) -> bool:
    return (pair.recorded.get("phase"), pair.today.get("phase")) == ("Cancelled", "Cancelling")


def _is_over(pair: Pair) -> bool:
    """Whether it was over already, and all that is asked for is that its Jobs go."""
    asked = next((d.today for d in pair.differences if d.path == "actions"), None) or ()
    return "endedAt" in pair.before and all(a["action"] == "delete jobs" for a in asked)


def _lost_its_pod(pair: Pair) -> bool:
    outcomes = [status.get("outcome", {}).get("reason") for status in (pair.recorded, pair.today)]
    return outcomes == ["PodLost", "PodLost"]


def _lets_its_pods_go(pair: Pair) -> bool:
    was = next((d.recorded for d in pair.differences if d.path == "actions"), None) or ()
    rest = [a for a in was if a["action"] != "release pod"]
    return pair.before.get("state") == "Dead" and rest == [
        a for a in _asked(pair) if a["action"] != "release pods"
    ]


def _counts_the_deleted_as_cancelled(pair: Pair) -> bool:
    was, now = pair.recorded["counts"], pair.today["counts"]
    more = {count: number - was[count] for count, number in now.items() if number != was[count]}
    cancelled = more.pop("cancelled", 0)
    moved = more.keys() <= {"open", "running", "verifying"} and max(more.values()) < 0
    return bool(moved and cancelled == -sum(more.values()))


def _has_another_remedy(pair: Pair) -> bool:
    was, now = (s["conditions"].get("Stalled", {}) for s in (pair.recorded, pair.today))
    if not was or not now:
        return False
    (said, old), (says, new) = (_parted(each["message"]) for each in (was, now))
    return said == says and old != new and was["reason"] == now["reason"] and bool(new)


def _parted(message: str) -> tuple[str, str]:
    rest, _, remedy = message.rstrip(".").partition(". Remedy: ")
    return rest, remedy


def _says_what_was_not_taken(pair: Pair) -> bool:
    said = [
        {key: value for key, value in attempt.items() if key != "notTaken"}
        for attempt in pair.today["attempts"]
    ]
    return bool(said == pair.recorded["attempts"])


CHANGES = (
    Change(
        "a Plan begins once it has its turn",
        "Plan",
        ("beginning",),
        lambda pair: pair.today.get("beginning") == "Next",
    ),
    *PINS,
    *DRAINED,
    *REJECTED,
    Change(
        "an attempt whose work could not be taken says so, because the next one like it counts",
        "Task",
        ("attempts",),
        _says_what_was_not_taken,
    ),
    *(
        Change(
            f"a Job of a {kind} that does not get on is ended first, and judged by how it ended",
            kind,
            EVERYTHING,
            _is_abandoned,
        )
        for kind in ("Task", "Plan", "AgentSession")
    ),
    Change(
        "a session ends when nothing of it can run any more, not when a stream shows no pod",
        "AgentSession",
        EVERYTHING,
        _is_waited_for,
    ),
    Change(
        "a check has a verdict when nothing of it can run any more, not when a stream shows no pod",
        "Task",
        EVERYTHING,
        _has_no_verdict_yet,
    ),
    *(
        Change(
            f"a Job of a {kind} has ended when it has no pod, not when a stream shows none",
            kind,
            EVERYTHING,
            _has_a_job_without_a_pod,
        )
        for kind in ("Task", "Plan")
    ),
    *(
        Change(
            f"a Job of a {kind} that is not wanted any more, but may be on its way, gets a fence",
            kind,
            EVERYTHING,
            _is_fenced,
        )
        for kind in ("Task", "Plan", "AgentSession")
    ),
    *(
        Change(
            f"a {kind} whose next land Job is asked for says that it lands",
            kind,
            ("conditions.Reconciling", "conditions.Stalled", "waiting"),
            _lands,
        )
        for kind in ("Task", "Plan")
    ),
    *(
        Change(
            f"where a {kind} may have landed already, a Job looks and pushes nothing",
            kind,
            ("actions",),
            _only_looks,
        )
        for kind in ("Task", "Plan")
    ),
    Change(
        "a suspended Plan whose landing has begun is followed to its end",
        "Plan",
        EVERYTHING,
        _follows_its_landing,
    ),
    Change(
        "a Plan is cancelled when its own Jobs have ended",
        "Plan",
        EVERYTHING,
        _is_being_cancelled,
    ),
    Change(
        "a Job of a Plan that is over does nothing any more: it was made too late",
        "Plan",
        ("actions",),
        _is_over,
    ),
    Change(
        "a session that has ended lets all its pods go, also those whose Job is gone",
        "AgentSession",
        ("actions",),
        _lets_its_pods_go,
    ),
    Change(
        "a session that is stopped before it has a pod says so",
        "AgentSession",
        ("conditions.Stopping",),
        lambda pair: "Stopping" in pair.today["conditions"],
    ),
    Change(
        "that the Job is gone and that its pod is gone is told in the same words",
        "AgentSession",
        ("outcome.message",),
        _lost_its_pod,
    ),
    *(
        Change(
            f"a {kind} tells the remedy for its own case",
            kind,
            ("conditions.Stalled.message", "waiting.message"),
            _has_another_remedy,
        )
        for kind in ("Plan", "Task")
    ),
    Change(
        "a deleted Task has ended: the Plan does not count it as running any more",
        "Plan",
        ("counts",),
        _counts_the_deleted_as_cancelled,
    ),
    Change(
        "a Plan counts what could not be done, as a Task does, so that it has an end",
        "Plan",
        COUNTED,
        _starts_to_count,
    ),
    Change(
        "a Plan is judged by the round that judges a Task, and shows the same facts",
        "Plan",
        tuple(
            f"verification.{field}"
            for field in (
                "candidate",
                "depsChanged",
                "filesChanged",
                "pythonChanged",
                "testsChanged",
            )
        ),
        _is_judged_like_a_task,
    ),
    Change(
        "the verdicts on a Plan have a digest, as a Task's have",
        "Plan",
        ("verification.digest",),
        _has_a_digest,
    ),
    Change(
        "a Job of a Plan that was cut off is made anew at once, until that happened too often",
        "Plan",
        (*PROGRESS, "jobs"),
        _was_cut_off,
    ),
    *(
        Change(
            f"a {kind} whose checks cannot run, or that cannot land, waits as the table says",
            kind,
            ("waiting.until",),
            _waits_by_the_table,
        )
        for kind in ("Task", "Plan")
    ),
    *(
        Change(
            f"a {kind} whose checks are run again after a while is not stalled: nobody has to look",
            kind,
            ("conditions.Reconciling", "conditions.Stalled", "phase", "waiting"),
            _backs_off,
        )
        for kind in ("Task", "Plan")
    ),
    Change(
        "a Plan that is tried again says so at once, and is not held any more",
        "Plan",
        PROGRESS,
        _is_tried_again,
    ),
    Change(
        "the phase of a Plan says what its condition says",
        "Plan",
        ("phase",),
        lambda pair: _stalls(pair) or _delivers(pair),
    ),
    Change(
        "a cancel that comes too late is refused in the same words for a Plan and a Task",
        "Plan",
        ("conditions.CancelRefused.message",),
        _refuses_a_cancel,
    ),
    Change(
        "a Plan whose target moved is queued, and takes the next step with the next look",
        "Plan",
        ("conditions.Reconciling", "delivery", "jobs"),
        _makes_its_candidate_next,
    ),
    Change(
        "a Plan in conflict takes the number of its next Job when that begins",
        "Plan",
        ("delivery", "jobs"),
        _conflicts,
    ),
    Change(
        "a Plan whose candidate is judged stays in that step, as a Task does",
        "Plan",
        ("delivery.step",),
        _has_its_candidate,
    ),
    Change(
        "a Task that must be judged again before it has begun to land has no delivery yet",
        "Task",
        ("delivery",),
        _is_judged_first,
    ),
    Change(
        "who cancels an orphan has made it Failed, too",
        "Task",
        ("history",),
        _says_who_cancelled,
    ),
    *LEDGER,
    *RETENTION,
    *PLURALS,
    *WORDS,
    *ROUNDS,
    *STANDSTILL,
    *SCHEDULING,
    *WAITING,
)
