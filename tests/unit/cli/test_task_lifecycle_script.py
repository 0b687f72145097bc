"""The script that the task contract promises, beside what the operator does meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from bernstein.resources import APPROVALS, PROJECTS, TASKS
from tests.answer import Answer
from tests.scripts import TASK_LIFECYCLE
from tests.unit.cli import loaded_once, scenes
from tests.unit.cli.scenes import SHA, known_as
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer, Call

PACKAGE = Path(__file__).parents[3] / "operator"
SECONDS = 120
MERGED = {"state": "Closed", "attempt": 1, "delivery": {"state": "Merged", "sha": SHA}}
CONFLICT = {
    "state": "Done",
    "waiting": {
        "reason": "MergeConflict",
        "message": "it conflicts. Remedy: Mend it.",
        "since": "2030-01-01T12:00:00Z",
        "needsPerson": True,
    },
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The program, loaded once: where it takes calls."""
    address = str(tmp_path_factory.mktemp("loaded") / "bernstein")
    command = [sys.executable, "-P", loaded_once.__file__, loaded_once.SERVE, address]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        yield address


@pytest.fixture
def programs(tmp_path: Path, loaded: str) -> str:
    """A PATH whose `bernstein` is this one, and on which nobody sleeps for long."""
    folder = tmp_path / "programs"
    folder.mkdir()
    call = f'{sys.executable} -IS {loaded_once.__file__} {loaded_once.CALL} {loaded} "$@"'
    for name, text in (("bernstein", f"exec {call}"), ("sleep", "exec /bin/sleep 0.1")):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
async def script(api: ApiServer, kubeconfig: str, programs: str, tmp_path: Path) -> Process:
    known_as(api, "ann")
    api.put(PROJECTS, "default", "team", **objects.project().dump())
    environment = {"KUBECONFIG": kubeconfig, "PATH": programs, "PYTHONPATH": str(PACKAGE)}
    return await asyncio.create_subprocess_exec(
        str(TASK_LIFECYCLE),
        cwd=tmp_path,
        stdout=PIPE,
        stderr=PIPE,
        env=os.environ | environment,
    )


async def ended(process: Process) -> Answer:
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate()
    return Answer(process.returncode or 0, out.decode(), err.decode())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 - the server rings no bell
            await asyncio.sleep(0.02)


async def added(api: ApiServer) -> str:
    """The name of the Task, once the script has added it."""
    await until(lambda: bool(api.names(TASKS)))
    return api.names(TASKS)[0]


def moves(api: ApiServer, name: str, **status: Any) -> None:
    api.put(TASKS, name, "team", status={"observedGeneration": 1, **status})


def polls(api: ApiServer) -> int:
    return api.count("GET", "tasks")


async def polled_again(api: ApiServer) -> None:
    before = polls(api)
    await until(lambda: polls(api) > before + 1)


async def watching(api: ApiServer) -> None:
    await until(lambda: api.watches("tasks") > 0)


def last(answer: Answer) -> Any:
    """The JSON that the script prints at its end."""
    return json.loads(answer.out[answer.out.index("\n{") :])


Operator = Callable[[ApiServer, str], Awaitable[None]]


async def is_merged_while_it_polls(api: ApiServer, name: str) -> None:
    moves(api, name, state="InProgress")
    await polled_again(api)
    moves(api, name, **MERGED)


async def is_merged_while_it_merges(api: ApiServer, name: str) -> None:
    moves(api, name, state="Done", verification=scenes.verification(passed=True))
    await watching(api)
    moves(api, name, **MERGED)


@pytest.mark.parametrize(
    "operator",
    [is_merged_while_it_polls, is_merged_while_it_merges],
    ids=lambda operator: operator.__name__,
)
async def test_the_script_ends_with_a_closed_task(
    api: ApiServer, script: Process, operator: Operator
) -> None:
    name = await added(api)
    moves(api, name, state="Open")
    await operator(api, name)

    answer = await ended(script)

    assert answer.code == 0, answer
    assert f"Created {name}\n" in answer.out
    assert (last(answer)["id"], last(answer)["status"]) == (name, "closed")


async def test_the_script_fails_where_the_work_is_not_merged(
    api: ApiServer, script: Process
) -> None:
    moves(api, await added(api), **CONFLICT)

    answer = await ended(script)

    assert answer.code == 1
    assert "is not merged: MergeConflict: it conflicts." in answer.out


@pytest.mark.parametrize("state", ["Cancelled", "Failed"])
async def test_the_script_fails_where_its_task_ends_without_being_merged(
    api: ApiServer, script: Process, state: str
) -> None:
    name = await added(api)
    last_move = {"toState": state, "reason": state, "attempt": 4, "time": scenes.ago(0)}
    moves(api, name, state=state, attempt=4, history=[last_move], endedAt=scenes.ago(0))

    answer = await ended(script)

    assert answer.code == 1, answer
    assert f"Task '{name}' is not merged: {state}: it has ended: {state.lower()}" in answer.out


