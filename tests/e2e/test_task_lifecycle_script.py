"""The script of the task contract, byte for byte, from a task to the branch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Answer
from tests.e2e.conftest import LIE, MakeWorld, World, does, state, writing
from tests.scripts import TASK_LIFECYCLE

TITLE = "Add SBOM endpoint"
SECONDS = 400


PROGRAMS = Path(sys.executable).parent
QUICKER = f"""#!/bin/sh
case "$*" in
*BEFORE*)
  name=$({PROGRAMS}/bernstein --json pending | jq -r '.[0].task_id')
  {PROGRAMS}/bernstein reject "$name" --reason "we do not want this" >&2 ;;
esac
exec {PROGRAMS}/bernstein "$@"
"""
"""A `bernstein` before whose command BEFORE another person rejects what waits."""


def run(here: World, folder: Path, *first: Path) -> Answer:
    """The script in a folder that says in which namespace it works; `first`: where programs are
    looked for before all others."""
    (folder / "bernstein.yaml").write_text(f"namespace: {here.namespace}\n")
    folders = (*map(str, first), str(PROGRAMS), here.stack.environment["PATH"])
    path = os.pathsep.join(folders)
    done = subprocess.run(
        [str(TASK_LIFECYCLE)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=here.stack.environment | {"PATH": path},
        timeout=SECONDS,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def last(answer: Answer) -> Any:
    """The JSON that the script prints at its end."""
    return json.loads(answer.out[answer.out.index("\n{") :])


def test_a_task_that_is_delivered_without_asking_ends_closed_and_once_more_is_the_same(
    world: MakeWorld, tmp_path: Path
) -> None:
    here = world([does(TITLE, writing("sbom.py", "X = 1\n"))])

    first = run(here, tmp_path)
    tip = here.tip()
    again = run(here, tmp_path)

    assert first.code == 0, first
    record = last(first)
    assert (record["status"], record["delivery"]["sha"]) == ("closed", tip)
    assert "sbom.py" in here.files()
    assert again.code == 0, again
    assert last(again)["id"] == record["id"]
    assert here.tip() == tip
    assert [task["metadata"]["name"] for task in here.all("tasks")] == [record["id"]]


def test_work_that_is_rejected_once_is_waited_for_until_it_has_landed(
    world: MakeWorld, tmp_path: Path
) -> None:
    here = world([does(TITLE, LIE, writing("sbom.py", "X = 1\n"))])

    answer = run(here, tmp_path)

    assert answer.code == 0, answer
    record = last(answer)
    assert (record["status"], record["attempt"]) == ("closed", 2)
    assert "sbom.py" in here.files()


def asks_people(spec: dict[str, Any]) -> None:
    spec["approval"] = {"result": "Always"}


def test_where_people_are_asked_the_script_approves_and_ends_closed(
    world: MakeWorld, tmp_path: Path
) -> None:
    here = world([does(TITLE, writing("sbom.py", "X = 1\n"))], asks_people)

    answer = run(here, tmp_path)

    assert answer.code == 0, answer
    record = last(answer)
    assert (record["status"], record["delivery"]["sha"]) == ("closed", here.tip())
    assert f"Task '{record['id']}' is approved by" in answer.out
    (task,) = here.all("tasks")
    assert task["status"]["approval"]["decision"] == "Approve"


@pytest.mark.parametrize("command", ["pending", "approve"])
def test_where_somebody_rejects_the_script_fails_and_nothing_is_merged(
    world: MakeWorld, tmp_path: Path, command: str
) -> None:
    here = world([does(TITLE, writing("sbom.py", "X = 1\n"))], asks_people)
    before = here.tip()
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bernstein").write_text(QUICKER.replace("BEFORE", command))
    (programs / "bernstein").chmod(0o755)

    answer = run(here, tmp_path, programs)

    assert answer.code == 1, answer
    assert "the first decision is final" in answer.err
    (task,) = here.all("tasks")
    assert state(task) == "Cancelled"
    assert here.tip() == before


def test_work_that_cannot_land_fails_the_script_and_lands_nothing(
    world: MakeWorld, tmp_path: Path
) -> None:
    def refused(spec: dict[str, Any]) -> None:
        """Nobody may push with this account."""
        spec["repositories"][0]["credentials"]["deliver"]["secretName"] = "git-read"

    here = world([does(TITLE, writing("sbom.py", "X = 1\n"))], refused)
    before = here.tip()

    answer = run(here, tmp_path)

    assert answer.code != 0, answer
    assert "is not merged" in answer.out
    (task,) = here.all("tasks")
    assert state(task) == "Done"
    assert here.tip() == before
