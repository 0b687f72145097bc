"""What today's code decides otherwise about rounds of checks and landings, and in which words, on
purpose."""

from __future__ import annotations

from typing import Any

from bernstein.core.jobs import LOOK_AGAIN_SECONDS
from bernstein.core.sanitise import quoted
from bernstein.core.waiting import parted
from tests.unit.upgrade.change import EVERYTHING, Change
from tests.unit.upgrade.differences import Pair
from tests.unit.upgrade.recordings import Object


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


def _asks_the_base(pair: Pair) -> bool:
    asked = next((d.today for d in pair.differences if d.path == "actions"), None) or ()
    return any("base" in action for action in asked)


def _by_name(checks: Any) -> list[dict[str, Any]]:
    return sorted(checks, key=lambda check: str(check["name"]))


def _has_another_order(pair: Pair) -> bool:
    was, now = (status["verification"]["checks"] for status in (pair.recorded, pair.today))
    asked = [{key: each[key] for key in ("name", "verdict")} for each in _by_name(was)]
    return asked == [{key: each[key] for key in ("name", "verdict")} for each in _by_name(now)]


def _tells_every_attempt(pair: Pair) -> bool:
    said, says = (
        status.get("waiting", {}).get("message", "") for status in (pair.recorded, pair.today)
    )
    head = "no retry is left after "
    return said.startswith(head) and says.startswith(head) and ". Before that: attempt" in says


def _has_no_such_model(pair: Pair) -> bool:
    return "ModelNotFound" in str(pair.today)


def _names_an_adapter(pair: Pair) -> bool:
    found = str(pair.today).count("AgentNotFound") < str(pair.recorded).count("AgentNotFound")
    return found and "ProjectNotFound" not in str(pair.recorded)


def _says_how_it_goes_on(pair: Pair) -> bool:
    told = (each.get("waiting", {}).get("message", "") for each in (pair.recorded, pair.today))
    (cause, before), (cause_now, now) = map(parted, told)
    says = ("`bernstein retry", "Apply a Plan with what is left, under another name.")
    reason = pair.today.get("waiting", {}).get("reason")
    cause = cause.replace(f": {reason}: ", ": ").replace("1 Tasks ", "1 Task ")
    return cause == cause_now and before != now and any(text in (now or "") for text in says)


_JUDGED_AGAIN = tuple(
    f"verification.{field}" for field in ("abandoned", "again", "checks", "policy", "since")
)


def _runs_alone_again(pair: Pair) -> bool:
    """What could not run, in the round that the older code began with all checks."""
    was, now = (status.get("verification", {}) for status in (pair.recorded, pair.today))
    again = {each["round"] for each in now.get("again", ())}
    return now.get("round") in again and was.get("round") == now["round"]


def _is_done_once_more(pair: Pair) -> bool:
    was, now = pair.recorded, pair.today
    conflicts = was.get("delivery", {}).get("state") == "Conflict"
    return conflicts and now["state"] == "Failed" and bool(now["resolved"])


def _names_what_is_out(pair: Pair) -> bool:
    """A round that goes on, and no more than that is said otherwise."""
    out = pair.today.get("verification", {}).get("outstanding")
    was, says = (s["conditions"].get("Reconciling", {}) for s in (pair.recorded, pair.today))
    if out is None or "passed" in pair.today["verification"]:
        return False
    said = f"{was.get('message')}; still out: {out['checks']}"
    return bool({**was, "message": said} == says)


def _quotes_less(pair: Pair) -> bool:
    said, says = (
        s["conditions"].get("Stalled", {}).get("message", "") for s in (pair.recorded, pair.today)
    )
    kept, cut, _ = says.partition("; status.feedback has more")
    return bool(cut) and said.startswith(kept)


def _is_a_quote(pair: Pair) -> bool:
    both = (pair.recorded, pair.today)
    said, says = (status.get("outcome", {}).get("message", "") for status in both)
    return bool(said) and quoted(says) == said


