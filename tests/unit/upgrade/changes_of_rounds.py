"""What today's code decides otherwise about rounds of checks, on purpose."""

from __future__ import annotations

from bernstein.core.waiting import parted
from tests.unit.upgrade.change import EVERYTHING, Change
from tests.unit.upgrade.differences import Pair


def _counts_from_its_first_round(pair: Pair) -> bool:
    judged = pair.today["verification"]
    return bool(judged["candidate"] and judged["firstRound"] == judged["round"])


def _says_what_it_was_made_of(pair: Pair) -> bool:
    judged = pair.today["verification"]
    return bool(judged["candidate"] and judged["origin"]["ref"] != judged["ref"])


def _never_settles(pair: Pair) -> bool:
    return "without an end" in pair.today.get("waiting", {}).get("message", "")


def _says_how_it_was_judged(pair: Pair) -> bool:
    passed = pair.today.get("verification", {"passed": ...}).get("passed")
    verified = pair.today["conditions"].get("Verified", {}).get("status")
    return "Verified" not in pair.recorded["conditions"] and verified in (
        ("True", "False") if passed is None else (str(passed),)
    )


def _says_how_it_goes_on(pair: Pair) -> bool:
    told = (each.get("waiting", {}).get("message", "") for each in (pair.recorded, pair.today))
    (cause, before), (cause_now, now) = map(parted, told)
    says = ("`bernstein retry", "Apply a Plan with what is left, under another name.")
    return cause == cause_now and before != now and any(text in (now or "") for text in says)


def _is_done_once_more(pair: Pair) -> bool:
    was, now = pair.recorded, pair.today
    conflicts = was.get("delivery", {}).get("state") == "Conflict"
    return conflicts and now["state"] == "Failed" and bool(now["resolved"])


ROUNDS = (
    *(
        Change(
            f"a {kind} that has failed says how it goes on, and how to have its work",
            kind,
            ("conditions.Stalled.message", "waiting.message"),
            _says_how_it_goes_on,
        )
        for kind in ("Task", "Plan")
    ),
    Change(
        "a Task whose work does not merge is done once more on the new tip",
        "Task",
        (*EVERYTHING, "resolved"),
        _is_done_once_more,
    ),
    Change(
        "a Plan whose work is judged as a whole says in Verified how, as a Task does",
        "Plan",
        ("conditions.Verified",),
        _says_how_it_was_judged,
    ),
    *(
        Change(
            f"a candidate of a {kind} says what it was made of",
            kind,
            ("verification.origin",),
            _says_what_it_was_made_of,
        )
        for kind in ("Task", "Plan")
    ),
    *(
        Change(
            f"the rounds of a candidate of a {kind} count from its first one",
            kind,
            ("verification.firstRound",),
            _counts_from_its_first_round,
        )
        for kind in ("Task", "Plan")
    ),
    Change(
        "a Task whose checks never settle is held until the Project changes",
        "Task",
        ("waiting",),
        _never_settles,
    ),
)
