"""Files that configure checks: which change of them sets something, and which nobody can read."""

from __future__ import annotations

import time

import pytest

from bernstein.checks.content.settings_files import broken, configures, sets_something

PYPROJECT = """\
[project]
name = "a"
dependencies = ["x"]
[tool.setuptools]
packages = ["a"]
[tool.ruff]
line-length = 100
"""
SETUP = "[metadata]\nname = a\n[options]\ninstall_requires = x\n[flake8]\nmax-line-length = 100\n"
PACKAGE = '{"name": "a", "dependencies": {"x": "1"}, "scripts": {"test": "jest"}}'
SETS = {
    "a table of a tool": ("pyproject.toml", PYPROJECT, PYPROJECT.replace("100", "200")),
    "a new table": ("pyproject.toml", PYPROJECT, PYPROJECT + "[tool.mypy]\nstrict = false\n"),
    "no table any more": ("pyproject.toml", PYPROJECT, PYPROJECT.partition("[tool.ruff]")[0]),
    "what cannot be read": ("pyproject.toml", PYPROJECT, PYPROJECT + "["),
    "no UTF-8": ("sub/pyproject.toml", PYPROJECT, b"\xff"),
    "a section of a tool": ("setup.cfg", SETUP, SETUP.replace("100", "200")),
    "a script": ("package.json", PACKAGE, PACKAGE.replace("jest", "true")),
    "a new file": ("ruff.toml", "", "line-length = 100\n"),
    "a file that is gone": ("mypy.ini", "[mypy]\nstrict = true\n", ""),
    "what is ignored": (".gitignore", "a\n", "a\n*.py\n"),
    "too long to be read": ("pyproject.toml", PYPROJECT, PYPROJECT + "#" * 1_000_000),
}
SETS_NOTHING = {
    "a dependency": ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"x"', '"x", "y"')),
    "of packaging": ("pyproject.toml", PYPROJECT, PYPROJECT.replace('["a"]', '["a", "b"]')),
    "white space": ("pyproject.toml", PYPROJECT, PYPROJECT.replace(" = ", "=") + "# ok\n"),
    "a new one without tools": ("pyproject.toml", "", '[project]\nname = "a"\n'),
    "a requirement": ("setup.cfg", SETUP, SETUP.replace("= x", "= y")),
    "a package": ("package.json", PACKAGE, PACKAGE.replace('"1"', '"2"')),
}


def data(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


@pytest.mark.parametrize(("path", "before", "after"), SETS.values(), ids=SETS)
def test_what_sets_something(path: str, before: str, after: str | bytes) -> None:
    assert configures(path)
    assert sets_something(path, data(before), data(after))


@pytest.mark.parametrize(("path", "before", "after"), SETS_NOTHING.values(), ids=SETS_NOTHING)
def test_what_sets_nothing(path: str, before: str, after: str) -> None:
    assert configures(path)
    assert not sets_something(path, data(before), data(after))


@pytest.mark.parametrize("path", ["src/app.py", "ruff.toml/x", "data.json", "README.md"])
def test_most_files_configure_nothing(path: str) -> None:
    assert not configures(path)


BROKEN = {
    "pyproject.toml": ("[tool.ruff\n", "it is no TOML (at line 1)"),
    "web/ruff.toml": ("a = 1\na = 2\n", "it is no TOML (at line 2)"),
    "setup.cfg": ("max = 1\n", "it is no INI file (at line 1)"),
    "mypy.ini": ("[mypy]\nx\n", "it is no INI file (at line 2)"),
    "package.json": ('{\n"a": 1,\n}', "it is no JSON (at line 3)"),
    "tsconfig.json": ('{"a": }', "it is no JSON (at line 1)"),
    ".golangci.yml": ("a:\n  - b\n c: [\n", "it is no YAML (at line 3)"),
    "biome.json": (b"\xff{}", "it is no UTF-8"),
    ".oxlintrc.json": ("[" * 100_000, "no tool would read it"),
    "ruff.toml": (f"a = {'1' * 5000}\n", "no tool would read it"),
}


@pytest.mark.parametrize(("path", "content", "why"), [(p, *of) for p, of in BROKEN.items()])
def test_what_no_tool_can_read_is_told_with_its_line(
    path: str, content: str | bytes, why: str
) -> None:
    assert broken(path, b"", data(content)) == why
    assert broken(path, data(content), data(content) + b"\n") == "", "it was so before"


READABLE = {
    "pyproject.toml": "\ufeff" + PYPROJECT,
    "setup.cfg": SETUP,
    ".flake8": "[flake8]\nignore =\n    E1,\n    # why\n    E2\n",
    "tox.ini": "",
    "package.json": PACKAGE,
    "tsconfig.json": '// a\n{"a": "//x, }", /* b\n */ "b": [1, 2, /* c */], // d\n}\n',
    "tsconfig.build.json": "// nothing\n",
    ".golangci.yml": "a: !custom [b, &c d, *c]\n---\nx: *unknown\n",
    ".eslintrc": "{ // whatever this is",
    ".gitignore": "[",
    "data.toml": "[",
}


@pytest.mark.parametrize(("path", "content"), READABLE.items())
def test_what_a_tool_may_read_is_not_told(path: str, content: str) -> None:
    assert broken(path, b"", content.encode()) == ""


HOSTILE = {
    "a key of many parts": ("pyproject.toml", "a" + ".a" * 400_000 + " = 1\n"),
    "keys of many parts": ("pyproject.toml", ("x" + ".a" * 900 + " = 1\n") * 500),
    "a row of spaces": ("setup.cfg", "[a]\nb" + " " * 900_000 + "c\n"),
    "rows of spaces": ("setup.cfg", "[a]\n" + ("b" + " " * 990 + "c\n") * 900),
    "fewer rows of spaces": ("setup.cfg", "[a]\n" + ("b" + " " * 990 + "c\n") * 190),
    "texts without an end": ("tsconfig.json", '"' + '\\"' * 400_000),
    "comments without an end": ("tsconfig.json", "/*" * 400_000),
    "commas": ("tsconfig.json", ", " * 400_000),
    "lists": (".golangci.yml", "[" * 190_000),
    "some lists and much in them": (".golangci.yml", "[" * 300 + "a, " * 60_000),
    "mappings": (".golangci.yml", "? " * 90_000),
    "tables": ("ruff.toml", "".join(f"[a{i}.b]\n" for i in range(60_000))),
}


@pytest.mark.parametrize(("path", "content"), HOSTILE.values(), ids=HOSTILE)
def test_nothing_takes_longer_than_its_length(path: str, content: str) -> None:
    began = time.process_time()
    broken(path, b"", content.encode())
    sets_something(path, b"", content.encode())
    assert time.process_time() - began < 20
