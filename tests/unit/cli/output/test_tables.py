"""What people see of Plans and Tasks."""

from __future__ import annotations

import pytest

from bernstein.api.approvals.approval import Approval
from bernstein.cli.output import details, notes, tables
from tests.unit.cli.scenes import (
    AT,
    HOSTILE,
    condition,
    failed_task,
    name,
    plan,
    running_tasks,
    task,
    terminal,
    verification,
)

OUT = {"checks": "tests, lint and 2 more", "told": "2030-01-01T00:00:00Z"}

RUNNING = """\
rate-limit-api  Running · 2/7 closed · $0.42 of $5.00 · 3:12
design
  ✓ Pick rate-limit algorith…  closed       merged a1b2c3d4                $0.12
  ✓ Document Redis key schema  closed       merged a1b2c3d4, 2 attempts   <$0.01
implement
  ● Add RateLimiter middlewa…  in progress  attempt 2: editing the limi…   $0.30
  ◆ Wire middleware into Fas…  done         merging (landing)
  ✗ Write rate-limiter unit …  failed       no retry is left after 4 at…   $1.20
verify
  ○ Run full test suite        open         waits for x
  ○ Update API reference
"""


def test_a_running_plan_is_shown_step_by_step_in_80_columns() -> None:
    shown, console = terminal()

    shown.show(tables.headline(plan(endedAt="2030-01-01T00:03:12Z")))
    shown.show(
        tables.steps_table(plan(), running_tasks(), {name(2): f"editing the limiter {HOSTILE}"})
    )

    text = "".join(f"{row.rstrip()}\n" for row in console.export_text().splitlines())
    assert text == RUNNING


@pytest.mark.parametrize("width", [80, 120])
def test_the_description_of_a_plan_is_wrapped_cut_and_harmless(width: int) -> None:
    shown, console = terminal(width=width, tty=True)
    words = f"First paragraph. {HOSTILE}\n\nSecond. {'word ' * 500}"

    shown.show(tables.description(words, shown.people))

    rows = [row.rstrip() for row in console.export_text().splitlines()]
    assert rows[:2] == [f"  First paragraph. gnp.exe {AT}everyone", ""]
    assert all(row.startswith("  ") for row in rows[2:])
    assert max(map(len, rows)) in range(width - 5, width + 1)
    assert rows[-1].endswith("…")
    assert sum(map(len, rows)) < 1100


def test_the_list_of_tasks_shows_whole_names_in_80_columns() -> None:
    shown, console = terminal()

    shown.show(tables.task_table(running_tasks(), console))

    rows = console.export_text().splitlines()
    assert all(len(row.rstrip()) <= 80 for row in rows)
    assert [row.split()[:2] for row in rows[2:]] == [
        [name(0), "closed"],
        [name(1), "closed"],
        [name(2), "in_progress"],
        [name(3), "done"],
        [name(4), "failed"],
        [name(5), "open"],
    ]


@pytest.mark.parametrize("width", [80, 72])
@pytest.mark.parametrize(
    "reason", ["AgentNotStarted", "SecretNotFound", "NotificationOfTwentyFour"]
)
def test_the_list_of_tasks_cuts_no_reason_but_names(width: int, reason: str) -> None:
    shown, console = terminal(width=width)
    waiting = {"reason": reason, "since": "2030-01-01T12:00:00Z"}

    shown.show(tables.task_table([*running_tasks(), task(5, waiting=waiting)], console))

    *_, row = rows = console.export_text().splitlines()
    assert reason in row
    assert max(len(row.rstrip()) for row in rows) <= width
    assert len(rows) == len(running_tasks()) + 3


def test_a_wide_terminal_also_shows_the_titles() -> None:
    shown, console = terminal(width=160)

    shown.show(tables.task_table(running_tasks(), console))

    assert "Document Redis key schema" in console.export_text()


@pytest.mark.parametrize(
    ("delivered", "words"),
    [
        ({}, ""),
        ({"attestation": "Unsigned"}, ""),
        ({"attestation": "Signed"}, ", attestation signed"),
        (
            {"attestation": "OtherKey"},
            ", attestation signed by another key than the Project names",
        ),
        (
            {"attestation": "Missing", "reason": "AttestationRefused"},
            ", attestation missing: the git server takes none",
        ),
    ],
)
def test_a_delivered_plan_tells_what_is_there_to_prove_it(
    delivered: dict[str, str], words: str
) -> None:
    shown, console = terminal(width=200)
    merged = {"state": "Merged", "sha": "a" * 40, "onto": "refs/heads/main", **delivered}

    details.tell_ending(shown, plan(delivery=merged), [], good=True)

    assert f"  aaaaaaaaaaaa on refs/heads/main{words}" in console.export_text().splitlines()


