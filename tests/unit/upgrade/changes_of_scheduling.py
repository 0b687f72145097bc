"""What is decided otherwise since one reconcile schedules a Project and a Plan has a ledger, of
landings, and what is said otherwise of those that wait."""

from __future__ import annotations

from typing import Any

from bernstein.core.jobs import LOOK_AGAIN_SECONDS
from tests.unit.upgrade.change import EVERYTHING, Change
from tests.unit.upgrade.differences import Pair

_HEARSAY = ("ModelAuthFailed", "ProviderUnavailable", "RateLimited", "UsageLimited")
QUEUE = ("conditions.Reconciling", "waiting")
_SAID = ("conditions.Reconciling", "conditions.Stalled", "waiting")


def _asks_before_it_lands(pair: Pair) -> bool:
    """Whether it had no delivery before, and today's has taken no number of a Job yet."""
    was, now = (status.get("delivery", {}) for status in (pair.recorded, pair.today))
    return "delivery" not in pair.before and now == {**was, "round": 0}


def _says_no_sum(pair: Pair) -> bool:
    """The remedy, which names the commands since, may be another one."""
    was, now = (status.get("waiting", {}) for status in (pair.recorded, pair.today))
    cause, said = (str(w.get("message")).partition(". Remedy: ")[0] for w in (was, now))
    return cause.endswith(said) and was["reason"] == now["reason"] == "BudgetExceeded"


def _is_in_no_schedule(pair: Pair) -> bool:
    return pair.recorded.get("waiting", {}).get("reason") == "PlanCancelled" and "waiting" not in (
        pair.today
    )


def _waits_for_the_prober(pair: Pair) -> bool:
    told = pair.today.get("waiting", {})
    return pair.recorded["state"] == "Claimed" and told.get("reason") in _HEARSAY


def _says_again_what_it_has_met(pair: Pair) -> bool:
    met = pair.before.get("waiting", {}).get("tried", {}).get("reason")
    return (pair.recorded["state"], pair.today["state"]) == ("Open", "Claimed") and met in _HEARSAY


def _is_held_by_no_single_word(pair: Pair) -> bool:
    was, now = (status.get("waiting", {}).get("reason") for status in (pair.recorded, pair.today))
    return was in _HEARSAY and now not in _HEARSAY


def _is_held_by_no_single_push(pair: Pair) -> bool:
    """Whether another one, of which that was all that was known, does not keep it any more."""
    was, now = (status.get("waiting", {}) for status in (pair.recorded, pair.today))
    told = (was.get("reason"), now.get("reason"))
    return told == ("RepositoryUnreachable", "MaxAgents") and " cannot start: " in was["message"]


def _names_the_last_that_is_out(pair: Pair) -> bool:
    """Whether it waits for the same as before, in words that name one of them, or its stage."""
    was, now = (status.get("waiting", {}) for status in (pair.recorded, pair.today))
    if was.get("reason") != "DependencyPending" or now.get("reason") != "DependencyPending":
        return False
    return str(now["message"]).startswith(("depends on ", "waits for the stage "))


SCHEDULING = (
    Change(
        "a Plan that begins says when it did",
        "Plan",
        ("integration.since",),
        lambda pair: pair.before.get("integration") is None,
    ),
    Change(
        "who waits for others names the last of them that is out",
        "Task",
        (
            *("waiting.message", "conditions.Reconciling.message"),
            "conditions.DependenciesMet.message",
        ),
        _names_the_last_that_is_out,
    ),
    Change(
        "a Task asks for its turn before it takes a number for its next Job",
        "Task",
        ("delivery.round",),
        _asks_before_it_lands,
    ),
    Change(
        "why a Task waits for money does not change while agents at work spend it",
        "Task",
        ("conditions.Stalled.message", "waiting.message"),
        _says_no_sum,
    ),
    Change(
        "a new Task that is cancelled already is in no schedule",
        "Task",
        QUEUE,
        _is_in_no_schedule,
    ),
    Change(
        "who tries already whether it is mended is not overtaken",
        "Task",
        (*QUEUE, "history", "model", "session", "sessions", "state"),
        _waits_for_the_prober,
    ),
    Change(
        "who has met the same as the one that tries does so too, minutes later",
        "Task",
        (*_SAID, "history", "model", "session", "sessions", "state"),
        _says_again_what_it_has_met,
    ),
    Change(
        "what one session says of its provider holds no other Task",
        "Task",
        QUEUE,
        _is_held_by_no_single_word,
    ),
    Change(
        "nor does a repository that the last push of one agent's work did not reach",
        "Task",
        QUEUE,
        _is_held_by_no_single_push,
    ),
)


def _knows_its_steps(pair: Pair) -> bool:
    """Whether rows are in the Plan's order, and tell their step and what landed, and no more."""
    rows = pair.today["tasks"]
    numbers = sorted(row["landed"]["number"] for row in rows if "landed" in row)
    return _without(rows) == _without(pair.recorded["tasks"]) and numbers == [
        *range(1, len(numbers) + 1)
    ]


