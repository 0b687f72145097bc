"""What a test says: the words of its function, and of what it refers to among the tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.unit.rooms import ROOT

DEPTH = 2
"""How many names away a word may be: a helper or a constant of a helper."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Source:
    """A name at the top of a module: a function, a class or a constant."""

    path: Path
    name: str


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def definitions(path: Path) -> Mapping[str, ast.stmt]:
    """What stands at the top of a module, by name."""
    found: dict[str, ast.stmt] = {}
    for node in tree(path).body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n for target in targets for n in ast.walk(target)):
                if isinstance(name, ast.Name):
                    found[name.id] = node
    return found


def is_test(path: Path, name: str) -> bool:
    """Whether that module has that test."""
    node = definitions(path).get(name) if path.is_file() else None
    return isinstance(node, FUNCTIONS) and name.startswith("test_")


@cache
def words(path: Path, name: str, depth: int = DEPTH) -> frozenset[str]:
    """All that a test says itself, and up to so many names away."""
    node = definitions(path)[name]
    found = frozenset(_words(node))
    if depth:
        for source in _referred(path, node):
            found |= words(source.path, source.name, depth - 1)
    return found


def _words(node: ast.stmt) -> Iterator[str]:
    """Names, attributes, keywords and the words of texts; not what a docstring tells."""
    told = {id(text) for text in _docstrings(node)}
    for part in ast.walk(node):
        match part:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word):
                yield word
            case ast.keyword(arg=str(word)):
                yield word
            case ast.Constant(value=str(text)) if id(part) not in told:
                yield from re.findall(r"\w+", text)


def _docstrings(node: ast.stmt) -> Iterator[ast.expr]:
    for part in ast.walk(node):
        if isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            first = part.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _referred(path: Path, node: ast.stmt) -> Iterator[Source]:
    """What the node names of its own module, of other modules of the tests, and of fixtures."""
    modules = _imported(path)
    for part in ast.walk(node):
        match part:
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                yield from _at(modules.get(module), name)
            case ast.Name(id=name) | ast.arg(arg=name):
                yield from _named(path, name)


def _named(path: Path, name: str) -> Iterator[Source]:
    if name in definitions(path):
        yield Source(path, name)
    elif name in _taken(path):
        yield from _at(*_taken(path)[name])
    else:
        yield from _fixtures(path, name)


def _at(path: Path | None, name: str) -> Iterator[Source]:
    if path is not None and name in definitions(path):
        yield Source(path, name)


def _fixtures(path: Path, name: str) -> Iterator[Source]:
    """The nearest fixture of that name, of the folder or of one above."""
    for folder in path.relative_to(ROOT).parents:
        conftest = ROOT / folder / "conftest.py"
        if conftest.is_file() and isinstance(definitions(conftest).get(name), FUNCTIONS):
            yield Source(conftest, name)
            return


@cache
def _taken(path: Path) -> Mapping[str, tuple[Path, str]]:
    """Names that the module imports from modules of the tests: where each is defined."""
    return {
        name.asname or name.name: (file, name.name)
        for node in tree(path).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests")
        for name in node.names
        if (file := _file(node.module or "")) is not None
    }


@cache
def _imported(path: Path) -> Mapping[str, Path]:
    """Modules of the tests that the module imports, by the name that it has for each."""
    found: dict[str, Path] = {}
    for node in tree(path).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
            for name in node.names:
                if (file := _file(f"{node.module}.{name.name}")) is not None:
                    found[name.asname or name.name] = file
    return found


def _file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return path if path.is_file() else None
