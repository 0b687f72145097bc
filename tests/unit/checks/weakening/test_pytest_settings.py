"""What a change makes of pytest's configuration."""

from __future__ import annotations

import pytest

from bernstein.checks.weakening import test_support
from bernstein.checks.weakening.weakened import is_looked_at, support_of
from tests.unit.checks.weakening.told import found

TOML = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = "-q"\n[tool.ruff]\nx = 1\n'


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        ("pyproject.toml", TOML, TOML.replace("x = 1", "x = 2"), None),
        ("pyproject.toml", TOML, TOML.replace('["tests"]', '"tests"'), None),
        ("pyproject.toml", TOML, TOML.replace("-q", "-q --ignore tests/a"), "addopts"),
        ("pyproject.toml", TOML, TOML.replace('"tests"', '"none"'), "testpaths"),
        ("pyproject.toml", TOML, "[tool.ruff]\n", "addopts, testpaths"),
        (
            "pyproject.toml",
            "[project]\n",
            "[project]\n[tool.pytest]\npython_files = []\n",
            "python_",
        ),
        ("pyproject.toml", TOML, "[[[", "cannot be read"),
        ("pyproject.toml", "[[[", "[[[[", None),
        ("pyproject.toml", "[[[", "[project]", None),
        ("pyproject.toml", TOML, "a = " + "[" * 100_000, "cannot be read"),
        ("setup.cfg", "[flake8]\na = 1\n", "[flake8]\na = 2\n", None),
        ("setup.cfg", "", "[tool:pytest]\npython_functions = check_*\n", "python_functions"),
        ("pytest.ini", None, "[pytest]\naddopts = -k nothing\n", "addopts"),
        ("pytest.toml", None, '[pytest]\naddopts = ["--deselect=a.py"]\n', "addopts"),
        (".pytest.toml", None, '[pytest]\naddopts = ["--deselect=a.py"]\n', "addopts"),
        ("pytest.toml", None, '[pytest]\nminversion = "9"\n', None),
        ("pytest.ini", None, "[pytest]\nminversion = 8\n", None),
        ("pytest.ini", "[pytest]\naddopts=-q\n", None, "addopts"),
        ("pytest.ini", None, "[pytest]\npythonpath = fakes\n", "pythonpath"),
        ("pytest.ini", "[pytest]\nasyncio_mode = auto\n", "[pytest]\n", "asyncio_mode"),
        ("web/tox.ini", None, "[pytest]\nnorecursedirs = tests\n", "norecursedirs"),
    ],
)
def test_the_configuration_of_pytest_keeps_looking_for_the_same_tests(
    path: str, old: str | None, new: str | None, told: str | None
) -> None:
    assert is_looked_at(path)

    said = found({path: old} if old is not None else {}, {path: new} if new is not None else {})

    assert len(said) == (0 if told is None else 1)
    assert (told or "") in "".join(said)


PLACE = "takes the place of other settings of pytest"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        *((name, "") for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")),
        ("tests/pytest.ini", ""),
        ("tests/unit/tox.ini", "[pytest]\n"),
        ("tests/setup.cfg", "[tool:pytest]\n"),
        ("tests/pyproject.toml", "[tool.pytest.ini_options]\n"),
    ],
)
def test_a_new_configuration_that_says_nothing_takes_the_place_of_another(
    path: str, text: str
) -> None:
    assert found({}, {path: text}, {"pyproject.toml": TOML}) == [f"{path}: {PLACE}"]
    assert found({"pyproject.toml": TOML}, {"pyproject.toml": TOML, path: text}) == [
        f"{path}: {PLACE}"
    ]


@pytest.mark.parametrize(
    ("path", "text", "other", "configured"),
    [
        ("pytest.ini", "", "pyproject.toml", "[tool.ruff]\n"),
        ("pytest.ini", "", "web/pytest.ini", "[pytest]\naddopts = -q\n"),
        ("lib/pytest.ini", "", "web/pyproject.toml", TOML),
        ("tests/tox.ini", "[tox]\n", "pyproject.toml", TOML),
        ("tests/pyproject.toml", "[tool.ruff]\n", "pytest.ini", "[pytest]\n"),
    ],
)
def test_one_that_takes_nobodys_place_is_not_told(
    path: str, text: str, other: str, configured: str
) -> None:
    assert found({}, {path: text}, {other: configured}) == []


def test_one_that_was_there_may_change_and_go() -> None:
    others = {"pyproject.toml": TOML}

    assert found({"pytest.ini": ""}, {"pytest.ini": "# more\n"}, others) == []
    assert found({"pytest.ini": ""}, {}, others) == []


def test_of_many_configurations_those_that_nobody_reads_are_taken_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(test_support, "MOST_FILES", 1)
    others = {"a/pyproject.toml": b"", "a/tox.ini": b"", "pyproject.toml": b""}

    support = support_of({"a/pytest.ini"}, others, others.get)

    assert list(support.configured) == ["a/tox.ini", "pyproject.toml"]