def _without(rows: list[Any]) -> dict[str, Any]:
    new = ("step", "landed")
    return {row["name"]: {k: v for k, v in row.items() if k not in new} for row in rows}


def _meets_a_ref_that_was_moved(pair: Pair) -> bool:
    return bool(pair.today["conditions"].get("Stalled", {}).get("reason") == "IntegrationMoved")


def _lands_on_what_landed_last(pair: Pair) -> bool:
    """Whether the older code took another tip for the last: by time, or by what a Job had seen."""
    was, now = (status.get("delivery", {}).get("step") for status in (pair.recorded, pair.today))
    return (was, now) == ("Preparing", "Landing")


def _notes_that_the_tip_moved(pair: Pair) -> bool:
    """On another base than that of its last candidate, or of its work."""
    delivery, judged = pair.today["delivery"], pair.today["verification"]
    return bool(delivery.get("step") == "Preparing" and delivery.get("tip") != judged["base"])


def _ends_a_check_first(pair: Pair) -> bool:
    """Of work that lands: the check is ended, and nothing else is done."""
    found = {each.path: each.today for each in pair.differences}
    ended = all(each["action"] == "delete jobs" for each in found.get("actions") or ())
    lands = pair.recorded.get("delivery", {}).get("step") == "Landing"
    return lands and ended and found.get("again") == LOOK_AGAIN_SECONDS


LEDGER = (
    Change(
        "a Plan does not land beside a check that nobody asks for any more",
        "Plan",
        ("actions", "again", "conditions.Reconciling", "delivery", "jobs"),
        _ends_a_check_first,
    ),
    Change(
        "a Task that makes a candidate notes where the ref is by the ledger",
        "Task",
        ("delivery.tip",),
        _notes_that_the_tip_moved,
    ),
    Change(
        "a Task that was judged on the end of the ledger lands at once",
        "Task",
        EVERYTHING,
        _lands_on_what_landed_last,
    ),
    Change(
        "rows are in the Plan's order, each with its step and with what its Task landed",
        "Plan",
        ("tasks",),
        _knows_its_steps,
    ),
    Change(
        "an integration ref that somebody else moved is not gone on from",
        "Task",
        EVERYTHING,
        _meets_a_ref_that_was_moved,
    ),
)


# --- what is waited for --------------------------------------------------------------------------


def _waiting(pair: Pair) -> tuple[dict[str, object], dict[str, object]]:
    was, now = (status.get("waiting", {}) for status in (pair.recorded, pair.today))
    return was, now


def _tries_it(pair: Pair) -> bool:
    _, now = _waiting(pair)
    return pair.today["state"] == "Claimed" and "tried" in now and not now["needsPerson"]


def _waits_for_the_project(pair: Pair) -> bool:
    was, now = _waiting(pair)
    same = was.get("reason") == now.get("reason")
    return same and "until" in was and "until" not in now and bool(now.get("needsPerson"))


def _was_over(pair: Pair) -> bool:
    was, now = _waiting(pair)
    return str(was.get("until", "~")) <= pair.now and "until" not in now


def _stays_stalled(pair: Pair) -> bool:
    return all("Stalled" in status["conditions"] for status in (pair.before, pair.today))


def _has_no_words(pair: Pair) -> bool:
    return "attempts: . Remedy" in str(_waiting(pair)[0].get("message"))


def _judges_a_candidate(pair: Pair) -> bool:
    return bool(pair.today.get("verification", {}).get("candidate"))


def _rests(pair: Pair) -> bool:
    return _waiting(pair)[1].get("reason") == "PlanSuspended"


def _asks(pair: Pair) -> bool:
    return _waiting(pair)[1].get("reason") == "MergeQueue"


def _follows(pair: Pair) -> bool:
    return "tries first" in str(_waiting(pair)[1].get("message"))


def _has_failed(pair: Pair) -> bool:
    return bool(pair.today["phase"] == "Failed" == pair.recorded["phase"])


def _lists_in_words(pair: Pair) -> bool:
    """Whether the words that it may use are the same, without the quotes; whatever the remedy."""
    told = (s["conditions"].get("Stalled", {}) for s in (pair.recorded, pair.today))
    was, now = (str(each.get("message")).partition(". Remedy: ")[0] for each in told)
    return "must be one of [" in now and was.replace("'", "") == now.replace("'", "")


