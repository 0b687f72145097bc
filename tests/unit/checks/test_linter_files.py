"""What a linter's configuration takes more from."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.checks.linter_files import LINTER_FILES, extended


@pytest.mark.parametrize(
    ("path", "content", "reached"),
    [
        ("ruff.toml", 'extend = "config/base.toml"', "config/base.toml"),
        ("a/b/ruff.toml", 'extend = "../base.toml"', "a/base.toml"),
        ("pyproject.toml", '[tool.ruff]\nextend = "./base.toml"', "base.toml"),
        ("pyproject.toml", '[tool.pyright]\nextends = "base.json"', "base.json"),
        ("a/pyproject.toml", '[tool.pyright]\nextends = "../base.toml"', "base.toml"),
        ("pyrightconfig.json", '{"extends": "./base.toml"}', "base.toml"),
        ("base.toml", '[tool.pyright]\nextends = "more.json"', "more.json"),
        (".eslintrc.json", '{"extends": ["x", "./rules.json"]}', "rules.json"),
        (".eslintrc.json", '{"extends": "./rules"}', "rules.js"),
        (".eslintrc.yml", "extends:\n  - eslint:all\n  - ./rules.yml\n", "rules.yml"),
        (".eslintrc.yml", "extends: ./rules.yml\n", "rules.yml"),
        (".eslintrc.js", "module.exports = { extends: ['./rules.js'] }", "rules.js"),
        ("eslint.config.js", 'import rules from "./lib/rules.js";', "lib/rules.js"),
        ("eslint.config.mjs", 'import "./lib/rules";', "lib/rules.mjs"),
        ("eslint.config.cjs", 'const rules = require("./lib")', "lib/index.js"),
        ("biome.json", '{"extends": ["./common.json"]}', "common.json"),
        (".rubocop.yml", "inherit_from: .base.yml\n", ".base.yml"),
    ],
)
def test_what_it_extends_is_reached(path: str, content: str, reached: str) -> None:
    assert reached in extended(path, content.encode())


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("ruff.toml", 'src = ["app"]\n[lint.per-file-ignores]\n"app/a.py" = ["F401"]'),
        ("pyproject.toml", '[project]\nreadme = "README.md"\nextend = "a.py"\n[tool.x]\na="b.py"'),
        ("ruff.toml", 'extend = "../outside.toml"'),
        ("ruff.toml", 'extend = "/etc/ruff.toml"'),
        ("ruff.toml", "extend = ["),
        ("eslint.config.js", 'import js from "@eslint/js"'),
    ],
)
def test_nothing_else_is_reached(path: str, content: str) -> None:
    assert not {each for each in extended(path, content.encode()) if each.endswith((".py", ".md"))}
    assert not any(each.startswith((".", "/", "@")) for each in extended(path, content.encode()))


CODE = ("py", "pyi", "pyw", "ipynb", "go", "rs", "rb", "c", "cc", "h", "java", "kt", "swift", "sh")


@pytest.mark.parametrize("suffix", CODE)
def test_no_name_of_a_linters_file_can_be_one_of_code(suffix: str) -> None:
    tried = [name.replace("*", f"x.{suffix}") for name in LINTER_FILES]

    assert not [name for name in tried if name.endswith(f".{suffix}")]


@pytest.mark.parametrize(
    "name",
    [
        *("tsconfig.json", "tsconfig.app.json", "tsconfig-base.json", "jsconfig.json"),
        *(".golangci.yml", ".bandit", "setup.cfg", "tox.ini", ".python-version", ".prettierrc"),
        *("phpstan.neon.dist", ".rubocop_todo.yml", "eslint-suppressions.json", ".bandit.yaml"),
    ],
)
def test_what_a_linter_reads_is_listed(name: str) -> None:
    assert any(fnmatchcase(name, each) for each in LINTER_FILES)


def test_every_linter_file_is_listed_once() -> None:
    assert len(set(LINTER_FILES)) == len(LINTER_FILES)


@pytest.mark.parametrize("unit", ["extends:", "extends: [", "\n - ", "import '", "'", " ", "[" * 9])
def test_no_configuration_takes_long(unit: str) -> None:
    content = (unit * (1_000_000 // len(unit))).encode()
    start = time.process_time()
    for path in ("eslint.config.js", "ruff.toml"):
        extended(path, content)
    assert time.process_time() - start < 5


@given(st.sampled_from(["ruff.toml", "a/.eslintrc.json", "eslint.config.js"]), st.binary())
def test_any_bytes_can_be_read(path: str, content: bytes) -> None:
    assert not any(each.startswith(("/", "../")) for each in extended(path, content))
