"""The page of dependencies, what is declared, and what the code imports are the same libraries."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

from tests.unit.docs.pages import ROOT

PAGE = ROOT / "docs/decisions/0002-dependencies.md"
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> set[str]:
    return {_plain(re.split("[<>=~!;[ ]", entry)[0]) for entry in DECLARED}


def imported() -> set[str]:
    """Distributions that the program's own modules import; its own two packages are none."""
    modules = {name for path in (ROOT / "operator").rglob("*.py") for name in _imports(path)}
    not_third = sys.stdlib_module_names | {"bernstein", "bernstein_gates"}
    third = {name for name in modules if name.partition(".")[0] not in not_third}
    of_packages = importlib.metadata.packages_distributions()
    return {
        _plain(distribution)
        for name in third
        for distribution in _having(name, set(of_packages[name.partition(".")[0]]))
    }


def _having(module: str, distributions: set[str]) -> set[str]:
    """Those that the module is of: several may share a package, as those of OpenTelemetry do."""
    if len(distributions) == 1:
        return distributions
    return {name for name in distributions if _has(name, module.replace(".", "/"))}


def _has(distribution: str, path: str) -> bool:
    files = map(str, importlib.metadata.files(distribution) or ())
    return any(file == f"{path}.py" or file.startswith(f"{path}/") for file in files)


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return names


def test_what_the_code_imports_is_declared_and_nothing_else_is() -> None:
    # A server's framework brings its own base, which is imported by name.
    assert imported() - declared() == {"starlette"}
    assert declared() - imported() == set()


def test_every_dependency_has_its_row() -> None:
    rows = re.findall(r"^\| ([a-zA-Z][\w, -]*) \|", PAGE.read_text(), re.MULTILINE)
    named = {_plain(name) for row in rows[1:] for name in row.split(", ")}
    assert named == declared()


def test_what_is_installed_with_the_program_is_locked() -> None:
    locked = re.findall(r"^([a-z0-9.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert declared() <= set(locked)
