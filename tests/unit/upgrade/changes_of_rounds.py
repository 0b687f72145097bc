"""What today's code decides otherwise about rounds of checks and landings, on purpose."""

from __future__ import annotations

from tests.unit.upgrade.change import Change
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


def _may_have_landed(pair: Pair) -> bool:
    """An older release said the same by a reason at this step."""
    delivery = pair.today["delivery"]
    return delivery.get("step") == "Landing" and "reason" in delivery


ROUNDS = (
    *(
        Change(
            f"that the work of a {kind} may have landed has a field of its own",
            kind,
            ("delivery.mayHaveLanded",),
            _may_have_landed,
        )
        for kind in ("Task", "Plan")
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
