"""Tests in Python whose name is given to something else further down: only the last is run.

Python keeps of all that a module or class calls by one name what came last. A test that stands
above it is still there to be read and counted. Where the file is written in a newer Python than
ours, names are counted as words.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator

from bernstein.checks.weakening.counted_tests import without_texts

_MOST_BYTES = 500_000
"""Of one file; in one that was larger already nothing is looked for."""
_PREFIXES = ("test", "Test")


_NAME = re.compile(r"\b[Tt]est\w*")


def outgrows(before: bytes, after: bytes) -> bool:
    """Whether nothing can be said of the file any more, though it could: it is too large, or too
    deep."""
    return _bindings(before) is not None and _bindings(after) is None


def newly_rebound(before: bytes, after: bytes) -> list[str]:
    """Names of tests of the file as it was that are bound more often now, in one place: `name` or
    `Class.name`, sorted. What cannot be read has none."""
    was, now = _bindings(before), _bindings(after)
    if was is None or now is None:
        return []
    if isinstance(was, _Words) or isinstance(now, _Words):
        was, now = _words(before), _words(after)
    return sorted(name for name, count in now.items() if count > 1 and 0 < was.get(name, 0) < count)


def rebound(content: bytes) -> set[str]:
    """Names, without their class, that are bound more than once in one place."""
    names = _bindings(content)
    if names is None or isinstance(names, _Words):
        return set()
    return {name.rpartition(".")[2] for name, count in names.items() if count > 1}


class _Words(Counter[str]):
    """How often each name is written, where nobody knows what is bound."""


def _words(content: bytes) -> _Words:
    return _Words(_NAME.findall(without_texts("a.py", content)))


def _bindings(content: bytes) -> Counter[str] | None:
    """How often each name is bound; None: nobody can tell."""
    if len(content) > _MOST_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
        return Counter(_in(tree.body, ""))
    except (RecursionError, MemoryError):
        return None
    except (SyntaxError, ValueError):
        return _words(content)


def _in(body: list[ast.stmt], scope: str, above: set[str] | None = None) -> Iterator[str]:
    """Each binding or deletion of a test's name in a module or class, whatever it stands within
    there; branches that exclude one another are one place. `above`: what is bound before it, since
    all of it may have been bound by `*` the last time; it is kept up."""
    above = set() if above is None else above
    for statement in body:
        own = [f"{scope}{n}" for n in _bound(statement) if n.startswith(_PREFIXES)]
        yield from own
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            yield from above
            above.clear()
        above.update(own)
        if isinstance(statement, ast.ClassDef):
            yield from _in(statement.body, f"{scope}{statement.name}.")
        elif isinstance(statement, ast.If | ast.Match | ast.Try | ast.TryStar):
            most: Counter[str] = Counter()
            for branch in _branches(statement):
                most |= Counter(_in(branch, scope, above))
            yield from most.elements()
        if isinstance(statement, ast.Try | ast.TryStar):
            yield from _in([*statement.orelse, *statement.finalbody], scope, above)
        elif isinstance(statement, ast.For | ast.While):
            yield from _in([*statement.body, *statement.orelse], scope, above)
        elif isinstance(statement, ast.With):
            yield from _in(statement.body, scope, above)


def _branches(statement: ast.If | ast.Match | ast.Try | ast.TryStar) -> Iterator[list[ast.stmt]]:
    """Of which one is run."""
    if isinstance(statement, ast.If):
        yield statement.body
        yield statement.orelse
    elif isinstance(statement, ast.Match):
        yield from (case.body for case in statement.cases)
    else:
        yield statement.body
        yield from (handler.body for handler in statement.handlers)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that the statement binds or deletes itself."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((each.asname or each.name).partition(".")[0] for each in statement.names)
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, ast.stmt):
            continue  # is looked at by itself
        if isinstance(part, ast.ExceptHandler):
            yield from [part.name] if part.name else []
        elif isinstance(part, ast.match_case):
            yield from _names(part.pattern)
        else:
            yield from _names(part)


def _names(part: ast.AST) -> Iterator[str]:
    for node in ast.walk(part):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
