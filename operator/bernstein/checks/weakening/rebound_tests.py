"""Tests in Python whose name is given to something else further down: only the last is run.

Python keeps of all that a module or class calls by one name what came last. A test that stands
above it is still there to be read and counted.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator

_MOST_BYTES = 500_000
"""Of one file; in one that was larger already nothing is looked for."""
_PREFIXES = ("test", "Test")


def outgrows(before: bytes, after: bytes) -> bool:
    """Whether nothing can be said of the file any more, though it could."""
    return len(before) <= _MOST_BYTES < len(after)


def newly_rebound(before: bytes, after: bytes) -> list[str]:
    """Names of tests of the file as it was that are bound more often now, in one place: `name` or
    `Class.name`, sorted. What cannot be read has none."""
    was, now = _bindings(before), _bindings(after)
    return sorted(name for name, count in now.items() if count > 1 and 0 < was.get(name, 0) < count)


def _bindings(content: bytes) -> Counter[str]:
    if len(content) > _MOST_BYTES:
        return Counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
        return Counter(_in(tree.body, ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Counter()


def _in(body: list[ast.stmt], scope: str) -> Iterator[str]:
    """Each binding or deletion of a test's name in a module or class, whatever it stands within
    there; branches that exclude one another are one place."""
    for statement in body:
        yield from (f"{scope}{n}" for n in _bound(statement) if n.startswith(_PREFIXES))
        if isinstance(statement, ast.ClassDef):
            yield from _in(statement.body, f"{scope}{statement.name}.")
        elif isinstance(statement, ast.If | ast.Try):
            branches = [statement.body, statement.orelse]
            if isinstance(statement, ast.Try):
                branches = [statement.body, *(each.body for each in statement.handlers)]
                yield from _in([*statement.orelse, *statement.finalbody], scope)
            counts = [Counter(_in(branch, scope)) for branch in branches]
            most: Counter[str] = Counter()
            for count in counts:
                most |= count
            yield from most.elements()
        elif isinstance(statement, ast.For | ast.While | ast.With):
            yield from _in(statement.body, scope)


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((each.asname or each.name).partition(".")[0] for each in statement.names)
    elif isinstance(statement, ast.Assign | ast.Delete):
        yield from (name for target in statement.targets for name in _names(target))
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For):
        yield from _names(statement.target)


def _names(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
