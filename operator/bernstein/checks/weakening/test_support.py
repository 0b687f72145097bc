"""What decides how tests are run: files named like the tools that run them, each `conftest.py`, and
what these bring in.

Words do not tell what such a file does: a hook may come out of an import, a name may be put
together. So nothing is looked for that does harm. A change of such a file is told unless all that
it adds is known to do none: imports of the standard library, and functions that nothing calls yet.
"""

from __future__ import annotations

import ast
import posixpath
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping

from bernstein.checks.changes import is_test

CONFTEST = "conftest.py"
PACKAGE = "__init__.py"
MOST_FILES = 300
"""That are read to find out what they bring in; where there are more, it is not known."""
_MOST_BYTES = 200_000
"""Of one file."""
_TOOLS = {"pytest", "_pytest", "pluggy", "iniconfig", "unittest", "doctest"} | {
    *("sitecustomize", "usercustomize", "coverage", "xdist", "pytest_cov"),
}
_BUILT_IN = {
    *("cache", "capfd", "capfdbinary", "caplog", "capsys", "capsysbinary", "capteesys"),
    *("doctest_namespace", "monkeypatch", "pytestconfig", "record_property", "recwarn", "request"),
    *("record_testsuite_property", "record_xml_attribute", "subtests", "testdir", "pytester"),
    *("tmp_path", "tmp_path_factory", "tmpdir", "tmpdir_factory"),
}
"""Fixtures of pytest: one of the same name takes their place."""
_OPTIONS = {"scope", "params", "ids"}
_PLAIN = (
    *(ast.arguments, ast.arg, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load),
    *(ast.Tuple, ast.List, ast.BinOp, ast.BitOr),
)
"""What may stand in the line that defines a function: none of it calls anything."""


def shadows(path: str) -> bool:
    """Whether Python may take what is there for a tool that runs tests, for a module of its own, or
    for a package that is installed."""
    folder, name = posixpath.split(path)
    if name.endswith(".pth") or any(
        part.endswith((".egg-info", ".dist-info")) for part in path.split("/")
    ):
        return True
    if "." in name and not name.endswith(_ENDINGS):
        return False
    stem = name.partition(".")[0]
    if stem == "__init__":
        folder, stem = posixpath.split(folder)
    elif folder not in _ROOTS and is_test(path):
        folder = ""
    return stem in _TOOLS or ("." in name and folder in _ROOTS and stem in _OF_PYTHON)


_ENDINGS = (".py", ".pyc", ".so", ".pyd")
_ROOTS = ("", "src")
"""Folders that Python is likely to import from; so are those of tests."""
_OF_PYTHON = sys.stdlib_module_names - {"test", "this"}


# --- which files they are -----------------------------------------------------------------------

Content = Callable[[str], bytes | None]
"""Of a file, by its path; None: it is not there."""
Functions = Mapping[str, Collection[str]]
"""Names of the functions that stand in a file, by its path."""


def brought_in(paths: Collection[str], content: Content) -> Functions | None:
    """Each `conftest.py`, and the modules that it or they bring in: as plugins or with `*` from
    anywhere, by name from beside tests; with their functions. None: there are over MOST_FILES.

    A module is every file of that name: from where Python would take it is not known.
    """
    by_name: dict[str, list[str]] = {}
    for path in paths:
        if path.endswith(".py"):
            by_name.setdefault(posixpath.basename(path), []).append(path)
    found: dict[str, set[str]] = {path: set() for path in by_name.get(CONFTEST, ())}
    left = sorted(found)
    while left:
        if len(found) > MOST_FILES:
            return None
        path = left.pop()
        tree = _parsed(content(path) or b"")
        found[path].update(_functions(tree))
        for module, is_plugin in _modules(tree) if tree is not None else ():
            tails = (f"{module}.py", f"{module}/__init__.py")
            named = (p for tail in tails for p in by_name.get(posixpath.basename(tail), ()))
            new = {
                path
                for path in named
                if f"/{path}".endswith(tuple(f"/{tail}" for tail in tails))
                and (is_plugin or is_test(path))
            }
            left += sorted(new - found.keys())
            found |= {path: set() for path in new - found.keys()}
    return found


