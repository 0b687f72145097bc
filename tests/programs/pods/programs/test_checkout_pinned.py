"""Program `checkout`: all that configures a linter comes from the pinned commit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import CheckoutConfig
from bernstein.checks.gate import Command
from bernstein.checks.gates import type_check
from bernstein.checks.gates.lint import GATE
from bernstein.pods.programs import checkout
from tests.programs.gate_runs import run
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.test_checkout import files

pytestmark = pytest.mark.verification

assert isinstance(GATE.runs, Command)
COMMAND, NAMES = GATE.runs.command, GATE.runs.pinned
BAD = "import os\n"
LAX = "lint.select = []\nlint.ignore = ['F401']\n"
Files = dict[str, bytes | str | None]
TREES: dict[str, tuple[Files, Files]] = {
    "extend": (
        {"ruff.toml": 'extend = "config/base.toml"\n', "config/base.toml": "line-length = 100\n"},
        {"config/base.toml": LAX},
    ),
    "extend, twice": (
        {
            "pyproject.toml": '[tool.ruff]\nextend = "a/one.toml"\n',
            "a/one.toml": 'extend = "two.toml"\n',
            "a/two.toml": "line-length = 100\n",
        },
        {"a/two.toml": LAX},
    ),
    "extend, through a link": (
        {
            "ruff.toml": 'extend = "config/base.toml"\n',
            "config": "->shared",
            "shared/base.toml": "line-length = 100\n",
        },
        {"shared/base.toml": LAX},
    ),
    "extend, by a new link in the place of its folder": (
        {"ruff.toml": 'extend = "config/base.toml"\n', "config/base.toml": "line-length = 100\n"},
        {"config": "->evil", "config/base.toml": None, "evil/base.toml": LAX},
    ),
    "a link to another name": (
        {"ruff.toml": "->the-rules.toml", "the-rules.toml": "line-length = 100\n"},
        {"the-rules.toml": LAX},
    ),
    "a new file in a folder": ({}, {"pkg/ruff.toml": LAX}),
    "a new file of another name": (
        {"ruff.toml": "line-length = 100\n"},
        {"pkg/pyproject.toml": "[tool.ruff]\n" + LAX},
    ),
    "a changed file": ({"ruff.toml": "line-length = 100\n"}, {"ruff.toml": LAX}),
}


def lint(tree: Path) -> int:
    tools = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", COMMAND], cwd=tree, env=tools, check=False).returncode


@pytest.mark.parametrize("case", TREES)
def test_no_configuration_of_the_agents_blinds_the_linter(
    origin: Origin, config: dict[str, Any], tmp_path: Path, case: str
) -> None:
    before, edits = TREES[case]
    pinned = origin.commit({"keep": "1", **before})
    after: Files = {**before, **edits, "pkg/bad.py": BAD}
    origin.commit(after, pinned, ref="refs/heads/main")

    checkout.run(CheckoutConfig(**config | {"worktree": str(tmp_path / "own")}))
    assert lint(tmp_path / "own") == 0, "the payload does not work"

    overlay = {"git_dir": str(tmp_path / "again.git"), "pinned_sha": pinned, "pinned_names": NAMES}
    checkout.run(CheckoutConfig(**config | overlay))
    assert lint(tmp_path / "workspace") == 1
    assert files(tmp_path / "workspace").keys() >= before.keys() - {"config"}


LOOSE = {
    "base.json": '{"typeCheckingMode": "off", "reportAssignmentType": "none"}',
    "base.toml": '[tool.pyright]\ntypeCheckingMode = "off"\nreportAssignmentType = "none"\n',
}


@pytest.mark.parametrize("base", LOOSE)
def test_no_configuration_that_pyright_extends_is_loosened_by_the_work(
    origin: Origin, config: dict[str, Any], tmp_path: Path, base: str
) -> None:
    strict = "{}" if base.endswith(".json") else "[tool.pyright]\n"
    before: Files = {"pyproject.toml": f'[tool.pyright]\nextends = "{base}"\n', base: strict}
    pinned = origin.commit({"keep": "1", **before})
    origin.commit(
        {**before, base: LOOSE[base], "bad.py": "x: int = ''\n"}, pinned, ref="refs/heads/main"
    )

    checkout.run(CheckoutConfig(**config | {"worktree": str(tmp_path / "own")}))
    assert run("pyright", tmp_path / "own").returncode == 0, "the payload does not work"

    names = type_check.COMMAND.pinned
    overlay = {"git_dir": str(tmp_path / "again.git"), "pinned_sha": pinned, "pinned_names": names}
    checkout.run(CheckoutConfig(**config | overlay))
    assert run("pyright", tmp_path / "workspace").returncode == 1


@pytest.mark.parametrize(
    "name",
    [
        *("eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts"),
        *(".eslintrc.js", ".eslintrc.yml", "mypy.ini", ".mypy.ini", "tox.ini", "biome.json"),
        *("biome.jsonc", ".pylintrc", "pyrightconfig.json", "package.json", ".golangci.yml"),
    ],
)
def test_configuration_that_the_pinned_commit_does_not_have_is_taken_away(
    origin: Origin, config: dict[str, Any], tmp_path: Path, name: str
) -> None:
    pinned = origin.commit({"a": "1"})
    edits: Files = {name: "lax", f"deep/er/{name}": "lax", "a": "2"}
    origin.commit(edits, pinned, ref="refs/heads/main")

    overlay = {"pinned_sha": pinned, "pinned_names": NAMES}
    checkout.run(CheckoutConfig(**config | overlay))

    assert files(tmp_path / "workspace") == {"a": b"2"}


def test_a_name_with_a_star_stands_for_many(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    strict, lax = '{"strict": true}', '{"strict": false}'
    pinned = origin.commit({"tsconfig.json": strict, "a/tsconfig.app.json": strict})
    after: Files = {"tsconfig.json": lax, "a/tsconfig.app.json": lax, "a/xtsconfig.json": "1"}
    origin.commit(after | {"b/tsconfig-new.json": lax}, pinned, ref="refs/heads/main")

    checkout.run(CheckoutConfig(**config | {"pinned_sha": pinned, "pinned_names": NAMES}))

    assert files(tmp_path / "workspace") == {
        "tsconfig.json": strict.encode(),
        "a/tsconfig.app.json": strict.encode(),
        "a/xtsconfig.json": b"1",
    }


def test_what_a_configuration_extends_is_taken_away_where_the_pinned_commit_has_none(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    pinned = origin.commit({"ruff.toml": 'extend = "late.toml"\n', "a": "1"})
    edits: Files = {"ruff.toml": 'extend = "late.toml"\n', "late.toml": LAX, "a": "1"}
    origin.commit(edits, pinned, ref="refs/heads/main")

    checkout.run(CheckoutConfig(**config | {"pinned_sha": pinned, "pinned_names": NAMES}))

    assert set(files(tmp_path / "workspace")) == {"ruff.toml", "a"}


def test_configurations_that_extend_each_other_end(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    tree: Files = {
        "ruff.toml": 'extend = "b.toml"\n',
        "b.toml": 'extend = "ruff.toml"\n',
        "c.toml": "->c.toml",
    }
    pinned = origin.commit(tree, ref="refs/heads/main")

    overlay = {"pinned_sha": pinned, "pinned_names": (*NAMES, "c.toml")}
    checkout.run(CheckoutConfig(**config | overlay))

    assert set(files(tmp_path / "workspace")) == set(tree)