# --- where a person decides -----------------------------------------------------------------------

ASKS: dict[str, Any] = {"attempt": 1, "sha": SHA, "base": "0" * 40, "digest": "d" * 64}


def people_are_asked(api: ApiServer) -> None:
    asking = objects.project(approval={"result": "Always"})
    api.put(PROJECTS, "default", "team", **asking.dump())


def asked(api: ApiServer, name: str, **decided: Any) -> dict[str, Any]:
    """The work of the Task waits for a person; `decided`: or no more. Returns what the Task knows
    of it."""
    uid, approval = api.get(TASKS, name, "team")["metadata"]["uid"], f"{name}-approval-1"
    by = {"decision": decided["decision"], "decidedBy": decided["by"]} if decided else {}
    ended = {"state": "Pending"}
    if decided:
        ended = {"state": "Rejected", "endedAt": datetime.now(UTC).isoformat()}
    api.put(
        APPROVALS,
        approval,
        "team",
        spec={"subject": {"kind": "Task", "name": name, "uid": uid}, "asks": ASKS, **by},
        status={"observedGeneration": 1} | ended,
    )
    told = {"name": approval, "asks": ASKS, "since": "2030-01-01T12:00:00Z"} | decided
    return {"attempt": 1, "approval": told}


def rejected(api: ApiServer, name: str) -> None:
    about = asked(api, name, decision="Reject", by="ben")
    moves(api, name, state="Cancelled", **about)


async def test_the_script_approves_what_waits_for_it_and_ends_with_a_closed_task(
    api: ApiServer, script: Process
) -> None:
    people_are_asked(api)
    name = await added(api)
    moves(api, name, state="PendingApproval", **asked(api, name))
    await until(lambda: any(call.verb == "PATCH" for call in api.calls))
    spec = api.get(APPROVALS, f"{name}-approval-1", "team")["spec"]
    about = asked(api, name, decision="Approve", by="ann")
    moves(api, name, state="Done", **about)
    await watching(api)
    moves(api, name, **MERGED)

    answer = await ended(script)

    assert (spec["decision"], spec["decidedBy"]) == ("Approve", "ann")
    assert answer.code == 0, answer
    assert f"Task '{name}' is approved by ann" in answer.out
    assert last(answer)["status"] == "closed"


async def test_the_script_fails_where_a_person_rejects_while_it_waits_for_the_verdicts(
    api: ApiServer, script: Process
) -> None:
    people_are_asked(api)
    name = await added(api)
    moves(api, name, state="Done", attempt=1)
    await until(lambda: api.count("GET", "approvals") > 1)
    rejected(api, name)

    answer = await ended(script)

    assert answer.code == 1
    assert f"Task '{name}' was rejected by ben before: the first decision is final" in answer.err
    assert api.get(TASKS, name, "team")["status"]["state"] == "Cancelled"


async def test_the_script_fails_where_a_person_rejects_before_it_looks(
    api: ApiServer, script: Process
) -> None:
    people_are_asked(api)
    name = await added(api)
    rejected(api, name)

    answer = await ended(script)

    assert answer.code == 1
    assert f"Task '{name}' was rejected by ben before: the first decision is final" in answer.err


async def test_the_script_fails_where_a_person_rejects_just_before_it_approves(
    api: ApiServer, script: Process
) -> None:
    people_are_asked(api)
    name = await added(api)

    def is_quicker(call: Call) -> None:
        """The script has seen that it waits, and looks for the Approval to decide it."""
        if (call.verb, call.plural, call.name) == ("GET", "approvals", f"{name}-approval-1"):
            rejected(api, name)

    api.fault = is_quicker
    moves(api, name, state="PendingApproval", **asked(api, name))

    answer = await ended(script)

    assert answer.code == 1
    assert f"Task '{name}' was rejected by ben before: the first decision is final" in answer.err
    assert api.get(TASKS, name, "team")["status"]["state"] == "Cancelled"


async def test_what_was_sent_back_and_then_done_without_a_question_ends_closed(
    api: ApiServer, script: Process
) -> None:
    """The next attempt is such that nobody is asked about it."""
    people_are_asked(api)
    name = await added(api)
    about = asked(api, name, decision="Retry", by="ben")
    judged = scenes.verification(passed=True)
    moves(api, name, state="Done", verification=judged, **about | {"attempt": 2})
    await watching(api)
    moves(api, name, **MERGED | {"attempt": 2})

    answer = await ended(script)

    assert answer.code == 0, answer
    assert last(answer)["status"] == "closed"


def test_the_script_is_the_one_of_the_contract() -> None:
    """Where it is changed, what people have is no longer what is tested."""
    found = hashlib.sha256(TASK_LIFECYCLE.read_bytes()).hexdigest()

    assert found == "402794e946cb0da849b8e3a4283a8eefbf2e66a6fdedd29313dbcdb6a13e3aaf"
