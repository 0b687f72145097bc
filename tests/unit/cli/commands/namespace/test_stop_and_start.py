"""`bernstein stop`, and `bernstein start` after it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.cli.commands.doctor.installation import DEFINITIONS
from bernstein.core import labels
from bernstein.kube.resource import LEASES
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.commands.doctor.test_installation import install
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import condition, known_as, name, plan, task
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer


def put_plan(api: ApiServer, name: str, *, suspend: bool = False, **status: Any) -> None:
    obj = plan(endedAt=None, **status).dump()
    obj["metadata"] |= {"name": name, "uid": f"uid-{name}"}
    obj["spec"] |= {"suspend": suspend}
    api.put(PLANS, name, "team", **obj)


def suspended(api: ApiServer) -> set[str]:
    return {each for each in api.names(PLANS) if api.get(PLANS, each, "team")["spec"]["suspend"]}


@pytest.fixture
def installed(api: ApiServer) -> None:
    """All that work needs."""
    install(api)
    holds = {"holderIdentity": "pod-1", "renewTime": datetime.now(UTC).isoformat()}
    api.put(LEASES, "bernstein-operator", "bernstein-system", spec=holds)
    ready = {"conditions": [condition("Ready", "True", "Ready")], "observedGeneration": 1}
    api.put(PROJECTS, "default", "team", **objects.project().dump() | {"status": ready})


@pytest.mark.usefixtures("installed")
async def test_what_was_stopped_goes_on_and_what_somebody_else_suspended_does_not(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put_plan(api, "one")
    put_plan(api, "two")
    put_plan(api, "paused", suspend=True)

    stopped = await bernstein("stop")
    all_three = suspended(api)
    started = await bernstein("start")

    assert stopped.out.startswith("2 Plans are suspended: one, two\n")
    assert all_three == {"one", "two", "paused"}
    assert started.code == 0, started
    assert "2 Plans go on: one, two\n" in started.out
    assert "1 Plan stays suspended, by somebody else than stop: paused" in started.out
    assert suspended(api) == {"paused"}
    assert labels.STOPPED not in api.get(PLANS, "one", "team")["metadata"]["annotations"]


@pytest.mark.usefixtures("installed")
async def test_asking_again_changes_nothing(api: ApiServer, bernstein: Bernstein) -> None:
    put_plan(api, "one")
    put_plan(api, "ended", phase="Failed")
    api.put(PLANS, "ended", "team", status={"phase": "Failed", "endedAt": "2030-01-01T00:00:00Z"})
    await bernstein("stop")
    before = len(api.writes())

    again = await bernstein("stop")
    scripted = await bernstein("stop", "--json")
    await bernstein("start")
    resumed = len(api.writes())
    over = await bernstein("start")

    assert "are suspended already: nothing changed" in again.out
    assert scripted.json["suspended"] == ["one"]
    assert resumed == before + 1
    assert over.out.endswith("Ready. No Plan was stopped.\n")
    assert len(api.writes()) == resumed


@pytest.mark.usefixtures("installed")
async def test_all_suspended_plans_go_on_where_that_is_asked_for(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put_plan(api, "paused", suspend=True)

    answer = await bernstein("start", "--all", "--json")

    assert answer.json["resumed"] == ["paused"]
    assert answer.json["healthy"] is True
    assert {check["check"] for check in answer.json["checks"]} == {
        *("definitions", "operator", "project")
    }


@pytest.mark.usefixtures("installed")
async def test_who_suspends_a_stopped_plan_means_it(api: ApiServer, bernstein: Bernstein) -> None:
    put_plan(api, "one")
    await bernstein("stop")

    await bernstein("suspend", "one")
    started = await bernstein("start", "--json")

    assert started.json["resumed"] == []
    assert started.json["suspended"] == ["one"]


async def test_what_goes_on_all_the_same_is_told(api: ApiServer, bernstein: Bernstein) -> None:
    put_plan(api, "one")
    working = task(0, state="InProgress").dump()
    alone = task(1, state="Open").dump()
    del alone["metadata"]["ownerReferences"]
    for each in (working, alone):
        api.put(TASKS, each["metadata"]["name"], "team", **each)

    answer = await bernstein("stop", "--json")

    assert answer.json["at_work"] == [name(0)]
    assert answer.json["without_plan"] == [name(1)]
    assert "1 agent at work: what they leave is verified, and kept" in answer.err
    assert f"bernstein cancel task/{name(1)}" in answer.err


async def test_by_force_the_end_of_every_session_is_asked_for(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    for index, state in enumerate(("InProgress", "Open", "Done")):
        api.put(TASKS, name(index), "team", **task(index, state=state).dump())

    answer = await bernstein("stop", "--force", "--json")
    again = await bernstein("stop", "--force", "--json")

    assert answer.json["killed"] == again.json["killed"] == [name(0)]
    (request,) = api.get(TASKS, name(0), "team")["spec"]["requests"]
    assert (request["verb"], request["by"]) == ("Kill", "ann")
    assert not api.get(TASKS, name(1), "team")["spec"].get("requests")


async def test_by_force_who_works_without_a_plan_is_told_to_start_again_at_once(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    put_plan(api, "one")
    of_plan, alone = (task(index, state="InProgress").dump() for index in range(2))
    del alone["metadata"]["ownerReferences"]
    for each in (of_plan, alone):
        api.put(TASKS, each["metadata"]["name"], "team", **each)

    soft = await bernstein("stop")
    force = await bernstein("stop", "--force")

    text = "starts again at once, as no Plan holds it"
    assert text not in soft.out
    assert "2 sessions ended at once: " in force.out
    assert f"  1 of these {text}: {name(1)}\n" in force.out
    assert f"`bernstein cancel task/{name(1)}" in force.out


async def test_by_force_one_that_cannot_be_asked_saves_no_other_agent(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    put_plan(api, "one")
    full = [{"id": f"r-{n}", "verb": "Verify", "by": "ben", "reason": "look"} for n in range(20)]
    for index, asked in enumerate((full, [], [])):
        obj = task(index, state="InProgress").dump()
        api.put(TASKS, name(index), "team", **obj | {"spec": obj["spec"] | {"requests": asked}})
    gone = ("PATCH", name(1))
    api.fault = lambda call: 404 if (call.verb, call.name) == gone else None

    answer = await bernstein("stop", "--force", "--json")

    assert answer.code == 1
    assert answer.json["stopped"] == ["one"]
    assert answer.json["killed"] == [name(2)]
    (failed,) = answer.json["not_killed"]
    assert (failed["id"], failed["reason"]) == (name(0), "TooManyRequests")
    assert f"{name(0)}' has 20 requests without an answer" in answer.err
    assert api.get(TASKS, name(2), "team")["spec"]["requests"][0]["verb"] == "Kill"


async def test_by_force_who_may_not_ask_is_told_so_once(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    for index in range(2):
        api.put(TASKS, name(index), "team", **task(index, state="InProgress").dump())
    api.fault = lambda call: 403 if call.verb == "PATCH" else None

    answer = await bernstein("stop", "--force", "--json")

    assert (answer.code, answer.json["error"]["reason"]) == (1, "Forbidden")
    assert len([call for call in api.calls if call.verb == "PATCH"]) == 1


async def test_where_no_plan_runs_there_is_nothing_to_stop(bernstein: Bernstein) -> None:
    answer = await bernstein("stop")

    assert (answer.code, answer.out) == (
        0,
        "Nothing to stop: no Plan runs in namespace 'team'.\n",
    )


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("lacks", ["kinds", "lease", "project", "readiness"])
async def test_where_work_cannot_run_nothing_is_resumed(
    api: ApiServer, bernstein: Bernstein, lacks: str
) -> None:
    put_plan(api, "one")
    await bernstein("stop")
    if lacks == "kinds":
        api.remove(DEFINITIONS, "plans.bernstein.dev", "")
    if lacks == "lease":
        api.remove(LEASES, "bernstein-operator", "bernstein-system")
    if lacks == "project":
        api.remove(PROJECTS, "default", "team")
    if lacks == "readiness":
        not_ready = {"conditions": [condition("Ready", "False", "SecretNotFound", "no Secret")]}
        api.put(PROJECTS, "default", "team", status=not_ready | {"observedGeneration": 1})

    answer = await bernstein("start")

    assert answer.code == 1
    assert "\nNothing was resumed.\n" in answer.out
    assert "✗ " in answer.out
    assert ("`bernstein resume one " in answer.out) is (lacks == "readiness")
    assert suspended(api) == {"one"}


@pytest.mark.usefixtures("installed")
async def test_where_a_project_alone_is_not_ready_the_way_past_is_named(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put_plan(api, "one")
    put_plan(api, "a", suspend=True)
    await bernstein("stop")
    not_ready = {"conditions": [condition("Ready", "False", "SecretNotFound", "no Secret")]}
    api.put(PROJECTS, "default", "team", status=not_ready | {"observedGeneration": 1})

    answer = await bernstein("start")

    told = "2 Plans stay suspended: one, a; each goes on all the same by `bernstein resume one "
    assert f"\nNothing was resumed.\n  {told}" in answer.out
    assert json.loads((await bernstein("start", "--json")).out)["suspended"] == ["one", "a"]
    assert suspended(api) == {"a", "one"}


@pytest.mark.parametrize("arguments", [["--lease", "bernstein-operator"], ["--lease", "a/b/c"]])
def test_what_names_no_lease_is_a_wrong_call(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "start", *arguments)


async def test_by_force_the_reason_is_recorded_with_the_end_of_each_session(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    api.put(TASKS, name(0), "team", **task(0, state="InProgress").dump())

    answer = await bernstein("stop", "--force", "-r", "the bill is too high")

    (request,) = api.get(TASKS, name(0), "team")["spec"]["requests"]
    assert (answer.code, request["verb"], request["reason"]) == (0, "Kill", "the bill is too high")


@pytest.mark.parametrize(
    "arguments", [("-r", "x"), ("--force", "-r", " "), ("--force", "-r", "two\nlines")]
)
def test_a_reason_for_nothing_or_a_wrong_one_ends_with_2(
    runner: CliRunner, arguments: tuple[str, ...]
) -> None:
    calls.ends_with_2(runner, "stop", *arguments)