WAITING = (
    Change(
        "the words that a plan may use are listed without the quotes of a program",
        "Plan",
        ("conditions.Stalled.message", "conditions.Validated.message", "waiting.message"),
        _lists_in_words,
    ),
    Change(
        "a Plan of which nothing can go on has ended, without success",
        "Plan",
        ("conditions.Succeeded", "endedAt"),
        _has_failed,
    ),
    Change(
        "what a Task tries again has no time to wait for any more",
        "Task",
        ("waiting.until",),
        _was_over,
    ),
    Change(
        "a Task that was tried again and cannot go on stalls for as long as it did",
        "Task",
        ("conditions.Stalled.lastTransitionTime",),
        _stays_stalled,
    ),
    Change(
        "where there are no words about the last failure there is no colon before them",
        "Task",
        ("conditions.Stalled.message", "conditions.Succeeded.message", "waiting.message"),
        _has_no_words,
    ),
    Change("a session that tries again what was met before says so", "Task", _SAID, _tries_it),
    *(
        Change(
            f"a {kind} that only a change of the Project helps waits for no time",
            kind,
            ("waiting.until",),
            _waits_for_the_project,
        )
        for kind in ("Task", "Plan")
    ),
    Change(
        "a Plan that has its candidate judged says so",
        "Plan",
        ("conditions.Reconciling.message",),
        _judges_a_candidate,
    ),
    Change("a suspended Plan that rests says what it waits for", "Plan", _SAID, _rests),
    Change(
        "that a Plan is suspended is called so wherever it is shown",
        "Plan",
        ("conditions.Suspended.reason",),
        lambda pair: pair.today["conditions"]["Suspended"]["reason"] == "Suspended",
    ),
    Change("a Task that is verified asks for its turn at once", "Task", _SAID, _asks),
    Change("who waits for another one to try says for whom", "Task", _SAID, _follows),
)


def _is_kept_for_a_time(pair: Pair) -> bool:
    """By today's default; the objects of then have no Plan and have ended."""
    again = [each for each in pair.differences if each.path == "again"]
    ended = pair.before.get("state") in ("Closed", "Cancelled", "Failed")
    week = 7 * 86400.0
    return ended and all(each.recorded is None and 0 < each.today <= week for each in again)


RETENTION: tuple[Change, ...] = (
    Change(
        "A Task without a Plan is looked at again when its time is over: it is deleted then.",
        "Task",
        ("again",),
        _is_kept_for_a_time,
    ),
)

_MESSAGES = (
    "waiting.message",
    "conditions.Reconciling.message",
    "conditions.Stalled.message",
    "conditions.Succeeded.message",
    "conditions.Verified.message",
    "feedback",
    "attempts",
)
_OF_ONE = {
    "1 Tasks ": "1 Task ",
    "1 files changed": "1 file changed",
    "1 checks passed": "1 check passed",
    "all 1 agents of the Plan are": "the one agent of the Plan is",
    "all 1 agents of the Project are": "the one agent of the Project is",
}


def _speaks_of_one(pair: Pair) -> bool:
    told = [
        d for d in pair.differences if f"{d.path}.".startswith(tuple(f"{m}." for m in _MESSAGES))
    ]
    return any(_of_one(str(d.recorded)) == str(d.today) for d in told)


def _of_one(message: str) -> str:
    for many, one in _OF_ONE.items():
        message = message.replace(many, one)
    return message


_DELETED = "Tasks were deleted and are not made again: "


def _names_the_deleted(pair: Pair) -> bool:
    """In other words, with the same first names, or beside all that the older code said."""
    was, now = (s["conditions"].get("Stalled", {}) for s in (pair.recorded, pair.today))
    said, says = (c.get("message", "").partition(" Remedy: ")[0] for c in (was, now))
    if " not made again" not in says or was.get("reason") != now.get("reason"):
        return False
    if not said.startswith(_DELETED):
        return bool(says.startswith(said))
    return all(f"'{name}'" in says for name in said[len(_DELETED) : -1].split(", ")[:3])


PLURALS = (
    Change(
        "a message of a Task about one thing does not speak of many",
        "Task",
        _MESSAGES,
        _speaks_of_one,
    ),
    Change(
        "a Plan names each Task that was deleted, also beside those that have failed",
        "Plan",
        _MESSAGES,
        _names_the_deleted,
    ),
)


def _was_drained_while_it_read(pair: Pair) -> bool:
    conditions = (
        status["conditions"].get("Verified", {}) for status in (pair.recorded, pair.today)
    )
    was, now = (condition.get("message", "") for condition in conditions)
    return "InfrastructureError: inspect ended" in was and ": Disrupted: " in now


DRAINED = (
    Change(
        "what a drained pod has not read of a Task is read again at once, and needs no person",
        "Task",
        ("again", "conditions", "gateErrors", "verification.checks", "waiting"),
        _was_drained_while_it_read,
    ),
    Change(
        "a repository that is away costs no gate error",
        "Task",
        ("gateErrors",),
        lambda pair: any(
            "RepositoryUnreachable: " in str(status.get("waiting"))
            for status in (pair.recorded, pair.today)
        ),
    ),
)
