"""Programs are built from their own modules, once."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.binaries import programs
from tests.cluster.binaries.programs import GITEA, GITOPS, KWOK, Program
from tests.unit.cluster.conftest import install

ALL = pytest.mark.parametrize("program", [KWOK, GITEA], ids=lambda program: program.name)


@ALL
def test_the_module_names_the_program_as_its_tool(program: Program) -> None:
    assert f"tool {program.command}\n" in (program.module / "go.mod").read_text()


@pytest.mark.parametrize("file", ["go.mod", "go.sum"])
def test_a_changed_module_makes_another_build(tmp_path: Path, file: str) -> None:
    module = tmp_path / "module"
    shutil.copytree(KWOK.module, module)
    copy = replace(KWOK, module=module)
    assert copy.key() == KWOK.key()

    with (module / file).open("a") as opened:
        opened.write("\n// changed\n")

    assert copy.key() != KWOK.key()


def test_changed_source_of_its_own_makes_another_build(tmp_path: Path) -> None:
    module = tmp_path / "module"
    shutil.copytree(GITOPS.module, module)
    copy = replace(GITOPS, module=module)
    assert copy.key() == GITOPS.key()

    with (module / GITOPS.command / "main.go").open("a") as opened:
        opened.write("\n// changed\n")

    assert copy.key() != GITOPS.key()


@ALL
def test_it_is_built_in_its_module_and_only_once(
    program: Program, only_here: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(only_here, "go", "go1.25.0")
    built: list[tuple[str, Path]] = []

    def build(command: list[str], log: Path, module: Path) -> None:
        built.append((command[-1], module))
        Path(command[command.index("-o") + 1], program.name).touch()

    monkeypatch.setattr(programs, "run_build", build)
    monkeypatch.setattr(programs, "module_folder", lambda *_: str(tmp_path / "source"))
    for name in program.beside:
        (tmp_path / "source" / name).mkdir(parents=True)
    (program.builds / "older").mkdir(parents=True)

    assert program.ensure() == program.ensure()

    assert program.ensure().exists()
    assert built == [(program.command, program.module)]
    assert not (program.builds / "older").exists()
    assert all((program.ensure().parent / name).is_dir() for name in program.beside)
