"""What is taken in place of tests that are as they were, or keeps them from being looked for."""

from __future__ import annotations

import time

import pytest

from tests.unit.checks.weakening.told import found

OTHERS = {
    "tests/test_a.py": "def test_a():\n    assert f()\n",
    "tests/helps.py": "def helps():\n    assert f()\n",
    "test_b.py": "def test_b():\n    assert f()\n",
    "conftest.py": "",
    "app/calc.py": "",
    "p/a_test.go": "func TestA(t *testing.T) {\n}\n",
}


@pytest.mark.parametrize(
    ("path", "of"),
    [
        ("test_b/__init__.py", "test_b.py"),
        ("tests/test_a/__init__.py", "tests/test_a.py"),
        ("tests/helps/__init__.cpython-313-x86_64-linux-gnu.so", "tests/helps.py"),
        ("conftest/__init__.py", "conftest.py"),
        ("test_b.abi3.so", "test_b.py"),
    ],
)
def test_what_python_takes_in_place_of_a_source_is_told(path: str, of: str) -> None:
    assert f"{path}: is taken in place of {of}" in found({}, {path: ""}, OTHERS)


def test_a_link_to_a_package_is_one() -> None:
    told = found({}, {"test_b": "evil"}, OTHERS, links={"test_b"})

    assert "test_b: is taken in place of test_b.py" in told


@pytest.mark.parametrize(
    "path", ["tests/__pycache__/test_a.cpython-313.pyc", "app/calc.pyc", "a/__init__.pyc"]
)
def test_bytecode_is_told_and_may_go(path: str) -> None:
    (told,) = found({}, {path: ""}, OTHERS)

    assert told.startswith(f"{path}: is bytecode, which Python may take in place of a source")
    assert found({path: ""}, {}, OTHERS) == []


@pytest.mark.parametrize(
    "path",
    [
        "app/calc/__init__.py",
        "tests/test_c/__init__.py",
        "tests/a.so",
        "test_b/data.py",
        "app/x.so",
    ],
)
def test_what_has_a_name_of_its_own_is_not(path: str) -> None:
    assert found({}, {path: ""}, OTHERS) == []


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/pyvenv.cfg", "tests/test_a.py"),
        ("tests/conda-meta/history", "tests/test_a.py"),
        ("tests/bin/activate", "tests/test_a.py"),
        ("p/go.mod", "p/a_test.go"),
    ],
)
def test_what_makes_a_runner_pass_over_a_folder_with_tests_is_told(path: str, test: str) -> None:
    said = f"{path}: keeps tests from being looked for, such as those in {test}"

    assert found({}, {path: ""}, OTHERS) == [said]
    assert found({path: ""}, {}, OTHERS) == []
    elsewhere = {p: text for p, text in OTHERS.items() if p != test}
    assert found({}, {path: ""}, elsewhere) == []
    (moved,) = found(
        {test: OTHERS[test]}, {f"new/{test}": OTHERS[test], f"new/{path}": ""}, elsewhere
    )
    assert moved.endswith(f"is in new/{test}, where no tests are looked for")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"pyvenv.cfg": ""}),
        ({}, {"go.mod": ""}),
        ({}, {"app/pyvenv.cfg": "", "tests/go.mod": "", "p/pyvenv.cfg": ""}),
        ({"p/go.mod": "go 1.22\n"}, {"p/go.mod": "go 1.23\n"}),
        ({}, {"tool/go.mod": "", "tool/b_test.go": "func TestB(t *testing.T) {\n}\n"}),
    ],
    ids=["root", "module", "beside", "there", "new"],
)
def test_what_no_test_that_was_there_is_below_is_not(
    before: dict[str, str], after: dict[str, str]
) -> None:
    assert found(before, after, OTHERS) == []


def test_however_many_there_are_they_are_looked_at_in_no_time() -> None:
    deep = "/".join("a" * 500)
    others = {f"{deep}/test_{n}.py": "" for n in range(500)}
    begun = time.process_time()

    found({}, {f"a{n}/pyvenv.cfg": "" for n in range(5000)}, others)

    assert time.process_time() - begun < 10
