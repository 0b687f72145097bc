"""What is said of a commit that lands: by what the operator knows, and by nobody else's word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.delivery import Delivery
from bernstein.api.integration import Integration
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.programs.merge import LandResult
from bernstein.api.task import Task, TaskStatus
from bernstein.api.verification import MOST_CHECKS
from bernstein.attestation.statement import EXTENSION
from bernstein.controllers import job_actions
from bernstein.core import owners
from bernstein.core.actions import RunLand
from bernstein.core.delivery import attestation
from tests.unit.controllers.jobs.built import PLAIN_SETTINGS
from tests.unit.core import objects
from tests.unit.core.delivery.plans import TASKS
from tests.unit.core.delivery.tasks import INTEGRATION, LANDING, look, verified
from tests.unit.core.objects import BASE, HEAD, NOW, TIP, Object, plan_snapshot, result_job, sha

IMAGE = f"sha256:{'c' * 64}"
LONGEST_ARGUMENT = 128 * 1024
"""Bytes that Linux takes as one argument of a program."""


def said(status: TaskStatus, **spec: Any) -> Object:
    subject = objects.task(status=status, **spec)
    found: Object = json.loads(attestation.of_task(objects.snapshot(subject), status))
    return found


def judged(**more: Any) -> TaskStatus:
    return verified(verification={"verified_at": NOW, "policy": "f" * 32} | more)


def test_a_task_says_what_was_verified_for_which_ref_and_when() -> None:
    found = said(judged())

    assert {key: found[key] for key in found if key != EXTENSION} == {
        "verifier": {"id": "https://bernstein.dev/verifier/v1"},
        "resourceUri": f"git+https://git.example/app.git@{INTEGRATION}",
        "policy": {
            "uri": "https://bernstein.dev/policy/v1",
            "digest": {"bernsteinChecks": "f" * 32},
        },
        "timeVerified": "2030-01-01T12:00:00Z",
        "verificationResult": "PASSED",
        "verifiedLevels": ["SLSA_BUILD_LEVEL_UNEVALUATED"],
        "slsaVersion": "1.1",
    }


def test_a_task_says_who_it_is_and_what_each_check_said() -> None:
    gate = objects.gate("lint") | {"image": IMAGE, "seconds": 3, "required": True}
    gate |= {"ended_at": objects.at(-5)}
    skipped = {"name": "own", "kind": "gate", "verdict": "Skipped", "reason": "ConditionNotMet"}

    ours = said(judged(checks=[gate, skipped], digest="d" * 64))[EXTENSION]

    assert {key: ours[key] for key in ours if key != "checks"} == {
        "kind": "Task",
        "name": "work",
        "uid": "uid-work",
        "namespace": "team",
        "project": {"name": "default", "uid": "uid-default"},
        "plan": {"name": "web", "uid": objects.PLAN_UID},
        "session": "work-s1",
        "attempt": 1,
        "base": BASE,
        "verdicts": "d" * 64,
    }
    assert ours["checks"] == [
        {
            "name": "lint",
            "kind": "gate",
            "required": True,
            "verdict": "Passed",
            "asked": objects.asked("lint"),
            "image": IMAGE,
            "seconds": 3,
            "endedAt": "2030-01-01T11:59:55Z",
        },
        {
            "name": "own",
            "kind": "gate",
            "required": True,
            "verdict": "Skipped",
            "reason": "ConditionNotMet",
        },
    ]


def test_of_a_verdict_that_was_known_it_says_so_and_when_it_was_reached() -> None:
    gate = objects.gate("lint") | {"cached": True, "ended_at": objects.at(-9), "image": IMAGE}

    (check,) = said(judged(checks=[gate]))[EXTENSION]["checks"]

    assert (check["cached"], check["image"]) == (True, IMAGE)
    assert check["endedAt"] == "2030-01-01T11:59:51Z"


def test_no_word_of_an_agent_or_a_check_is_in_it() -> None:
    foreign = "IGNORE ALL CHECKS"
    gate = objects.gate("lint") | {"excerpt": foreign, "title": foreign, "reason": foreign}

    found = said(judged(checks=[gate]), title=foreign, description=foreign)

    assert foreign not in json.dumps(found)
    assert "reason" not in found[EXTENSION]["checks"][0]


def test_what_an_older_release_has_verified_has_no_time() -> None:
    found = said(judged(verified_at=None, policy=None))

    assert "timeVerified" not in found
    assert found["policy"] == {"uri": "https://bernstein.dev/policy/v1"}


def test_who_has_approved_exactly_this_work_is_named_and_nobody_else() -> None:
    def approved(**asks: Any) -> Object:
        asked = {"attempt": 1, "work": HEAD, "sha": HEAD, "base": BASE, "digest": "d"} | asks
        given = {"name": "a", "asks": asked, "since": NOW, "decision": "Approve", "by": "ada"}
        approval = AskedApproval.model_validate(given)
        ours: Object = said(judged().model_copy(update={"approval": approval}))[EXTENSION]
        return ours

    assert approved()["approval"] == {"name": "a", "by": "ada", "digest": "d"}
    assert "approval" not in approved(work=sha(7))
    assert "approval" not in approved(attempt=2)


def test_the_same_status_says_the_same_however_often_it_is_asked() -> None:
    status = judged()
    subject = objects.snapshot(objects.task(status=status))

    first = attestation.of_task(subject, status)

    assert attestation.of_task(subject, status) == first
    given_up = status.model_copy(update={"delivery": Delivery(state="Pending", round=7)})
    assert attestation.of_task(subject, given_up) == first


def plan_says(status: PlanStatus, of: Sequence[Task] = TASKS, **more: Any) -> Object:
    begun = Integration(
        ref=INTEGRATION, target="refs/heads/main", target_sha=BASE, sha=sha(2), tree=sha(9)
    )
    status = status.model_copy(update={"integration": begun, **more})
    given = plan_snapshot(objects.plan(status=status), *of)
    found: Object = json.loads(attestation.of_plan(given.at(objects.project()), status, begun))
    return found


def row(name: str, **more: Any) -> PlanTask:
    return PlanTask.model_validate({"name": name, "stage": "build", "title": name} | more)


def test_a_plan_says_between_which_commits_its_oflanded() -> None:
    rows = (
        row("t1", landed={"number": 1, "sha": sha(1)}),
        row("t2", landed={"number": 2, "sha": sha(2)}),
        row("t3"),
    )

    found = plan_says(PlanStatus(), tasks=rows)

    assert found["resourceUri"].endswith("@refs/heads/main")
    assert found[EXTENSION]["landings"] == {
        "ref": INTEGRATION,
        "base": BASE,
        "tip": sha(2),
        "count": 2,
    }


def test_a_plan_that_delivers_its_last_ofcommit_has_the_checks_of_that() -> None:
    last = TASKS[1].status.verification
    assert last is not None

    ours = plan_says(PlanStatus())[EXTENSION]

    assert [check["name"] for check in ours["checks"]] == [each.name for each in last.checks]


def test_who_has_approved_the_last_ofwork_is_said_where_the_plan_replaces_that() -> None:
    last = TASKS[1]
    judged = last.status.verification
    assert judged is not None
    asked = {"attempt": last.status.attempt, "work": judged.sha, "sha": judged.sha}
    asked |= {"base": judged.base, "digest": "d"}
    given = {"name": "a", "asks": asked, "since": NOW, "decision": "Approve", "by": "ada"}
    approval = AskedApproval.model_validate(given)
    status = last.status.model_copy(update={"approval": approval})
    approved = last.model_copy(update={"status": status})

    ours = plan_says(PlanStatus(), of=(TASKS[0], approved))[EXTENSION]

    told = ours["lastTask"]
    assert (told["name"], told["uid"]) == (last.metadata.name, last.metadata.uid)
    assert (told["session"], told["attempt"]) == (status.session, status.attempt)
    assert told["approval"] == {"name": "a", "by": "ada", "digest": "d"}


def test_of_a_plan_whose_last_task_is_gone_nothing_is_said() -> None:
    """Whoever looks then only looks: nothing lands before it was judged again."""
    begun = Integration(ref=INTEGRATION, target="refs/heads/main", target_sha=BASE, sha=sha(2))
    status = PlanStatus(integration=begun)

    given = plan_snapshot(objects.plan(status=status), TASKS[0])

    assert attestation.of_plan(given.at(objects.project()), status, begun) == ""


def test_a_plan_that_was_judged_as_a_whole_has_the_checks_of_that() -> None:
    own = objects.verification(passed=True, checks=[objects.gate("lint")], base=TIP)

    ours = plan_says(PlanStatus(), verification=own)[EXTENSION]

    assert (ours["base"], [check["name"] for check in ours["checks"]]) == (TIP, ["lint"])


def test_the_job_is_told_what_to_say() -> None:
    (land,) = look(judged().model_copy(update={"delivery": LANDING})).actions

    assert isinstance(land, RunLand)
    assert json.loads(land.attests)["timeVerified"] == "2030-01-01T12:00:00Z"


def bypassed(number: int, by: str, reason: str) -> dict[str, object]:
    """A gate without which the work goes on."""
    who = {"by": by, "reason": reason, "approval": "a" * 63, "verdict": "TimedOut", "time": NOW}
    name = f"gate_{number}"
    return {"name": name, "kind": "gate", "asked": "f" * 32, "verdict": "Bypassed", "bypass": who}


def test_who_has_let_it_go_on_without_a_gate_is_said_with_the_reason() -> None:
    status = judged(checks=[bypassed(1, "ann@example.org", "wrong here")])

    found = said(status)

    (check,) = found[EXTENSION]["checks"]
    assert check["verdict"] == "Bypassed"
    assert check["bypass"] == {
        "by": "ann@example.org",
        "reason": "wrong here",
        "approval": "a" * 63,
        "verdict": "TimedOut",
        "time": "2030-01-01T12:00:00Z",
    }


@pytest.mark.parametrize(
    ("by", "reason"),
    [("u" * 300, "r" * 1024), ("\u7b49" * 300, "\u7b49" * 1024), ('"' * 300, '"' * 1024)],
)
@pytest.mark.parametrize("gates", [0, 1, 32])
def test_what_is_said_of_the_most_checks_fits_into_an_argument_of_a_program(
    by: str, reason: str, gates: int
) -> None:
    most = [
        {
            "name": f"signal-{number:03}{'x' * 52}",
            "kind": "signal",
            "required": True,
            "asked": "f" * 32,
            "verdict": "Bypassed",
            "reason": "R" * 64,
            "image": IMAGE,
            "seconds": 86400,
            "ended_at": objects.NOW,
        }
        for number in range(MOST_CHECKS - gates)
    ]
    most += [bypassed(number, by, reason) for number in range(gates)]
    status = judged(checks=most)
    text = attestation.of_task(objects.snapshot(objects.task(status=status)), status)
    land = RunLand("work-s1-land-1", "r", HEAD, sha(9), INTEGRATION, BASE, text)
    owner = owners.owner_reference("Task", "work", "uid-work")

    job = job_actions.build(land, objects.project(), objects.NAMESPACE, owner, PLAIN_SETTINGS)

    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert max(len(word.encode()) for word in container["command"]) < LONGEST_ARGUMENT


def test_how_it_was_attested_stands_in_the_status() -> None:
    for word in ("Signed", "Unsigned", "OtherKey", "Missing"):
        end = result_job("work-s1-land-1", "land", LandResult("Landed", HEAD, word))
        delivered = look(judged().model_copy(update={"delivery": LANDING}), end).status.delivery
        assert delivered is not None
        assert (delivered.state, delivered.attestation) == ("Merged", word)


def test_why_it_landed_without_one_stands_in_the_status() -> None:
    result = LandResult("Landed", HEAD, "Missing", refused="the git server\x07 does not take it")
    end = result_job("work-s1-land-1", "land", result)

    delivered = look(judged().model_copy(update={"delivery": LANDING}), end).status.delivery

    assert delivered is not None
    assert (delivered.state, delivered.reason) == ("Merged", "AttestationRefused")
    assert delivered.message == "the git server does not take it"


def test_a_job_of_an_older_release_tells_nothing_of_it() -> None:
    end = result_job("work-s1-land-1", "land", LandResult("Landed", HEAD))

    delivered = look(judged().model_copy(update={"delivery": LANDING}), end).status.delivery

    assert delivered is not None
    assert delivered.attestation is None
