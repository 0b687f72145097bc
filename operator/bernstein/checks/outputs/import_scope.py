"""Which imports of a Python file run when it is imported?

One inside a function runs when that is called, so that no circle comes of it: it is the usual way
out of one. Where nobody can tell, because a file cannot be read or no import leads there, an import
counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

MOST_BYTES = 200_000
"""Of a file that is read: its syntax takes some hundred times as much memory."""

Name = tuple[str, ...]
"""A module's name, in parts."""


def only_inside_functions(path: str, source: bytes, imported: Iterable[str]) -> set[str]:
    """Those of the `imported` paths that the file at `path` imports in functions alone."""
    if len(source) > MOST_BYTES:
        return set()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    outside, inside = set[Name](), set[Name]()
    _collect(tree, path, outside, inside)
    return {
        module
        for module in imported
        if _is_among(module, inside) and not _is_among(module, outside)
    }


def _collect(tree: ast.AST, path: str, outside: set[Name], inside: set[Name]) -> None:
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, in_function = pending.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            (inside if in_function else outside).update(_names(node, path))
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts: Iterable[ast.AST] = node.body
            in_function = True
        elif isinstance(node, ast.If) and _is_for_type_checkers(node.test):
            parts = node.orelse
        else:
            parts = ast.iter_child_nodes(node)
        pending += [(each, in_function) for each in parts if not isinstance(each, ast.expr)]


def _is_for_type_checkers(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _names(node: ast.Import | ast.ImportFrom, path: str) -> Iterator[Name]:
    """The modules that it may be about. A relative name begins at the root of the repository."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield tuple(alias.name.split("."))
        return
    module = tuple(node.module.split(".")) if node.module else ()
    above = tuple(path.split("/"))[: -node.level] if node.level else ()
    base = ("", *above, *module) if node.level else module
    yield base
    for alias in node.names:
        yield (*base, alias.name)


def _is_among(path: str, names: Iterable[Name]) -> bool:
    """Whether one of the names may be that of the file: by its end, since nobody knows where
    packages begin, and by its beginning, since packages are imported with what is in them."""
    parts = ("", *path.removesuffix(".pyi").removesuffix(".py").split("/"))
    module = parts[:-1] if parts[-1] == "__init__" else parts
    return any(_may_be(module, name) for name in names)


def _may_be(module: Name, name: Name) -> bool:
    if name[:1] == ("",):
        return name[: len(module)] == module
    ends = (name[:length] for length in range(1, len(name) + 1))
    return any(module[-len(end) :] == end for end in ends)