def test_a_failed_plan_tells_the_failed_task_with_its_verdicts_and_remedies() -> None:
    shown, console = terminal(width=200)
    stalled = condition("Stalled", "True", "TaskFailed", "1 Task ended. Remedy: Read it.")

    details.tell_ending(
        shown, plan(phase="Failed", conditions=[stalled]), running_tasks(), good=False
    )

    mine = name(4)
    assert console.export_text().splitlines() == [
        "✗ Failed: TaskFailed: 1 Task ended.",
        "  Read it.",
        "",
        f"{mine}  failed",
        "  Write rate-limiter unit tests",
        f"  attempt 3 ({mine}-s1)  it reported success, then SignalFailed",
        f"  attempt 4 ({mine}-s2)  it reported success, then GateFailed",
        "  ✗ gate lint: Failed",
        f"      F401 unused gnp.exe {AT}everyone",
        "  ✓ gate pii_scan: Passed",
        "  GateFailed: no retry is left after 4 attempts",
        "  Read the verdict.",
        f"  All that its checks printed: bernstein logs {mine}",
    ]


@pytest.mark.parametrize("counts", [{"verifying": 1}, {"running": 1, "verifying": 1}])
def test_what_stops_a_plan_is_told_alike_whether_or_not_something_of_it_runs(
    counts: dict[str, int],
) -> None:
    shown, console = terminal(width=200)
    stalled = condition("Stalled", "True", "GateErrored", "'lint' could not run. Remedy: Mend it.")

    details.tell_standing(shown, plan(phase="Stalled", counts=counts, conditions=[stalled]), [])

    assert console.export_text().splitlines() == [
        "✗ Stalled: GateErrored: 'lint' could not run.",
        "  Mend it.",
        "  It stands still: nothing is tried by itself until the Project changes.",
    ]


def test_what_a_plan_does_is_told() -> None:
    shown, console = terminal(width=200)

    details.tell_standing(shown, plan(), [])

    assert console.export_text().splitlines() == ["Tasks are running"]


def judged(**check: object) -> dict[str, object]:
    """The verification of what a Plan delivers, by one check."""
    fields = {"name": "tests", "kind": "gate", "title": "tests", "required": True}
    return verification(passed=False, checks=[fields | check])


def test_the_verdicts_on_work_end_with_its_score_where_it_has_one() -> None:
    for score, last in (({"qualityScore": 85}, "  quality score 85 of 100"), ({}, "lint: Passed")):
        shown, console = terminal(width=200)
        status = {"state": "Closed", "verification": verification(checks=[PASSED], **score)}

        details.tell_verdicts(shown, task(0, **status))

        assert console.export_text().splitlines()[-1].endswith(last)


def test_a_plan_whose_whole_was_refused_tells_the_verdicts_and_where_there_is_more() -> None:
    shown, console = terminal(width=200)
    stalled = condition("Stalled", "True", "GateFailed", "it does not pass Remedy: Mend it.")
    ran = judged(verdict="Failed", reason="ExitCode", excerpt="1 failed", seconds=9)

    found = plan(phase="Stalled", conditions=[stalled], verification=ran)
    details.tell_ending(shown, found, [], good=False)

    assert console.export_text().splitlines() == [
        "✗ Stalled: GateFailed: it does not pass",
        "  Mend it.",
        "  It stands still: nothing is tried by itself until the Project changes.",
        "  ✗ gate tests: Failed (ExitCode)",
        "      1 failed",
        "  All that its checks printed: bernstein logs rate-limit-api",
    ]


def test_of_a_plan_in_several_repositories_verdicts_stand_below_the_name_of_each() -> None:
    shown, console = terminal(width=200)
    failed = judged(verdict="Failed", reason="ExitCode")
    passed = {**judged(verdict="Passed"), "qualityScore": 90}
    rows = [{"name": "api", "verification": passed}, {"name": "web", "verification": failed}]

    details.tell_plan(shown, plan(phase="Stalled", verification=failed, repositories=rows))

    assert console.export_text().splitlines() == [
        "rate-limit-api  Stalled",
        "  Tasks are running",
        "  in repository api:",
        "  ✓ gate tests: Passed",
        "  quality score 90 of 100",
        "  in repository web:",
        "  ✗ gate tests: Failed (ExitCode)",
    ]


