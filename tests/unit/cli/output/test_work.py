"""The table of a workflow's nodes: how each stands, its Task, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.workflow import NodeStatus
from bernstein.api.task import Task
from bernstein.cli.output import details, work
from bernstein.cli.output.views import LineView
from tests.unit.cli import courses
from tests.unit.cli.scenes import HOSTILE, SHA, plan, running_tasks, terminal
from tests.unit.core.drawing.drawings import WORDS

MENDED = """\
plan
  ✓ decompose  done        ci-pipeline-decompose-i1  merged a1b2c3d4       $0.12
implement
  ✓ build-api  done        ci-pipeline-build-api-i1
  ● fix-bugs   running     ci-pipeline-fix-bugs-i1   editing the limiter…  $0.30
verify
  ◆ run-tests  looping     ci-pipeline-run-tests-i1  waits for fix-bugs …
merge
  ○ deploy     pending                               waits for run-tests
"""


def tasks() -> list[Task]:
    merged = {"state": "Merged", "sha": SHA}
    return [
        courses.task("decompose", state="Closed", spendUsd="0.12", delivery=merged),
        courses.task("fix-bugs", state="InProgress", spendUsd="0.3"),
    ]


def told(of: Plan, *, width: int = 80, tty: bool = True, progress: str = "") -> list[str]:
    shown, console = terminal(width=width, tty=tty)
    shown.show(work.table(of, tasks(), {"ci-pipeline-fix-bugs-i1": progress}))
    return [row.rstrip() for row in console.export_text().splitlines()]


def test_a_running_workflow_is_shown_node_by_node_in_80_columns() -> None:
    rows = told(courses.mended(), progress=f"editing the limiter {HOSTILE}")

    assert "".join(f"{row}\n" for row in rows) == MENDED


def test_the_number_of_a_run_is_told_from_the_second_one_on() -> None:
    (row,) = (row for row in told(courses.over()) if "run-tests" in row)

    assert row.split()[:4] == ["✓", "run-tests", "done", "#2"]


def test_before_anything_has_begun_every_node_is_pending() -> None:
    nothing = courses.plan().model_copy(update={"status": PlanStatus()})

    rows = [row.split() for row in told(nothing) if row.startswith(" ")]

    assert [row[1:] for row in rows] == [
        [name, "pending"] for name in ("decompose", "build-api", "fix-bugs", "run-tests", "deploy")
    ]


def standing(of: Plan, name: str, **fields: object) -> Plan:
    course = of.status.workflow
    assert course is not None
    changed = [
        each.model_copy(update=fields) if each.name == name else each for each in course.nodes
    ]
    course = course.model_copy(update={"nodes": tuple(changed)})
    return of.model_copy(update={"status": of.status.model_copy(update={"workflow": course})})


@pytest.mark.parametrize(
    ("name", "fields", "why"),
    [
        ("build-api", {"state": "Awaiting"}, "a person must let the phase implement begin"),
        (
            "run-tests",
            {"state": "Failed", "exhausted": True},
            "no run of fix-bugs is left",
        ),
        (
            "fix-bugs",
            {"state": "Failed", "exhausted": True},
            "no run of fix-bugs is left",
        ),
    ],
)
def test_why_a_node_stands_still_is_said(name: str, fields: dict[str, object], why: str) -> None:
    rows = told(standing(courses.mended(), name, **fields), tty=False, width=10_000)

    (row,) = (row.removesuffix("$0.30").rstrip() for row in rows if row[3:].startswith(f" {name} "))
    assert row.endswith(f"  {why}")


def test_a_node_whose_task_needs_a_person_is_not_shown_as_one_at_work() -> None:
    invalid = {
        "reason": "RoleInvalid",
        "message": "AgentRole 'sre' cannot be used. Remedy: Correct it.",
        "since": "2030-01-01T12:00:00Z",
        "needsPerson": True,
    }
    shown, console = terminal(tty=False, width=10_000)
    stuck = courses.task("fix-bugs", state="Open", waiting=invalid)

    shown.show(work.table(courses.mended(), [stuck], {}))

    (row,) = (row for row in console.export_text().splitlines() if "fix-bugs" in row[:20])
    assert row.split()[:3] == ["○", "fix-bugs", "waiting"]
    assert "AgentRole 'sre' cannot be used" in row


def test_a_skipped_node_says_which_condition_did_not_hold_on_what() -> None:
    (row,) = (row for row in told(skipped(), tty=False, width=10_000) if "fix-bugs" in row)

    assert row.endswith("""  not run-tests if status == 'failed' (status = "done")""")
    assert row.split()[:3] == ["⊘", "fix-bugs", "skipped"]


def test_a_log_tells_once_what_becomes_of_nodes_without_a_task() -> None:
    shown, console = terminal(width=10_000)
    view = LineView(shown)

    for of in (courses.plan(), courses.mended(), courses.mended(), skipped()):
        view.update(of, [], {}, "")

    rows = [row[10:].rstrip() for row in console.export_text().splitlines() if " node " in row]
    assert rows == [
        "node        run-tests is looping: waits for fix-bugs to decide",
        "node        fix-bugs is skipped: not run-tests if status == 'failed' (status = \"done\")",
    ]


def test_a_log_of_what_had_ended_before_gives_nodes_no_time_that_they_did_not_have() -> None:
    shown, console = terminal(width=10_000)
    over = skipped()
    ended = over.status.model_copy(update={"ended_at": over.status.started_at})

    LineView(shown).update(over.model_copy(update={"status": ended}), [], {}, "")

    assert " node " not in console.export_text()


@pytest.mark.parametrize(("lasts", "looks"), [(False, False), (True, True)])
def test_a_run_that_failed_is_looked_at_where_the_workflow_has_failed_for_it(
    lasts: bool, looks: bool
) -> None:
    shown, console = terminal(width=200)
    of = courses.mended()
    if lasts:
        of = standing(of, "run-tests", state="Failed", exhausted=True)
        of = standing(standing(of, "fix-bugs", state="Done"), "deploy", state="Skipped")
    failed = courses.task("run-tests", state="Failed", attempt=1, feedback="no")

    details.tell_standing(shown, of, [failed])

    assert ("ci-pipeline-run-tests-i1  failed" in console.export_text()) is looks


def skipped() -> Plan:
    return courses.plan(
        *(("decompose", "done"), ("build-api", "done"), ("run-tests", "done"), ("deploy", "done"))
    )


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            {"decision": "Reject", "by": "ann", "reason": "too early"},
            "the phase implement was rejected by ann, who says: too early",
        ),
        ({"decision": "Expired"}, "nobody let the phase implement begin in time"),
        ({"decision": "Approve", "by": "ann"}, ""),
    ],
)
def test_a_node_whose_phase_was_rejected_says_so(answer: dict[str, str], why: str) -> None:
    of = standing(courses.plan(), "build-api", state="Cancelled")
    course = of.status.workflow
    assert course is not None
    (phase,) = course.phases
    phase = phase.model_copy(update={"approval": phase.approval.model_copy(update=answer)})
    course = course.model_copy(update={"phases": (phase,)})
    of = of.model_copy(update={"status": of.status.model_copy(update={"workflow": course})})

    rows = told(of, tty=False, width=10_000)
    (row,) = (row for row in rows if row[3:].startswith(" build-api "))

    assert row.split("cancelled")[1].strip() == why


def test_a_plan_of_stages_is_shown_as_before() -> None:
    shown, console = terminal()

    shown.show(work.table(plan(), running_tasks(), {}))

    assert "Add RateLimiter middlewa…" in console.export_text()


@given(
    words=WORDS,
    width=st.sampled_from([60, 80, 200]),
    state=st.sampled_from(NodeStatus.model_json_schema()["properties"]["state"]["enum"]),
)
def test_no_words_break_the_table(words: str, width: int, state: str) -> None:
    of = standing(courses.mended(), "fix-bugs", state=state)
    workflow = of.spec.workflow
    assert workflow is not None
    nodes = tuple(node.model_copy(update={"title": words}) for node in workflow.nodes)
    phases = tuple(
        p.model_copy(update={"name": words}) if p.name == "plan" else p for p in workflow.phases
    )
    changed = workflow.model_copy(update={"nodes": nodes, "phases": phases})
    of = of.model_copy(update={"spec": of.spec.model_copy(update={"workflow": changed})})

    rows = told(of, width=width, progress=words)

    assert "\x1b" not in "".join(rows)
    assert max(map(cell_len, rows)) <= width
