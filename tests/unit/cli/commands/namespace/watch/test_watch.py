"""`bernstein watch` beside what happens meanwhile."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.resources import PLANS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import condition, move, name, needs, plan, task
from tests.unit.kube.apiserver import ApiServer

LATER = {"time": "2100-01-01T00:00:00Z"}
"""Than any Task here is made, whenever this runs."""
SHA = "a1b2c3d4" * 5
OPEN = move("Open", "Created", attempt=0, seconds=30) | LATER
CLOSED = move("Closed", "Delivered", attempt=1, seconds=1) | LATER


def put(api: ApiServer, index: int, **status: Any) -> None:
    obj = task(index, **status).dump()
    obj["metadata"]["uid"] = f"u{index}"
    api.put(TASKS, name(index), "team", **obj)


def put_plan(api: ApiServer, **status: Any) -> None:
    obj = plan(**status).dump()
    api.put(PLANS, obj["metadata"]["name"], "team", **obj)


async def watched(api: ApiServer, times: int = 1) -> None:
    async with asyncio.timeout(20):
        while min(api.watches("tasks"), api.watches("plans")) < times:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def told(out: str) -> list[str]:
    return [json.loads(line)["event"] for line in out.splitlines()]


async def test_without_a_name_only_what_happens_from_now_on_is_told(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Open", history=[OPEN])
    watching = asyncio.create_task(bernstein("watch", "--json", "--timeout", "2s"))
    await watched(api)
    put(api, 0, state="Closed", history=[OPEN, CLOSED])
    put(api, 1, state="Open", history=[OPEN])
    api.remove(TASKS, name(0), "team")

    answer = await watching

    assert answer.code == 0, answer.err
    assert told(answer.out) == ["task_closed", "task_created", "task_open", "task_deleted"]


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["lines", "records"])
async def test_of_all_namespaces_each_event_says_its_own(
    api: ApiServer, bernstein: Bernstein, more: tuple[str, ...]
) -> None:
    watching = asyncio.create_task(bernstein("watch", "-A", *more, "--timeout", "2s"))
    await watched(api)
    put(api, 0, state="Open", history=[OPEN])

    answer = await watching

    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    if more:
        assert [json.loads(line)["namespace"] for line in lines] == ["team", "team"]
    else:
        assert [line.split()[1:3] for line in lines] == [["team", "created"], ["team", "open"]]


async def test_a_name_has_one_namespace(bernstein: Bernstein) -> None:
    answer = await bernstein("watch", "-A", name(0))

    assert answer.code == 2
    assert "--all-namespaces takes no name" in answer.err


async def test_a_task_is_told_from_its_beginning_until_it_has_ended(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Open", history=[OPEN])
    put(api, 1, state="Open", history=[OPEN])
    watching = asyncio.create_task(bernstein("watch", f"task/{name(0)}"))
    await watched(api)
    put(api, 1, state="Closed", history=[OPEN, CLOSED])
    put(api, 0, state="Closed", history=[OPEN, CLOSED])

    answer = await watching

    assert answer.code == 0, answer.err
    words = [line.split()[1] for line in answer.out.splitlines()]
    assert words == ["created", "open", "closed"]
    assert name(1) not in answer.out


@pytest.mark.parametrize(
    ("status", "code"),
    [({"state": "Closed"}, 0), ({"state": "Cancelled"}, 1), ({"state": "Failed", "attempt": 9}, 1)],
)
async def test_the_exit_code_says_how_a_task_has_ended(
    api: ApiServer, bernstein: Bernstein, status: dict[str, Any], code: int
) -> None:
    put(api, 0, **status)

    assert (await bernstein("watch", name(0), "--json")).code == code


async def test_of_a_task_that_has_failed_for_good_it_says_why_and_what_helps(
    api: ApiServer, bernstein: Bernstein
) -> None:
    """A script that stops at its exit code has nothing else to tell people."""
    helps = f"Another round of attempts: `bernstein retry task/{name(0)}`."
    why = f"no retry is left after 4 attempts: no file changed. Remedy: {helps}"
    put(api, 0, state="Failed", attempt=9, **needs("EmptyDiff", why))

    answer = await bernstein("watch", name(0))

    assert answer.code == 1
    assert "EmptyDiff: no retry is left after 4 attempts: no file changed" in answer.out
    assert f"`bernstein retry task/{name(0)} " in answer.out


async def test_a_plan_is_told_with_its_tasks(api: ApiServer, bernstein: Bernstein) -> None:
    put_plan(api, endedAt=None)
    put(api, 0, state="Open", history=[OPEN])
    watching = asyncio.create_task(bernstein("watch", "rate-limit-api", "--json"))
    await watched(api)
    put(api, 0, state="Closed", history=[OPEN, CLOSED])
    put_plan(api, phase="Succeeded", conditions=[condition("Succeeded", "True", "Delivered")])

    answer = await watching

    assert answer.code == 0
    assert sorted(told(answer.out)) == [
        *("plan_created", "plan_running", "plan_succeeded"),
        *("task_closed", "task_created", "task_open"),
    ]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"phase": "Succeeded", "delivery": {"state": "Merged", "sha": SHA}}, "merged a1b2c3d4"),
        ({"phase": "Cancelled", "delivery": {"state": "None"}}, "in the plan a1b2c3d4"),
    ],
)
async def test_where_the_work_of_a_task_is_is_told_as_it_is_by_now(
    api: ApiServer, bernstein: Bernstein, status: dict[str, Any], words: str
) -> None:
    put_plan(api, endedAt="2100-01-01T00:00:02Z", **status)
    onto = {"state": "Merged", "sha": SHA, "onto": "refs/bernstein/u/integration"}
    put(api, 0, state="Closed", history=[OPEN, CLOSED], delivery=onto)

    answer = await bernstein("watch", "rate-limit-api")

    (closed,) = [row for row in answer.out.splitlines() if "closed" in row.split()]
    assert closed.endswith(f"  {words}")


async def test_one_that_is_deleted_meanwhile_is_an_error(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Open")
    watching = asyncio.create_task(bernstein("watch", name(0)))
    await watched(api)
    api.remove(TASKS, name(0), "team")

    answer = await watching

    assert answer.code == 1
    assert f"Task '{name(0)}' was deleted" in answer.err


async def test_one_that_has_not_ended_in_time_is_left(api: ApiServer, bernstein: Bernstein) -> None:
    put(api, 0, state="Open")

    answer = await bernstein("watch", name(0), "--timeout", "1s")

    assert answer.code == 1
    assert "has not ended after 1s" in answer.err


async def test_one_that_a_person_must_decide_about_is_not_said_to_go_on(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="PendingApproval")
    put_plan(api, endedAt=None)

    answer = await bernstein("watch", "plan/rate-limit-api", "--timeout", "1s", "-n", "team")

    assert f"a person must decide with `bernstein approve {name(0)} -n team " in answer.err
    assert "it goes on" not in answer.err


async def test_of_a_plan_that_has_ended_no_wait_of_its_tasks_is_told(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put_plan(api, phase="Failed", conditions=[condition("Succeeded", "False", "TaskFailed")])
    waiting = {"reason": "DependencyFailed", "since": "2030-01-01T12:00:00Z", "needsPerson": True}
    put(api, 0, state="Open", waiting=waiting)

    answer = await bernstein("watch", "plan/rate-limit-api", "--json")

    assert "task_waiting" not in told(answer.out)
    assert "task_created" in told(answer.out)


async def test_a_watch_that_is_lost_is_told_and_goes_on(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, 0, state="Open", history=[OPEN])
    watching = asyncio.create_task(bernstein("watch", name(0)))
    await watched(api)
    api.fault = lambda call: 503 if "watch" in call.query else None
    api.break_watches()
    await watched(api, 2)
    api.fault = lambda _: None
    put(api, 0, state="Closed", history=[OPEN, CLOSED])

    answer = await watching

    assert answer.code == 0
    assert "connection lost, trying again" in answer.err
    assert "list or watch failed" not in answer.out + answer.err  # as the operator's log has it


@pytest.mark.parametrize("arguments", [["--timeout", "soon"]])
def test_a_wrong_call_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "watch", *arguments)


async def test_a_command_that_helps_reaches_the_namespace_of_the_call(
    api: ApiServer, bernstein: Bernstein
) -> None:
    waiting = {
        "reason": "AwaitsApproval",
        "message": "decide with `bernstein approve a`",
        "since": "2030-01-01T12:00:00Z",
    }
    put(api, 0, state="Done", history=[OPEN], waiting=waiting)

    call = ("watch", name(0), "-n", "team", "--timeout", "1s")
    people, scripts = await bernstein(*call), await bernstein(*call, "--json")

    assert "decide with `bernstein approve a -n team --kubeconfig " in people.out
    assert "decide with `bernstein approve a`" in scripts.out