@pytest.mark.parametrize(
    ("check", "more"),
    [
        ({"verdict": "Failed", "seconds": 0}, True),
        ({"verdict": "TimedOut"}, True),
        ({"verdict": "Errored", "reason": "ToolMissing", "seconds": 0}, True),
        ({"verdict": "Errored", "reason": "PodLost"}, False),
        ({"verdict": "Failed"}, False),
        ({"verdict": "Failed", "seconds": 9, "cached": True}, False),
        ({"verdict": "Passed", "seconds": 5}, False),
    ],
)
def test_only_checks_that_ran_and_did_not_pass_have_more_to_say(
    check: dict[str, object], more: bool
) -> None:
    shown, console = terminal(width=200)
    stalled = condition("Stalled", "True", "GateFailed", "it does not pass")

    found = plan(phase="Stalled", conditions=[stalled], verification=judged(**check))
    details.tell_ending(shown, found, [], good=False)

    assert ("bernstein logs" in console.export_text()) is more


def test_a_plan_that_succeeded_says_what_was_delivered_where() -> None:
    shown, console = terminal()
    done = condition("Succeeded", "True", "Delivered", "verified and merged")
    delivery = {"state": "Merged", "sha": "a1b2" * 10, "onto": "refs/heads/main"}

    details.tell_ending(
        shown, plan(phase="Succeeded", conditions=[done], delivery=delivery), [], good=True
    )

    assert console.export_text().splitlines() == [
        "✓ Succeeded: verified and merged",
        "  a1b2a1b2a1b2 on refs/heads/main",
    ]


MERGED = {"state": "Closed", "delivery": {"state": "Merged", "sha": "f" * 40}}
PASSED = {"name": "lint", "kind": "gate", "verdict": "Passed"}
BESIDE = {"name": "file-scope", "kind": "gate", "required": False, "verdict": "Failed"}


@pytest.mark.parametrize(
    ("status", "note"),
    [
        ({"state": "Claimed"}, "starting"),
        ({"state": "InProgress"}, "at work"),
        ({"state": "InProgress", "attempt": 2}, "attempt 3: at work"),
        ({"state": "Done"}, "verifying"),
        (
            {"state": "Done", "verification": verification(outstanding=OUT)},
            "verifying; still out: tests, lint and 2 more",
        ),
        (
            {
                "state": "Done",
                "verification": verification(candidate=True, round=1, outstanding=OUT),
            },
            "verifying on a newer tip; still out: tests, lint and 2 more",
        ),
        ({"state": "Done", "verification": verification(passed=True)}, "verified"),
        ({"state": "PendingApproval"}, "awaits approval"),
        ({"state": "Closed", "delivery": {"state": "Merged", "sha": "f" * 40}}, "merged ffffffff"),
        (
            {**MERGED, "verification": verification(passed=True, qualityScore=100)},
            "merged ffffffff",
        ),
        (
            {**MERGED, "verification": verification(qualityScore=85, checks=[BESIDE, PASSED])},
            "merged ffffffff, file-scope failed (not required), quality score 85 of 100",
        ),
        ({"state": "Closed", "delivery": {"state": "NoChange"}}, "verified, nothing to merge"),
        ({"state": "Open"}, ""),
        (
            {
                "state": "Open",
                "hold": {
                    "reason": "ImagePullFailed",
                    "message": "no such image",
                    "retryAt": "2030-01-01T00:00:00Z",
                    "generation": 1,
                },
            },
            "no such image (again at 00:00:00 UTC)",
        ),
    ],
)
def test_every_task_says_what_it_does_or_waits_for(status: dict[str, object], note: str) -> None:
    assert notes.note(task(0, **status), "") == note


@pytest.mark.parametrize(
    ("amount", "shown"), [("0", "$0.00"), ("0.004", "<$0.01"), ("12.345", "$12.34")]
)
def test_money_is_rounded_but_never_to_nothing(amount: str, shown: str) -> None:
    assert tables.cents(amount) == shown


