"""Gates by command on repositories in other languages than Python, with the machine's own tools."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.demo import toolchain
from tests.e2e.gates.repositories import REPOSITORIES, Files, Repository
from tests.programs.gate_runs import run, write
from tests.unit.checks.trees import Tree
from tests.unit.rooms import ROOT

pytestmark = pytest.mark.verification

TOOLS = {
    tool: shutil.which(tool) for repository in REPOSITORIES.values() for tool in repository.tools
}


def verdicts(repository: Repository, change: Files, folder: Path) -> dict[str, tuple[bool, str]]:
    """By gate: whether it passes the repository with this change, and what it prints."""
    write(Tree({**repository.before, **change}), folder)
    found = {}
    for gate, command in repository.commands.items():
        ended = run(command, folder, variables())
        found[gate] = (ended.returncode == 0, ended.stdout + ended.stderr)
    return found


def variables() -> dict[str, str]:
    folders = {str(Path(path).parent) for path in TOOLS.values() if path is not None}
    # What Go has compiled of its own is kept; else each run would compile it anew.
    cache = str(Path.home() / ".cache/go-build")
    offline = {"GOCACHE": cache, "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    return {"PATH": ":".join((*sorted(folders), toolchain.environment()["PATH"])), **offline}


@pytest.mark.parametrize("language", REPOSITORIES)
def test_each_rejects_the_change_that_is_wrong_in_its_eyes_and_no_other(
    language: str, tmp_path: Path
) -> None:
    repository = REPOSITORIES[language]
    absent = [tool for tool in repository.tools if TOOLS[tool] is None]
    if absent == ["node"]:
        # No set-up installs it; Go builds the tests' Kubernetes. In pods both are always run.
        pytest.skip("node is not on this machine; tests/e2e/gates/test_by_command.py has it")
    assert not absent
    changes: dict[str, Files] = {"": {}, "good": repository.good, **repository.bad}

    for number, (which, change) in enumerate(changes.items()):
        found = verdicts(repository, change, tmp_path / str(number))
        rejects = {gate for gate, (passed, _) in found.items() if not passed}
        assert rejects == {which} & {*repository.commands}, (which, found)
        if which in repository.told:
            assert repository.told[which] in found[which][1]


@pytest.mark.parametrize("repository", REPOSITORIES.values(), ids=REPOSITORIES)
def test_there_is_a_change_for_every_gate_and_all_fit_into_one_work(repository: Repository) -> None:
    paths = [path for change in repository.bad.values() for path in change]

    assert repository.commands.keys() == repository.bad.keys() == repository.told.keys()
    assert len(paths) == len({*paths})


@pytest.mark.parametrize("language", REPOSITORIES)
def test_the_page_on_gates_says_these_commands(language: str) -> None:
    page = (ROOT / "docs/how-to/add-a-gate.md").read_text()

    said = [command in page for command in REPOSITORIES[language].commands.values()]
    assert all(said), said
