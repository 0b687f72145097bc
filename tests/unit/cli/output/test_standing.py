"""What is said of a Plan that stands still, has ended, or was not seen yet: each thing once."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.output import details, notes, tables
from bernstein.cli.output.views import LineView
from bernstein.cli.settings import CliSettings
from bernstein.core.serializers import plan_record
from tests.unit.cli.scenes import SHA, ago, condition, name, needs, plan, task, terminal

AGAIN = "`bernstein retry task/x` gives it another round"


def attempt(message: str) -> dict[str, Any]:
    how = {"session": "s", "attempt": 1, "counted": True, "reason": "AgentFailed"}
    return how | {"message": message}


def stalled(reason: str, message: str, **more: Any) -> Plan:
    return plan(phase="Stalled", **needs(reason, message), **more)


def told(found: Plan, *tasks: Task, settings: CliSettings | None = None) -> str:
    shown, console = terminal(width=4000, settings=settings)
    details.tell_standing(shown, found, tasks)
    return console.export_text()


def test_nothing_is_tried_by_itself_while_a_conflict_stands() -> None:
    said = told(stalled("MergeConflict", f"it does not merge. Remedy: {AGAIN}."))

    assert "It stands still: nothing is tried by itself.\n" in said
    assert "tried again" not in said


def test_of_a_conflict_whose_remedy_names_no_command_it_is_named() -> None:
    said = told(stalled("MergeConflict", "it does not merge. Remedy: Look."))

    assert "nothing is tried by itself. Another round: `bernstein retry rate-limit-api`.\n" in said


def test_what_was_said_of_the_pull_request_and_went_back_is_told() -> None:
    pull = {"number": 7, "url": "https://git.example/app/pulls/7", "state": "Open"}
    delivery = {"state": "PullRequestOpen", "pullRequest": pull | {"sha": "a" * 40}}
    delivery["feedback"] = {"times": 2, "text": "ann says:\n> Make it two."}

    rows = told(plan(phase="Running", delivery=delivery)).splitlines()

    assert "  went back to an agent, 2 times: ann says: > Make it two." in rows


@pytest.mark.parametrize(
    ("ci", "words"),
    [
        ("Failed", ", CI failed"),
        ("Pending", ", CI runs"),
        ("Passed", ", CI passed"),
        ("None", ""),
        (None, ""),
    ],
)
def test_the_pull_request_is_told_with_what_ci_says_of_it(ci: str | None, words: str) -> None:
    pull = {"number": 7, "url": "https://git.example/app/pulls/7", "state": "Open"}
    pull |= {"sha": "a" * 40, **({"ci": ci} if ci else {})}
    delivery = {"state": "PullRequestOpen", "pullRequest": pull}
    shown = f"  pull request 7, open{words}: https://git.example/app/pulls/7"

    squashed = {**delivery, "state": "Merged", "sha": "a" * 40, "onto": "refs/heads/main"}
    assert (
        "  aaaaaaaaaaaa merged into refs/heads/main" in told(plan(delivery=squashed)).splitlines()
    )

    waits = plan(phase="Delivering", delivery=delivery)
    assert shown in told(waits).splitlines()
    held = stalled("PullRequestClosed", "it was closed", delivery=delivery)
    assert shown in told(held).splitlines()
    of_a_task: dict[str, Any] = {"state": "Done", "delivery": delivery}
    awaits = {"reason": "PullRequestOpen", "message": "a person merges it", "scope": "Task"}
    awaits |= {"since": "2030-01-01T00:00:00Z"}
    judged = {**dict.fromkeys(("sha", "base", "tree"), "a" * 40), "ref": "r", "passed": True}
    proposed = task(0, **of_a_task, waiting=awaits, verification=judged)
    assert notes.note(proposed, "") == shown.strip()
    one, console = terminal(width=4000)
    details.tell_task(one, task(0, **of_a_task))
    assert shown in console.export_text().splitlines()
    record = plan_record(waits)["delivery"]["pull_request"]
    assert (record["number"], record["state"], record["ci"]) == (7, "open", ci and ci.lower())


@pytest.mark.parametrize("reason", ["GateErrored", "GateFailed", "SignalFailed"])
def test_what_only_the_project_lets_be_tried_again_is_not_said_to_be_tried(reason: str) -> None:
    said = told(stalled(reason, "no. Remedy: Mend it."))

    assert "It stands still: nothing is tried by itself until the Project changes.\n" in said


def test_an_invalid_plan_is_told_what_to_do_and_nothing_else() -> None:
    waits = needs("PlanInvalid", "a cycle. Remedy: Correct the plan and apply it again.")

    assert told(plan(phase="Invalid", **waits)).splitlines() == [
        "✗ Invalid: PlanInvalid: a cycle.",
        "  Correct the plan and apply it again.",
    ]


def test_the_remedy_of_a_spent_budget_names_the_commands_and_does_not_contradict_them() -> None:
    said = told(stalled("BudgetExceeded", "it is spent"))

    assert "`bernstein run FILE`" in said
    assert "`kubectl edit bplan rate-limit-api`" in said
    assert said.rstrip().endswith("It stands still, and goes on by itself once that is mended.")


def test_the_remedy_of_a_spent_budget_is_told_once_for_a_plan_and_its_tasks() -> None:
    mine = task(0, state="Open", **needs("BudgetExceeded", "$5.00 of $5.00 are spent"))

    said = told(stalled("BudgetExceeded", f"Task '{name(0)}': $5.00 of $5.00 are spent"), mine)

    assert said.count("`bernstein run FILE`") == 1
    assert "NAME" not in said


def test_the_remedy_of_a_spent_budget_names_the_plan_where_its_task_alone_is_told() -> None:
    shown, console = terminal(width=4000)

    details.tell_task(shown, task(0, state="Open", **needs("BudgetExceeded", "it is spent")))

    assert "`kubectl edit bplan rate-limit-api`" in console.export_text()


def test_a_remedy_can_be_pasted() -> None:
    settings = CliSettings(namespace="team", context="prod")

    said = told(stalled("MergeConflict", f"no. Remedy: {AGAIN}."), settings=settings)

    assert "`bernstein retry task/x -n team --context prod` gives" in said


def test_a_command_in_what_has_happened_can_be_pasted_too() -> None:
    settings = CliSettings(namespace="team")
    why = "it failed; `kubectl logs job/x-begin-0` has its words"

    said = told(stalled("RefNotFound", f"{why}. Remedy: Look."), settings=settings)

    assert "`kubectl logs job/x-begin-0 -n team` has its words" in said


def test_what_the_plan_says_its_task_does_not_say_again() -> None:
    why = "the merge conflicts in src/api/limiter.py"
    mine = task(0, state="Done", **needs("MergeConflict", f"{why}. Remedy: {AGAIN}."))
    found = stalled("MergeConflict", f"Task '{name(0)}': {why}. Remedy: {AGAIN}.")

    said = told(found, mine)

    assert said.count(why) == 1
    assert said.count("bernstein retry") == 1


def test_a_long_message_is_told_whole_and_in_words_of_the_command_line() -> None:
    words = "word " * 200
    mine = task(
        0, state="Failed", attempt=9, **needs("AgentFailed", f"{words}; status.feedback has more")
    )

    said = told(stalled("TaskFailed", "1 Task ended"), mine)

    assert words.strip() in said
    assert "status.feedback" not in said


SAYS = "Pay no heed"
QUOTING: dict[str, tuple[str, dict[str, Any]]] = {
    "blocked": ("Blocked", {"state": "Blocked", "blocked": {"session": "s", "text": SAYS}}),
    "attempts": ("AgentFailed", {"attempts": [attempt(f"exit code 1:\n> {SAYS}")]}),
    "delivery": (
        "PushRejected",
        {
            "delivery": {
                "state": "Pending",
                "reason": "PushRejected",
                "message": f"it was refused:\n> {SAYS}",
            }
        },
    ),
}


@pytest.mark.parametrize("field", QUOTING)
def test_what_a_condition_only_points_at_a_person_is_shown(field: str) -> None:
    reason, status = QUOTING[field]
    words = needs(reason, f"no; status.{field} has its words")
    mine = task(0, **({"state": "Open"} | words | status))

    assert f"{reason}: no: {SAYS}\n" in told(stalled(reason, "no"), mine)
    assert notes.note(mine, "") == f"no: {SAYS}"


def test_what_another_task_has_met_is_not_told_in_words_of_this_ones_agent() -> None:
    why = (
        "'one' tries first whether it is mended: its key is refused; status.attempts has its words"
    )
    earlier = {"state": "Open", "attempts": [attempt(f"exit code 1:\n> {SAYS}")]}
    mine = task(0, **earlier, **needs("ModelAuthFailed", why))

    assert notes.note(mine, "") == "'one' tries first whether it is mended: its key is refused"


def test_how_an_attempt_ended_is_told_with_what_the_agent_said() -> None:
    mine = task(
        0,
        state="Failed",
        attempt=1,
        attempts=[attempt(f"exit code 1:\n> {SAYS}")],
        **needs("AgentFailed", "no retry is left"),
    )

    assert f"exit code 1: {SAYS}\n" in told(stalled("TaskFailed", "1 Task ended"), mine)


def test_a_gate_that_was_skipped_is_not_told_as_one_that_has_passed() -> None:
    """It may be the very one that the Task waits for, as where its base fails."""
    checks = [
        {"name": "lint", "kind": "gate", "verdict": "Skipped", "reason": "BaseFails"},
        {"name": "tests", "kind": "gate", "verdict": "Passed"},
    ]
    judged = {"ref": "r", "sha": "a" * 40, "tree": "b" * 40, "base": "c" * 40}
    mine = task(0, verification=judged | {"checks": checks}, **needs("BaseFails", "it fails there"))

    said = told(stalled("TaskFailed", "1 Task ended"), mine)
    assert "- gate lint: Skipped (BaseFails)" in said
    assert "✓ gate tests: Passed" in said


def test_what_is_cut_ends_behind_a_word() -> None:
    assert notes.shortened("one two three", 11) == "one two…"
    assert notes.shortened("one two three", 13) == "one two three"
    assert notes.shortened("unbroken", 4) == "unb…"


def test_the_headline_counts_the_tasks_that_are_shown_below_it() -> None:
    rows = [{"name": name(i), "stage": "x", "state": "Open"} for i in range(3)]
    rows.append({"name": "gone", "stage": "x", "state": "Closed"})
    found = plan(tasks=rows, counts={"total": 4, "closed": 1})
    tasks = [task(0, state="Closed"), task(1, state="Closed"), task(2, state="InProgress")]

    assert "3/4 closed" in tables.headline(found, tasks).plain
    assert "1/4 closed" in tables.headline(found).plain


def test_a_log_tells_the_end_of_a_plan_with_the_time_of_its_end() -> None:
    shown, console = terminal(width=200)
    done = condition("Succeeded", "True", "Delivered", "verified and merged")
    ended = plan(phase="Succeeded", conditions=[done], endedAt="2030-01-01T00:03:12Z")
    assert ended.status.ended_at is not None

    LineView(shown).update(ended, [], {}, "")

    moment = f"{ended.status.ended_at.astimezone():%H:%M:%S}"
    assert console.export_text() == f"{moment}  plan        Succeeded: verified and merged\n"


def unseen(seconds: float) -> Plan:
    fresh = plan()
    metadata = fresh.metadata.dump() | {"creationTimestamp": ago(seconds)}
    return Plan.model_validate({"metadata": metadata, "spec": fresh.spec.dump(), "status": {}})


def test_a_plan_that_the_operator_has_not_looked_at_for_a_while_is_said_to_be() -> None:
    said = told(unseen(20), settings=CliSettings(namespace="team"))

    assert said == (
        "the operator has not looked at it yet: `bernstein doctor -n team` tells whether it works\n"
    )
    assert told(unseen(2)) == ""


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("AgentNotFound", "the Project has no agent 'sonet', it has: demo, sonnet."),
        ("ModelNotFound", "neither the Project nor a table knows the model 'sonet', but: sonnet."),
    ],
)
def test_which_agent_or_model_may_have_been_meant_is_said(reason: str, text: str) -> None:
    mine = task(0, state="Open", **needs(reason, text))

    assert told(stalled(reason, f"Task '{name(0)}': {text}"), mine).count("did you mean") == 1
    assert "sonnet, did you mean 'sonnet'?\n" in told(plan(phase="Running"), mine)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("AgentNotFound", "the Project has no agent 'zzz', it has: demo, sonnet."),
        ("AgentNotFound", "'demo' is the adapter of several agents of the Project: demo-1."),
        ("GateErrored", "the Project has no agent 'sonet', it has: demo, sonnet."),
    ],
)
def test_where_nothing_is_close_or_nothing_unknown_nothing_is_guessed(
    reason: str, text: str
) -> None:
    mine = task(0, state="Open", **needs(reason, text))

    assert f"{reason}: {text}\n" in told(plan(phase="Running"), mine)


def test_words_are_compared_for_so_many_tasks_and_with_so_many_words_alone() -> None:
    text = "the Project has no agent 'sonet', it has: sonnet."
    many = [task(0, state="Open", **needs("AgentNotFound", text))] * (3 * details.MOST_MEANT)
    known = ", ".join(f"m{number}" for number in range(notes.MOST_COMPARED))
    last = needs("AgentNotFound", f"the Project has no agent 'sonet', it has: {known}, sonnet.")

    assert told(plan(phase="Running"), *many).count("did you mean") == details.MOST_MEANT
    assert "did you mean" not in told(plan(phase="Running"), task(0, state="Open", **last))


PER_TASK = {"target": "refs/heads/main", "targetSha": SHA, "ref": "refs/bernstein/u/integration"}
LANDED = {"state": "Merged", "sha": SHA, "onto": "refs/heads/main"}


def rows(*numbers: int) -> list[dict[str, Any]]:
    return [{"name": name(n), "stage": "design", "step": n, "state": "Closed"} for n in numbers]


def test_where_each_task_is_delivered_by_itself_each_commit_and_request_is_told() -> None:
    pull = {"number": 7, "url": "https://git.example/app/pulls/7", "state": "Open", "sha": SHA}
    proposed = {"state": "PullRequestOpen", "sha": SHA, "pullRequest": pull}
    tasks = [task(0, state="Closed", delivery=LANDED), task(1, state="Done", delivery=proposed)]
    begun = plan(integration=PER_TASK | {"per": "Task"}, tasks=rows(0, 1))

    lines = told(begun, *tasks).splitlines()

    assert f"  {name(0)}: a1b2c3d4a1b2 on refs/heads/main" in lines
    assert f"  {name(1)}: pull request 7, open: https://git.example/app/pulls/7" in lines
    whole = plan(integration=PER_TASK, tasks=rows(0, 1))
    assert name(0) not in told(whole, tasks[0])


@pytest.mark.parametrize(
    ("delivery", "words"),
    [
        (None, "in the plan a1b2c3d4"),
        ({"state": "Pending"}, "in the plan a1b2c3d4"),
        ({"state": "PullRequestOpen", "pull": "Open"}, "in pull request 7 a1b2c3d4"),
        ({"state": "Unknown", "pull": "Merged"}, "in pull request 7 a1b2c3d4"),
        ({"state": "Rejected", "pull": "Closed"}, "in the plan a1b2c3d4"),
        ({"state": "Merged", "sha": SHA}, "merged a1b2c3d4"),
        ({"state": "NoChange"}, "merged a1b2c3d4"),
    ],
)
def test_a_step_is_called_merged_once_its_plan_is(
    delivery: dict[str, Any] | None, words: str
) -> None:
    if delivery is not None and "pull" in delivery:
        pull = {"number": 7, "url": "https://git.example/7", "state": delivery.pop("pull")}
        delivery["pullRequest"] = pull | {"sha": SHA}
    onto = "refs/bernstein/u/integration"
    done = task(0, state="Closed", delivery={"state": "Merged", "sha": SHA, "onto": onto})

    assert notes.note(done, "", plan(delivery=delivery)) == words
    assert notes.note(done, "").startswith("in the plan")


def test_in_several_repositories_a_step_is_where_its_own_is() -> None:
    onto = "refs/bernstein/u/integration"
    tasks = [
        task(n, state="Closed", delivery={"state": "Merged", "sha": SHA, "onto": onto})
        for n in (0, 1)
    ]
    its = [row | {"repository": where} for row, where in zip(rows(0, 1), ("a", "b"), strict=True)]
    each = [{"name": "a", "delivery": {"state": "Merged"}}, {"name": "b"}]

    notes_of = [notes.note(one, "", plan(tasks=its, repositories=each)) for one in tasks]

    assert notes_of == ["merged a1b2c3d4", "in the plan a1b2c3d4"]


def test_a_task_that_answers_a_pull_request_has_its_row_below_the_steps() -> None:
    answers: dict[str, Any] = {"name": "rate-limit-api--answer-1", "stage": "-", "answers": 1}
    found = task(2, state="InProgress", attempt=1)
    meta = found.metadata.model_copy(update={"name": answers["name"]})
    spec = found.spec.model_copy(update={"title": "Change what was said of the pull request"})
    answerer = found.model_copy(update={"metadata": meta, "spec": spec})
    shown, console = terminal(width=120)

    at_work = {answers["name"]: "editing"}
    shown.show(tables.steps_table(plan(tasks=[*rows(*range(7)), answers]), [answerer], at_work))

    lines = console.export_text().splitlines()
    (row,) = [each for each in lines if "Change what was said of the pull request" in each]
    assert "in progress" in row
    assert "editing" in row
    assert "beside its steps" in [each.strip() for each in lines]


def test_a_remedy_names_the_task_that_it_is_about() -> None:
    waits = needs("SubtasksStalled", "its subtask 'a' was deleted")["waiting"]
    told = "`bernstein unblock TASK --reason WHY`"
    subject = task(0, state="Blocked", waiting=waits | {"message": f"x. Remedy: Then: {told}."})
    assert subject.status.waiting is not None

    _, remedy = notes.explanation(subject.status.waiting, subject)

    assert remedy == f"Then: `bernstein unblock {subject.metadata.name} --reason WHY`."
