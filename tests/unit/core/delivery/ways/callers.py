"""Who calls whom on the way to an action: as the program says, and as is seen while it runs.

A function is named by its module and its name, as in `bernstein.core.delivery.landing.forward`;
what stands inside of it belongs to it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import FrameType
from typing import Any

from tests.unit.rooms import PACKAGE

Call = tuple[str, str]
"""(who calls, whom)"""


@cache
def texts() -> dict[str, str]:
    """Every module of the program, by its name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path.read_text()
    return found


def said_types(tree: ast.AST) -> set[int]:
    """Nodes that only say a type: in an annotation, a `case`, or a name for one of several."""
    return {id(each) for node in ast.walk(tree) for each in _types(node)}


def _types(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case (
            ast.arg(annotation=said)
            | ast.FunctionDef(returns=said)
            | ast.AnnAssign(annotation=said)
        ):
            wholes = [said] if said is not None else []
        case ast.MatchClass(cls=said):
            wholes = [said]
        case ast.Assign(value=ast.BinOp(op=ast.BitOr()) as said):
            wholes = [said]
        case _:
            wholes = []
    for whole in wholes:
        yield from ast.walk(whole)


@cache
def _reads(module: str, text: str) -> frozenset[Call]:
    """Whom each function of a module, and each table at its top, reads: called or handed on."""
    tree = ast.parse(text)
    known = _imports(tree) | {name: f"{module}.{name}" for name in _tops(tree)}
    types = said_types(tree)
    return frozenset(
        (f"{module}.{name}", read)
        for top in tree.body
        for name in _names_of(top)
        for node in ast.walk(top)
        if id(node) not in types and (read := _read(node, known)) is not None
    )


def _imports(tree: ast.Module) -> dict[str, str]:
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _tops(tree: ast.Module) -> Iterator[str]:
    for top in tree.body:
        yield from _names_of(top)


def _names_of(top: ast.stmt) -> tuple[str, ...]:
    match top:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
    return ()


def _read(node: ast.AST, known: Mapping[str, str]) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return known.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in known:
            return f"{known[name]}.{attribute}"
    return None


def towards(action: str, modules: Mapping[str, str]) -> set[Call]:
    """Every call that may lead to it; a table that is read stands for what stands in it."""
    found: set[Call] = set()
    todo = {action}
    while todo:
        speak = {m for m in modules if any(_speaks_of(name, m, modules[m]) for name in todo)}
        every = {call for module in speak for call in _reads(module, modules[module])}
        calls = {(by, whom) for by, whom in every if whom in todo and by != whom} - found
        found |= calls
        todo = {by for by, _ in calls}
    return _through_tables(found, modules)


def _speaks_of(name: str, module: str, text: str) -> bool:
    """Whether it may read it: it is of that module, or imports from there."""
    home, _, short = name.rpartition(".")
    return short in text and (module == home or home.rpartition(".")[0] in text)


def _through_tables(calls: set[Call], modules: Mapping[str, str]) -> set[Call]:
    between = {whom for _, whom in calls} & {by for by, _ in calls}
    for table in {name for name in between if not _is_function(name, modules)}:
        into = {by for by, whom in calls if whom == table}
        behind = {whom for by, whom in calls if by == table}
        calls = {call for call in calls if table not in call}
        calls |= {(by, whom) for by in into for whom in behind}
    return calls


def _is_function(name: str, modules: Mapping[str, str]) -> bool:
    """Also a class, which stands for all of its methods."""
    module, _, short = name.rpartition(".")
    return short in _functions(modules.get(module, ""))


@cache
def _functions(text: str) -> frozenset[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(top.name for top in ast.parse(text).body if isinstance(top, kinds))


def seen(of: Iterable[Call], run: Callable[[], Any]) -> set[Call]:
    """Which of these calls are made while it runs, also by way of functions that none of them
    names: of whom one is handed to."""
    wanted = set(of)
    callers, called = {by for by, _ in wanted}, {whom for _, whom in wanted}
    found: set[Call] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (whom := _name(frame)) not in called:
            return
        above = frame.f_back
        while above is not None and _name(above) not in callers:
            above = above.f_back
        if above is not None:
            found.add((_name(above), whom))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(before)
    return found & wanted


def _name(frame: FrameType) -> str:
    name = frame.f_code.co_qualname.partition(".")[0]
    return f"{frame.f_globals.get('__name__')}.{name}"