def _names_what_else_helps(pair: Pair) -> bool:
    both = (pair.recorded, pair.today)
    said, says = (status.get("outcome", {}).get("remedy", "") for status in both)
    kept, more, _ = says.partition(", where its address is a private one, too; of agents, ")
    login = says.removesuffix(" If its login is refused, mend its Secret.")
    return bool(said == (f"{kept})." if more else login))


WORDS = (
    Change(
        "a condition names what said no, and leaves what was printed to the feedback",
        "Task",
        ("conditions.Stalled.message", "conditions.Succeeded.message", "waiting.message"),
        _quotes_less,
    ),
    Change(
        "what an agent says stands below a line of ours, so that a condition can leave it out",
        "AgentSession",
        ("outcome.message",),
        _is_a_quote,
    ),
    Change(
        "the remedy names what else may keep a pod from the git server: network or login",
        "AgentSession",
        ("outcome.remedy",),
        _names_what_else_helps,
    ),
)


def _has_a_score(pair: Pair) -> bool:
    judged = pair.today["verification"]
    ran = [check for check in judged["checks"] if check["verdict"] in ("Passed", "Failed")]
    return bool(ran) and judged["qualityScore"] in range(101)


ROUNDS = (
    *(
        Change("verdicts come with a score", kind, ("verification.qualityScore",), _has_a_score)
        for kind in ("Task", "Plan")
    ),
    Change(
        "checks that take long are named while they have no verdict",
        "Task",
        ("conditions.Reconciling.message", "verification.outstanding"),
        _names_what_is_out,
    ),
    *(
        Change(
            f"of a {kind} only the check that could not run is run again",
            kind,
            ("actions", "reports", *_JUDGED_AGAIN),
            _runs_alone_again,
        )
        for kind in ("Task", "Plan")
    ),
    *(
        Change(
            f"that the work of a {kind} may have landed has a field of its own",
            kind,
            ("delivery.mayHaveLanded",),
            _may_have_landed,
        )
        for kind in ("Task", "Plan")
    ),
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
        "a session says in one word why it ends, and none that is not verified says Succeeded",
        "AgentSession",
        ("reason", "conditions.Succeeded"),
        _says_in_one_word,
    ),
    Change(
        "a Task whose model nobody knows starts no agent",
        "Task",
        EVERYTHING,
        _has_no_such_model,
    ),
    Change(
        "a Task finds its agent by the adapter, too, where that is the only one of it",
        "Task",
        (*EVERYTHING, "model", "session", "sessions"),
        _names_an_adapter,
    ),
    *(
        Change(
            f"the verdicts on a {kind} are in the order of the Project's pipeline",
            kind,
            ("verification.checks",),
            _has_another_order,
        )
        for kind in ("Task", "Plan")
    ),
    Change(
        "a Task without a retry tells how each of its attempts ended",
        "Task",
        ("conditions.Stalled.message", "conditions.Succeeded.message", "waiting.message"),
        _tells_every_attempt,
    ),
    *(
        Change(
            f"of a {kind} a required gate that did not pass is asked of the base, too",
            kind,
            EVERYTHING,
            _asks_the_base,
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


_SOON = ("SecretNotFound", "ConfigMapNotFound", "ImagePullFailed", "ImageUnusable", "PodRejected")
_TOLD = ("conditions.Reconciling", "conditions.Stalled", "phase", "waiting")


def _counts_its_failures(pair: Pair) -> bool:
    now = pair.today.get("delivery", {})
    was = pair.recorded.get("delivery", {}).get("failures") or 0
    return now.get("failures") in (None, was + 1)


def _tells_when(pair: Pair) -> bool:
    was, now = (status.get("waiting", {}).get("reason") for status in (pair.recorded, pair.today))
    return bool(was == now)


def _is_tried_soon(pair: Pair) -> bool:
    waiting = pair.today.get("waiting", {})
    return any(reason in str(waiting) for reason in _SOON)


def _is_suspended(pair: Pair) -> bool:
    return bool(pair.today.get("waiting", {}).get("reason") == "Suspended")


def _still_needs_a_person(pair: Pair) -> bool:
    waiting = pair.today.get("waiting", {})
    return waiting.get("needsPerson") is True and "until" not in waiting


def _stands_still(pair: Pair) -> bool:
    waiting = pair.today.get("waiting", {})
    return pair.today["phase"] == "Stalled" and waiting.get("needsPerson") is True


def _counts_one(pair: Pair) -> bool:
    was, now = (str(status.get("waiting", {}).get("message")) for status in _both(pair))
    return was.replace("1 Tasks", "1 Task") == now


def _names_its_reason_once(pair: Pair) -> bool:
    told = (
        (status["conditions"].get("Stalled") or {"message": "", "reason": ""})
        for status in _both(pair)
    )
    was, now = told
    return bool(now["message"]) and parted(was["message"])[0].rstrip(".").replace(
        f": {was['reason']}: ", ": "
    ) == parted(now["message"])[0].rstrip(".")


def _both(pair: Pair) -> tuple[Object, Object]:
    return pair.recorded, pair.today


def _is_verified(pair: Pair) -> bool:
    return pair.today["verification"]["passed"] is True


def _is_not_over_yet(pair: Pair) -> bool:
    was, now = (s.get("verification", {}).get("passed") for s in _both(pair))
    again = [each.today for each in pair.differences if each.path == "again"]
    return was is not None and now is None and again == [LOOK_AGAIN_SECONDS]


STANDSTILL = (
    *(
        Change(
            f"a {kind} has no verdict while a check that nobody asks for any more is at work",
            kind,
            ("again", "conditions.Reconciling", "conditions.Verified", "verification.passed"),
            _is_not_over_yet,
        )
        for kind in ("Task", "Plan")
    ),
    *(
        Change(
            f"a {kind} notes when its tree was verified",
            kind,
            ("verification.verifiedAt",),
            _is_verified,
        )
        for kind in ("Task", "Plan")
    ),
    *(
        Change(
            f"a landing of a {kind} counts its Jobs that have failed in a row",
            kind,
            ("delivery.failures",),
            _counts_its_failures,
        )
        for kind in ("Task", "Plan")
    ),
    Change(
        "a Plan tells when what its Task waits for is tried again",
        "Plan",
        ("waiting.until",),
        _tells_when,
    ),
    *(
        Change(
            f"what a new pod of a {kind} alone shows is tried again soon, and costs no gate error",
            kind,
            ("again", "gateErrors", "verification.firstRound", "waiting"),
            _is_tried_soon,
        )
        for kind in ("Task", "Plan")
    ),
    Change("a suspended Plan has one reason to wait", "Plan", _TOLD, _is_suspended),
    Change(
        "a Task that tries again what needs a person says so until it moves",
        "Task",
        _TOLD,
        _still_needs_a_person,
    ),
    Change(
        "a Plan that needs a person is Stalled, also at its beginning and while it tries again",
        "Plan",
        _TOLD,
        _stands_still,
    ),
    Change(
        "what a Task failed for is named once",
        "Task",
        ("conditions.Stalled.message", "conditions.Succeeded.message", "waiting.message"),
        _names_its_reason_once,
    ),
    Change(
        "one Task is one Task",
        "Plan",
        ("conditions.Stalled.message", "conditions.Succeeded.message", "waiting.message"),
        _counts_one,
    ),
)


def _keeps_what_was_rejected(pair: Pair) -> bool:
    judged = pair.before.get("verification") or {"ref": "", "sha": ""}
    left = judged.get("origin") or {key: judged[key] for key in ("ref", "sha")}
    kept, told = pair.today["rejected"], pair.today.get("feedback") or ""
    failed = pair.today["state"] in ("Failed", "Orphaned", "Done")
    return failed and bool(told) and kept["ref"] and (kept == left or not judged["sha"])


REJECTED = (
    Change(
        "a Task remembers what was rejected, so that the next attempt is shown what it changed",
        "Task",
        ("rejected",),
        _keeps_what_was_rejected,
    ),
    Change(
        "what waits for a person that nobody asks goes on",
        "Task",
        EVERYTHING,
        lambda pair: pair.before.get("state") in ("Planned", "PendingApproval"),
    ),
)
