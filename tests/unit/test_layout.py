"""The layout itself: small modules, small folders, no circles, and a place for every room."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests.unit.rooms import PACKAGE, ROOT, children, layers

MOST_LINES = 450
MOST_MODULES = 20
MOST_LINES_OF_A_FUNCTION = 60

# Rooms of unit tests that are not called like a package: where what they test is.
ELSEWHERE = {
    "chart": ROOT / "charts" / "bernstein",
    "cluster": ROOT / "tests" / "cluster",
    "docs": ROOT / "docs",
    "images": ROOT / "tests" / "images",
    "perf": ROOT / "tests" / "perf",
    "release": ROOT / "packaging" / "release",
    "stub_llm": ROOT / "tests" / "stub_llm",
    "upgrade": PACKAGE / "core",
}


EXAMPLES = ROOT / "tests" / "gates"
"""Repositories that gates judge: code of nobody's, and some of it is to be rejected."""


def modules() -> Iterator[Path]:
    """Every Python module of the program and its tests."""
    for tree in ("operator", "packaging", "tests"):
        found = (ROOT / tree).rglob("*.py")
        yield from (path for path in found if not path.is_relative_to(EXAMPLES))


def test_no_module_is_too_long() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in modules()}

    assert {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > MOST_LINES} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    lines = {
        f"{path.relative_to(ROOT)}: {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert {name: n for name, n in lines.items() if n > MOST_LINES_OF_A_FUNCTION} == {}


def test_no_folder_holds_too_many_modules() -> None:
    held = Counter(str(path.parent.relative_to(ROOT)) for path in modules())

    assert {folder: n for folder, n in held.items() if n > MOST_MODULES} == {}


def test_no_tests_lie_where_pytest_does_not_look(pytestconfig: pytest.Config) -> None:
    """A folder called `build`, for instance: its tests would never fail."""
    passed_by: list[str] = pytestconfig.getini("norecursedirs")
    folders = {part for path in modules() for part in path.relative_to(ROOT).parts[:-1]}

    assert [f for f in folders if any(fnmatch(f, pattern) for pattern in passed_by)] == []


# --- circles ------------------------------------------------------------------------------------


def circle(package: str) -> list[str]:
    """Modules of which each imports the one before, anywhere in its text; empty if none do."""
    graph = grimp.build_graph(package, cache_dir=None)
    needs = {
        name: _needs(name, graph.find_modules_directly_imported_by(name)) for name in graph.modules
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def _needs(name: str, imported: Set[str]) -> set[str]:
    """An import also runs the packages around the module, but for those that run already."""
    around = {package for other in imported for package in _around(other)}
    return {*imported, *(around - _around(name) - {name})}


def _around(name: str) -> set[str]:
    parts = name.split(".")
    return {".".join(parts[:depth]) for depth in range(1, len(parts))}


def test_modules_import_each_other_in_no_circle() -> None:
    assert circle("bernstein") == []


@pytest.mark.parametrize(
    ("files", "members"),
    [
        ({"a.py": "", "b.py": "from {0} import a"}, set()),
        ({"a.py": "from {0} import b", "b.py": "from {0} import a"}, {"a", "b"}),
        (
            {"a.py": "from {0} import b", "b.py": "def late():\n    from {0}.a import some"},
            {"a", "b"},
        ),
        ({"a.py": "from {0} import a"}, {"a"}),
        (
            {"a.py": "from {0}.room import b", "room/b.py": "", "room/__init__.py": "import {0}.a"},
            {"a", "room"},
        ),
    ],
    ids=["none", "two", "in a function", "of one", "by way of a package"],
)
def test_a_circle_is_found(
    files: Mapping[str, str],
    members: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    package = re.sub(r"\W", "_", f"house_{request.node.callspec.id}")
    for name, text in {"__init__.py": "", **files}.items():
        path = tmp_path / package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(package))
    monkeypatch.syspath_prepend(tmp_path)

    assert set(circle(package)) == {f"{package}.{name}" for name in members}


# --- rooms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["bernstein", "bernstein.core"])
def test_every_room_has_its_place_in_the_layers(package: str) -> None:
    assert set().union(*layers(package)) == children(package)


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    bare = [folder for folder in folders if not (folder / "__init__.py").exists()]

    assert [str(folder.relative_to(ROOT)) for folder in bare] == []


def test_unit_tests_have_the_rooms_of_what_they_test() -> None:
    tests = Path(__file__).parent
    rooms = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path()}

    assert [str(room) for room in rooms if not _is_there(_tested_by(room))] == []


def _tested_by(room: Path) -> Path:
    first, *deeper = room.parts
    return ELSEWHERE.get(first, PACKAGE / first).joinpath(*deeper)


def _is_there(place: Path) -> bool:
    """As a package, or as a module whose tests have a folder of their own."""
    return place.is_dir() or place.with_name(f"{place.name}.py").is_file()
