"""Imports that run when a file is imported, and those that a function waits with."""

from __future__ import annotations

import time

import pytest

from bernstein.checks.outputs.import_scope import only_inside_functions

INSIDE = "def f():\n    {0}\n"
FORMS = ["import p.b", "import p.b as q", "from p import b", "from p.b import x", "from . import b",
         "from .b import x", "import p.b.c"]  # fmt: skip


def inside(source: str, path: str = "src/p/a.py", imported: str = "src/p/b.py") -> bool:
    return only_inside_functions(path, source.encode(), [imported]) == {imported}


@pytest.mark.parametrize("form", FORMS)
def test_an_import_in_a_function_alone_is_told(form: str) -> None:
    assert inside(INSIDE.format(form))
    assert inside(f"class C:\n    async def f(self):\n        if self:\n            {form}\n")


@pytest.mark.parametrize("form", FORMS)
def test_an_import_that_runs_at_once_is_not(form: str) -> None:
    assert not inside(form)
    assert not inside(f"try:\n    {form}\nexcept ImportError:\n    pass\n")
    assert not inside(f"class C:\n    {form}\n")
    for other in FORMS:
        assert not inside(INSIDE.format(other) + f"{form}\n")


@pytest.mark.parametrize("test", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_one_for_type_checkers_never_runs(test: str) -> None:
    typed = f"if {test}:\n    import p.b\n"

    assert inside(typed + INSIDE.format("import p.b"))
    assert not inside(f"{typed}else:\n    import p.b\n" + INSIDE.format("import p.b"))


@pytest.mark.parametrize(
    ("source", "path", "imported"),
    [
        (INSIDE.format("from .. import q"), "p/x/a.py", "p/q.py"),
        (INSIDE.format("from ..q import z"), "p/x/a.py", "p/q/__init__.py"),
        (INSIDE.format("import p"), "p/a.py", "p/__init__.py"),
        (INSIDE.format("from . import a"), "p/__init__.py", "p/a.py"),
        (INSIDE.format("from b import *"), "a.py", "b.pyi"),
    ],
)
def test_packages_and_files_at_the_root_are_known(source: str, path: str, imported: str) -> None:
    assert inside(source, path, imported)


@pytest.mark.parametrize(
    "source", ["", "def f(:\n", "\0", "def f():\n    import q\n", "(" * 10_000, "import q\n"]
)
def test_what_nobody_can_tell_counts(source: str) -> None:
    assert not inside(source)


def test_a_large_file_counts() -> None:
    assert inside(INSIDE.format("import p.b") + "#" * 150_000)
    assert not inside(INSIDE.format("import p.b") + "#" * 200_000)


@pytest.mark.parametrize("unit", ["import p.c\n", "a,", "-", "f(", "def f(): import p.b\n", "a.b"])
def test_no_file_takes_long(unit: str) -> None:
    start = time.process_time()
    inside(unit * (190_000 // len(unit)))
    assert time.process_time() - start < 5