@pytest.mark.parametrize(
    ("source", "amount", "shown"),
    [
        (None, "0", "–"),  # noqa: RUF001 - what is shown
        ("Reported", "0", "$0.00"),
        ("Unpriced", "0", "–"),  # noqa: RUF001 - what is shown
        ("Unreported", "0", "–"),  # noqa: RUF001 - what is shown
        ("Unreported", "0.3", "$0.30"),
    ],
)
def test_money_that_nobody_knows_is_not_shown_as_none(
    source: str | None, amount: str, shown: str
) -> None:
    spent = {"spendUsd": amount, "spendSource": source}

    assert tables.spent(task(0, **spent).status) == shown
    closed = {"total": 7, "closed": 1 if source else 0}
    told = {"spendSource": None if source == "Reported" else source, "counts": closed}
    of_plan = plan(**spent | told)
    assert tables.spent(of_plan.status) == shown


def test_a_task_without_trouble_needs_no_look() -> None:
    assert details.needs_a_look(failed_task())
    assert not details.needs_a_look(task(0, state="InProgress"))


def test_a_plan_that_stands_still_says_that_it_goes_on_and_when_it_is_tried() -> None:
    shown, console = terminal(width=300)
    waiting = {
        "reason": "SecretNotFound",
        "message": 'secret "x" not found. Remedy: Create it.',
        "since": "2030-01-01T12:00:00Z",
        "until": "2030-01-01T12:00:08Z",
        "needsPerson": True,
    }

    details.tell_standing(shown, plan(phase="Stalled", waiting=waiting, endedAt=None), [])

    assert console.export_text().splitlines()[:3] == [
        '✗ Stalled: SecretNotFound: secret "x" not found.',
        "  Create it.",
        "  It stands still, and goes on by itself once that is mended: it is tried again at "
        "12:00:08 UTC, and at once when the Project changes.",
    ]


def test_a_plan_whose_task_has_failed_does_not_go_on_by_itself() -> None:
    waiting = {"reason": "TaskFailed", "message": "x", "since": "2030-01-01T12:00:00Z"}
    stands = plan(phase="Stalled", waiting=waiting | {"needsPerson": True}, endedAt=None)

    assert notes.how_it_goes_on(stands) == ""


def test_a_reason_is_not_told_twice() -> None:
    assert notes.labelled("GateFailed", "GateFailed: lint") == "GateFailed: lint"
    assert notes.labelled("GateFailed", "lint") == "GateFailed: lint"


@pytest.mark.parametrize(
    ("files_changed", "files", "lines"),
    [
        (2, [("a.py", 40, 2), ("b.py", 1, 0)], "+41 -2"),
        (9, [("a.py", 40, 2)], "+40 -2 …"),
        (2, [("a.py", 40, 2), ("logo.png", None, None)], "+40 -2 …"),
        (1, [], ""),
    ],
    ids=["all of them", "some of many", "one without numbers", "nobody knows"],
)
def test_who_decides_sees_how_many_lines_changed(
    files_changed: int, files: list[tuple[str, int | None, int | None]], lines: str
) -> None:
    most = [{"path": path, "added": added, "deleted": gone} for path, added, gone in files]
    asked = asks_about("work", title="x", files_changed=files_changed, most_changed=most or None)
    shown, console = terminal(width=200)

    shown.show(tables.approval_table([asked], shown.people))

    row = console.export_text().splitlines()[-1]
    told = row.partition("work")[2].split()
    assert told == ["aaaaaaaa", str(files_changed), *lines.split(), "–"]  # noqa: RUF001 - no minus


@pytest.mark.parametrize(
    ("kind", "cost", "told"),
    [
        ("Task", "1.2", "$1.20"),
        ("Task", "0", "$0.00"),
        ("Task", None, "–"),  # noqa: RUF001 - no minus
        ("Plan", "1.2", "~$1.20"),
        ("Plan", None, "–"),  # noqa: RUF001 - no minus
    ],
)
def test_who_decides_sees_a_cost_that_nobody_knows_as_such_and_an_estimate_as_one(
    kind: str, cost: str | None, told: str
) -> None:
    asked = asks_about("web", kind, title="x", cost_usd=cost)
    shown, console = terminal(width=200)

    shown.show(tables.approval_table([asked], shown.people))

    assert told in console.export_text().splitlines()[-1].split()


def asks_about(name: str, kind: str = "Task", /, **shown: object) -> Approval:
    """A question about the work of a Task, or a Plan, with what is shown of it."""
    asks = {"attempt": 1, "sha": "a" * 40, "base": "0" * 40, "digest": "d" * 64}
    return Approval.model_validate(
        {
            "metadata": {"name": f"{name}-approval-1", "namespace": "team", "uid": "u"},
            "spec": {"subject": {"kind": kind, "name": name, "uid": "u"}, "asks": asks},
            "status": {"state": "Pending", "shown": shown},
        }
    )
