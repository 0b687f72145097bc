"""KWOK is built from its own module, once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cluster.binaries import kwok
from tests.cluster.binaries.kwok import COMMAND, ensure_kwok, kwok_key
from tests.cluster.machine.paths import KWOK_MODULE, kwok_root
from tests.unit.cluster.conftest import install


def test_the_module_names_the_program_as_its_tool() -> None:
    assert f"tool {COMMAND}\n" in (KWOK_MODULE / "go.mod").read_text()


@pytest.mark.parametrize("file", ["go.mod", "go.sum"])
def test_a_changed_module_makes_another_build(tmp_path: Path, file: str) -> None:
    module = tmp_path / "module"
    shutil.copytree(KWOK_MODULE, module)
    assert kwok_key(module) == kwok_key(KWOK_MODULE)

    with (module / file).open("a") as opened:
        opened.write("\n// changed\n")

    assert kwok_key(module) != kwok_key(KWOK_MODULE)


def test_it_is_built_in_its_module_and_only_once(
    only_here: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(only_here, "go", "go1.25.0")
    built: list[tuple[str, Path]] = []

    def build(command: list[str], log: Path, module: Path) -> None:
        built.append((command[-1], module))
        Path(command[command.index("-o") + 1], "kwok").touch()

    monkeypatch.setattr(kwok, "run_build", build)
    (kwok_root() / "older").mkdir(parents=True)

    assert ensure_kwok() == ensure_kwok()

    assert ensure_kwok().exists()
    assert built == [(COMMAND, KWOK_MODULE)]
    assert not (kwok_root() / "older").exists()
