"""Names of objects complete an argument: quickly, in silence, and only those that are plain."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bernstein.cli.shell import names
from bernstein.cli.shell.program import COMPLETION
from bernstein.kube.resource import Resource
from bernstein.resources import APPROVALS, PLANS, PROJECTS, SESSIONS, TASKS
from tests.unit.kube.apiserver import ApiServer

NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
PACKAGE = Path(__file__).parents[4] / "operator"
PROGRAM = "from bernstein.cli.main import main; main()"


@pytest.fixture(autouse=True)
def objects(api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for resource, name in [
        *((PLANS, "web"), (PLANS, "api"), (TASKS, "web-one"), (TASKS, "web-two")),
        *((SESSIONS, "web-one-s1"), (APPROVALS, "web-approval"), (PROJECTS, "default")),
    ]:
        api.put(resource, name, "team")
    api.put(PLANS, "elsewhere", "other")
    api.put(NAMESPACES, "team")
    api.put(NAMESPACES, "tools")


async def completed(kinds: tuple[str, ...], word: str = "", **given: Any) -> list[str]:
    return await asyncio.to_thread(names.completed, kinds, given, word)


async def told(kubeconfig: str, *words: str) -> list[str]:
    """What a shell is told by the program for the last of these words."""
    asked = {COMPLETION: "complete_bash", "COMP_CWORD": str(len(words))}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM),
        env={
            **os.environ,
            **asked,
            "COMP_WORDS": " ".join(("bernstein", *words)),
            "PYTHONPATH": str(PACKAGE),
            "KUBECONFIG": kubeconfig,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    return out.decode().split()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("status", "w"), ["web"]),
        (("plan", "graph", "w"), ["web"]),
        (("plan", "show", "plan/w"), ["plan/web"]),
        (("plan", "--graph", "w"), ["web"]),
        (("logs", "web"), ["web", "web-one", "web-one-s1", "web-two"]),
        (("verify", "web"), ["web-one", "web-two"]),
        (("approve", "task/web-t"), ["task/web-two"]),
        (("approve", "web", "--approval", "w"), ["web-approval"]),
        (("list-tasks", "--plan", "a"), ["api"]),
        (("status", "-n", "t"), ["team", "tools"]),
        (("status", "-n", "other", "e"), ["elsewhere"]),
        (("-n", "other", "status", "e"), ["elsewhere"]),
        (("--context", "c", "run", "--project", "d"), ["default"]),
        (("run", "--name", "w"), []),
    ],
    ids=str,
)
async def test_arguments_and_options_that_name_objects_are_completed(
    kubeconfig: str, words: tuple[str, ...], answer: list[str]
) -> None:
    assert await told(kubeconfig, *words) == answer


async def test_it_only_reads(api: ApiServer, kubeconfig: str) -> None:
    before = len(api.calls)

    await completed((names.TASKS, names.PLANS), kubeconfig=kubeconfig)

    assert {call.verb for call in api.calls[before:]} == {"GET"}


async def test_contexts_are_those_of_the_kubeconfig(kubeconfig: str) -> None:
    assert await completed((names.CONTEXTS,), kubeconfig=kubeconfig) == ["c"]


async def test_a_name_that_a_shell_could_misread_is_not_told(
    api: ApiServer, kubeconfig: str, tmp_path: Path
) -> None:
    page = {"kind": "PlanList", "metadata": {"resourceVersion": "1"}}
    strange = ["$(reboot)", "a b", "`x`", "\x1b[31m", "-x", "good"]
    items = [{"metadata": {"name": name}} for name in strange]
    api.instead = lambda _: json.dumps({**page, "items": items}).encode()

    assert await completed((names.PLANS,), kubeconfig=kubeconfig) == ["good"]


async def test_so_many_are_told_at_most(api: ApiServer, kubeconfig: str) -> None:
    for number in range(names.MOST + 20):
        api.put(PLANS, f"many-{number:04}", "team")

    assert len(await completed((names.PLANS,), "many", kubeconfig=kubeconfig)) == names.MOST


@pytest.mark.parametrize("fault", ["hang", "drop-before", 403, 500])
async def test_a_cluster_that_does_not_answer_is_waited_for_a_second_and_nothing_is_said(
    api: ApiServer, kubeconfig: str, capfd: pytest.CaptureFixture[str], fault: Any
) -> None:
    api.fault = lambda _: fault
    await completed((names.PLANS,), kubeconfig=kubeconfig)  # all is loaded

    began = time.monotonic()
    found = await completed((names.PLANS,), kubeconfig=kubeconfig)

    assert found == []
    assert time.monotonic() - began < names.SECONDS + 1
    assert capfd.readouterr() == ("", "")


async def test_what_may_not_be_read_hides_nothing_else(api: ApiServer, kubeconfig: str) -> None:
    api.fault = lambda call: 403 if call.plural == "tasks" else None

    assert await completed((names.TASKS, names.PLANS), "w", kubeconfig=kubeconfig) == ["web"]


@pytest.mark.parametrize("content", ["", "}{", "namespace: [\n"])
async def test_without_a_usable_configuration_there_is_nothing(
    tmp_path: Path, kubeconfig: str, content: str
) -> None:
    (tmp_path / "bad").write_text(content)
    (tmp_path / "bernstein.yaml").write_text("namespace: 5\n")

    assert await completed((names.PLANS,), kubeconfig=str(tmp_path / "bad")) == []
    assert await completed((names.PLANS,), kubeconfig=kubeconfig, workdir=str(tmp_path)) == []


async def test_the_folder_may_say_the_namespace(tmp_path: Path, kubeconfig: str) -> None:
    (tmp_path / "bernstein.yaml").write_text("namespace: other\n")

    assert await completed((names.PLANS,), kubeconfig=kubeconfig) == ["elsewhere"]