def _functions(tree: ast.Module | None) -> Iterator[str]:
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def taken_elsewhere(path: str, functions: Functions) -> set[str]:
    """Names of functions whose place a fixture in this file would take: of plugins, and of each
    `conftest.py` in its folder and above."""
    folder = posixpath.dirname(path)
    names = set[str]()
    for other, own in functions.items():
        above, name = posixpath.split(other)
        is_above = not above or folder == above or folder.startswith(f"{above}/")
        if other != path and (is_above or name != CONFTEST):
            names.update(own)
    return names


def _modules(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """(its path without an ending, whether all that it holds is taken) of each that is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name.replace(".", "/"), False) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").replace(".", "/")
            names = [each.name for each in node.names]
            if module:
                yield module, "*" in names
            yield from ((posixpath.join(module, each), False) for each in names if each != "*")
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id == "pytest_plugins" for t in targets):
                yield from ((word.replace(".", "/"), True) for word in _texts(node.value))


def _texts(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
            yield node.value


# --- what of a change does no harm ----------------------------------------------------------------


def is_harmless(before: bytes, after: bytes, taken: Collection[str] = ()) -> bool:
    """Whether the file keeps every statement that it had, in order, and what is new does nothing
    by itself and takes no other's place. `taken`: names of functions in other files."""
    try:
        was, now = _parsed(before), _parsed(after)
        if was is None or now is None:
            return False
        names = _names(was) | {*taken}
        left = [ast.dump(statement) for statement in reversed(was.body)]
        for statement in now.body:
            if left and ast.dump(statement) == left[-1]:
                left.pop()
            elif not _is_idle(statement, names):
                return False
    except RecursionError:
        return False
    return not left


def _parsed(content: bytes) -> ast.Module | None:
    if len(content) > _MOST_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(tree: ast.Module) -> set[str]:
    """All that the file calls something, or by which it calls something."""
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
    return names


def _is_idle(statement: ast.stmt, taken: Collection[str]) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return _is_plain_import(statement, taken)
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return _is_new_function(statement, taken)
    return False


def _is_plain_import(statement: ast.Import | ast.ImportFrom, taken: Collection[str]) -> bool:
    if isinstance(statement, ast.Import):
        modules = [each.name for each in statement.names]
    else:
        modules = [] if statement.level else [statement.module or ""]
    bound = {(each.asname or each.name).partition(".")[0] for each in statement.names}
    own = isinstance(statement, ast.Import) and modules == ["pytest"] and bound == {"pytest"}
    known = bool(modules) and all(m.partition(".")[0] in sys.stdlib_module_names for m in modules)
    return (own or (known and all(map(_is_nobodys, bound)))) and bound.isdisjoint(taken)


def _is_new_function(
    statement: ast.FunctionDef | ast.AsyncFunctionDef, taken: Collection[str]
) -> bool:
    name = statement.name
    if not _is_nobodys(name) or name in taken or name in _BUILT_IN:
        return False
    returns = [statement.returns] if statement.returns else []
    heads: list[ast.AST] = [statement.args, *returns]
    for decorator in statement.decorator_list:
        call = decorator
        if isinstance(call, ast.Call):
            if call.args or any(word.arg not in _OPTIONS for word in call.keywords):
                return False
            heads += (word.value for word in call.keywords)
            call = call.func
        if ast.unparse(call) != "pytest.fixture":
            return False
    return all(isinstance(node, _PLAIN) for head in heads for node in ast.walk(head))


def _is_nobodys(name: str) -> bool:
    """Whether neither Python nor pytest looks for such a name in a module."""
    return name != "*" and not name.startswith(("pytest", "__", "collect_ignore"))
