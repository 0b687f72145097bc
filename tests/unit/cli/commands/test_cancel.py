"""`bernstein cancel`: what it asks for, and in whose name."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.kube.resource import Resource
from bernstein.resources import PLANS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import known_as, plan, task, unknown
from tests.unit.kube.apiserver import ApiServer


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "--reason", " "],
        ["x", "--reason", "x" * 1025],
        ["x", "--reason", "not needed\nany more"],
        ["x", "--reason", "not \x1b[2Jneeded"],
    ],
)
def test_a_wrong_call_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "cancel", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        [""],
        ["task/"],
        ["plan/"],
        ["task/.."],
        ["task/mine/status"],
        ["x", "-n", "a b"],
    ],
)
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, arguments: list[str], tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "cancel", *arguments)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "cancel", "x")


def put(api: ApiServer, kind: Resource) -> str:
    """Puts one that has not ended there, and returns its name."""
    made = task(0, state="Open") if kind is TASKS else plan(endedAt=None)
    api.put(kind, made.metadata.name, "team", **made.dump())
    return made.metadata.name


@pytest.mark.parametrize("kind", [TASKS, PLANS])
async def test_it_is_signed_by_who_cancels(
    api: ApiServer, bernstein: Bernstein, kind: Resource
) -> None:
    known_as(api, "ann")
    name = put(api, kind)

    answer = await bernstein("cancel", f"{kind.kind.lower()}/{name}", "-r", "no")

    assert answer.code == 0, answer
    assert api.get(kind, name, "team")["spec"]["cancel"] == {"reason": "no", "by": "ann"}


async def test_where_nobody_tells_who_cancels_it_is_done_all_the_same(
    api: ApiServer, bernstein: Bernstein
) -> None:
    unknown(api)
    name = put(api, TASKS)

    answer = await bernstein("cancel", f"task/{name}")

    assert answer.code == 0, answer
    assert api.get(TASKS, name, "team")["spec"]["cancel"] == {"reason": "Cancelled by user"}
    (told,) = answer.err.splitlines()
    assert told.startswith("! the API server does not tell who you are: ")
    assert told.endswith(": it is cancelled without your name")
