"""`bernstein output`: values that an agent has left, as their digest says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.core.documents import OUTPUT, handed, kept
from bernstein.kube.resource import CONFIG_MAPS
from bernstein.resources import TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer

VALUES = (
    b'{"tests": 12, "names": ["\\u00fc", '
    b'"a\xc2\x9b2Jb\xe2\x80\xae\x7f\\u001b[31m\xf3\xa0\x80\x81"]}'
)


def put(api: ApiServer, kept_: bytes | None = VALUES, told: bytes | None = VALUES) -> None:
    """A Task of which a status tells of these values, and the ConfigMap that has those."""
    left: dict[str, Any] = {}
    if told is not None:
        digest = handed.digest(told)
        left["output"] = {"session": "work-s2", "bytes": len(told), "sha256": digest}
    api.put(TASKS, "work", "team", **objects.task(status=objects.status(**left)).dump())
    if kept_ is not None:
        data = kept.data({OUTPUT.name: kept_})
        api.put(CONFIG_MAPS, "work-s2-documents", "team", binaryData=data)


async def test_standard_output_is_its_json_in_which_everything_is_seen(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api)

    shown = await bernstein("output", "task/work")

    assert shown.code == 0, shown.err
    assert shown.err == ""
    assert json.loads(shown.out) == json.loads(VALUES)
    assert shown.out == (
        '{\n  "tests": 12,\n  "names": [\n    "ü",\n'
        '    "a\\u009b2Jb\\u202e\\u007f\\u001b[31m\\udb40\\udc01"\n  ]\n}\n'
    )


async def test_scripts_are_told_whose_they_are(api: ApiServer, bernstein: Bernstein) -> None:
    put(api)

    assert (await bernstein("output", "work", "--json")).json == {
        "task_id": "work",
        "session": "work-s2",
        "bytes": len(VALUES),
        "sha256": handed.digest(VALUES),
        "output": json.loads(VALUES),
    }


@pytest.mark.parametrize(
    ("kept_", "told", "reason"),
    [
        (None, None, "NoOutput"),
        (None, VALUES, "OutputLost"),
        (b"{}", VALUES, "OutputLost"),
        (b"1e400", b"1e400", "OutputInvalid"),
    ],
)
async def test_what_is_not_there_and_what_is_not_taken_are_different_ends(
    api: ApiServer, bernstein: Bernstein, kept_: bytes | None, told: bytes | None, reason: str
) -> None:
    put(api, kept_, told)

    answer = await bernstein("output", "work", "--json")

    assert (answer.code, answer.json["error"]["reason"]) == (1, reason)
    assert answer.json["error"]["remedy"]


async def test_a_task_that_there_is_not_is_told(api: ApiServer, bernstein: Bernstein) -> None:
    answer = await bernstein("output", "other", "--json")

    assert answer.json["error"]["reason"] == "NotFound"


def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "output", "..")


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "output", "x")
