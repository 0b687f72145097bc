"""What today's code decides otherwise about rounds of checks, on purpose."""

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


def _says_in_one_word(pair: Pair) -> bool:
    """Why it ends or ended; of a run that reports success, that it is not judged yet."""
    outcome = pair.today.get("outcome", {}).get("reason")
    said = pair.today["conditions"].get("Succeeded", {})
    if outcome is None:
        return "Succeeded" not in pair.today["conditions"] and pair.today["state"] != "Dead"
    told = ("Unverified", "Unknown") if outcome == "Succeeded" else (outcome, "False")
    return (pair.today["reason"], said["status"]) == (told[0], told[1]) and said["reason"] == told[
        0
    ]


def _names_the_image(pair: Pair) -> bool:
    was, now = (
        status.get("waiting", {}).get("message", "") for status in (pair.recorded, pair.today)
    )
    cause, _, why = was.partition(" cannot be made: ")
    return bool(why) and now.startswith(f"{cause} cannot be made of image '") and now.endswith(why)


ROUNDS = (
    Change(
        "what is said of an image that cannot be used names it",
        "Plan",
        ("conditions.Stalled.message", "waiting.message"),
        _names_the_image,
    ),
    Change(
        "a session says in one word why it ends, and none that is not verified says Succeeded",
        "AgentSession",
        ("reason", "conditions.Succeeded"),
        _says_in_one_word,
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
