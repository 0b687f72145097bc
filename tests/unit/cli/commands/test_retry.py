"""`bernstein retry` before it asks a cluster, and requests that nobody answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.api.requests import MOST_REQUESTS
from bernstein.cli import requests
from bernstein.kube.resource import Object
from bernstein.resources import TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import known_as
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer


@pytest.mark.parametrize("reason", [" ", "x" * 301, "two\nlines"])
def test_a_wrong_reason_ends_with_2(runner: CliRunner, reason: str) -> None:
    calls.ends_with_2(runner, "retry", "x", "--reason", reason)


@pytest.mark.parametrize("name", ["", "task/", "plan/", "task/..", "task/mine/status"])
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, name: str, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "retry", name)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "retry", "x")


@pytest.mark.parametrize(
    "arguments", [("retry",), ("unblock", "--reason", "it is there"), ("verify", "--no-wait")]
)
async def test_a_request_without_an_answer_in_time_ends_with_1_and_stands(
    api: ApiServer,
    bernstein: Bernstein,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.setattr(requests, "ANSWER_SECONDS", 0.0)
    known_as(api, "ann")
    api.put(TASKS, "work", "team", spec=objects.task().dump()["spec"])

    told = await bernstein(*arguments, "work", "--json")

    assert (told.code, told.json["error"]["reason"]) == (1, "NotAnswered")
    assert "asking again adds none" in told.json["error"]["remedy"]
    assert len(api.get(TASKS, "work", "team")["spec"]["requests"]) == 1


async def test_a_failed_task_is_left_while_it_is_judged_though_its_answer_comes_later(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    api.put(TASKS, "work", "team", spec=objects.task().dump()["spec"], status={"state": "Failed"})

    told = await bernstein("verify", "--no-wait", "work")

    assert told.code == 0
    assert "it is asked for" in told.out


def put_full(api: ApiServer, *answered: str) -> list[Object]:
    """A Task with as many requests of somebody else as it may have, and with these answers."""
    full = [
        {"id": f"r-{number}", "verb": "Verify", "by": "ben", "reason": "once more"}
        for number in range(MOST_REQUESTS)
    ]
    said = {"verb": "Verify", "by": "ben", "asked": "once more", "answer": "Refused"}
    said |= {"reason": "NothingToVerify", "time": "2030-01-01T00:00:00Z"}
    spec = objects.task().dump()["spec"] | {"requests": full}
    answers = {"requests": [said | {"id": each} for each in answered]}
    api.put(TASKS, "work", "team", spec=spec, status=answers)
    return full


async def test_the_oldest_answered_request_of_anybody_makes_room(
    api: ApiServer, bernstein: Bernstein, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "ANSWER_SECONDS", 0.0)
    known_as(api, "ann")
    full = put_full(api, "r-9", "r-4")

    told = await bernstein("retry", "task/work", "--json")

    assert told.json["error"]["reason"] == "NotAnswered"
    *kept, new = api.get(TASKS, "work", "team")["spec"]["requests"]
    assert kept == [each for each in full if each["id"] != "r-4"]
    assert (new["verb"], new["by"]) == ("Retry", "ann")


async def test_where_no_request_has_an_answer_none_makes_room(
    api: ApiServer, bernstein: Bernstein
) -> None:
    known_as(api, "ann")
    full = put_full(api)

    told = await bernstein("unblock", "task/work", "--reason", "it is there", "--json")

    assert (told.code, told.json["error"]["reason"]) == (1, "TooManyRequests")
    assert "20 requests without an answer" in told.json["error"]["message"]
    assert "bernstein doctor" in told.json["error"]["remedy"]
    assert api.get(TASKS, "work", "team")["spec"]["requests"] == full
