"""What decides how tests are run may change only where it does nothing by itself."""

from __future__ import annotations

import time

import pytest

from bernstein.checks.weakening.test_support import MOST_FILES, brought_in, is_harmless, shadows
from bernstein.checks.weakening.weakened import support_of, weakened
from tests.unit.checks.weakening.told import found

CONFTEST = """\
import pytest

@pytest.fixture
def one(request):
    return 1
"""

HARMLESS = {
    "same": "",
    "comment": "# more\n",
    "text": '"more"\n',
    "import": "import json\nfrom os.path import join\n",
    "fixture": "@pytest.fixture(scope='session', params=[1, 2])\ndef two(one):\n    yield one\n",
    "helper": "def two(a: int | None, b='x', *c: list[str]) -> str:\n    return b\n",
    "async": "@pytest.fixture()\nasync def two():\n    return 2\n",
}


@pytest.mark.parametrize("more", HARMLESS.values(), ids=HARMLESS)
def test_what_does_nothing_by_itself_is_harmless(more: str) -> None:
    assert is_harmless(CONFTEST.encode(), (CONFTEST + more).encode())
    assert is_harmless(b"", (CONFTEST + more).encode())


HARMFUL = {
    "star": "from helpers.plug import *\n",
    "hook by import": "from helpers.plug import hook as pytest_runtest_call\n",
    "fixture by import": "from helpers.plug import always\n",
    "relative import": "from .plug import always\n",
    "import": "import helpers.plug\n",
    "star of Python's": "from json import *\n",
    "other name": "import json as pytest\n",
    "name of Python's": "from os import path as __getattr__\n",
    "plugins": "pytest_plugins = ['helpers.plug']\n",
    "replaced": "import _pytest.runner\n_pytest.runner.runtestprotocol = lambda *a, **k: True\n",
    "name put together": "globals()['pytest_' + 'runtest_call'] = lambda item: None\n",
    "hook": "def pytest_runtest_call(item): ...\n",
    "dir": "def __dir__():\n    return ['pytest_runtest_call']\n",
    "lookup": "def __getattr__(name): ...\n",
    "class": "class A:\n    exit()\n",
    "autouse": "@pytest.fixture(autouse=True)\ndef two(): ...\n",
    "autouse by place": "@pytest.fixture('function', None, True)\ndef two(): ...\n",
    "options": "@pytest.fixture(**{'autouse': True})\ndef two(): ...\n",
    "name": "@pytest.fixture(name='tmp_path')\ndef two(): ...\n",
    "built in": "@pytest.fixture\ndef tmp_path(): ...\n",
    "again": "@pytest.fixture\ndef one(): ...\n",
    "of an argument": "def request(): ...\n",
    "other decorator": "@one\ndef two(): ...\n",
    "default": "def two(a=exit()): ...\n",
    "annotation": "def two() -> exit(): ...\n",
    "params": "@pytest.fixture(params=exit())\ndef two(): ...\n",
    "if": "if True:\n    import json\n",
    "no Python": "def two(:\n",
    "too large": "#" * 300_000,
}


@pytest.mark.parametrize("more", HARMFUL.values(), ids=HARMFUL)
def test_what_is_not_known_to_do_nothing_is_not(more: str) -> None:
    assert not is_harmless(CONFTEST.encode(), (CONFTEST + more).encode())


def test_what_was_there_stays_as_it_was_and_in_order() -> None:
    assert not is_harmless(CONFTEST.encode(), CONFTEST.replace("1", "2").encode())
    assert not is_harmless(CONFTEST.encode(), b"import pytest\n")
    assert not is_harmless(b"a = 1\na = 2\n", b"a = 2\na = 1\n")


@pytest.mark.parametrize(
    "path",
    [
        *("pytest.py", "_pytest/__init__.py", "lib/pytest/__init__.py", "pytest", "src/pluggy.py"),
        *("sitecustomize.py", "a/usercustomize.py", "x.pth", "x.egg-info/entry_points.txt"),
        *("shlex.py", "src/ast.py", "json/__init__.py", "tests/shlex.py", "pytest.cpython-313.so"),
    ],
)
def test_what_python_may_take_for_a_tool_of_tests_is_known_by_its_name(path: str) -> None:
    assert shadows(path)


@pytest.mark.parametrize(
    "path",
    [
        *("app/types.py", "app/logging.py", "docs/pytest.md", "tests/unittest/test_a.py", "a.py"),
        *("third/doctest.h", "coverage/index.html", "email/a.txt", "src/app/json/__init__.py"),
        *("tests/__init__.py", "test/__init__.py", "site", "tests/test_a.py", "pytest.ini"),
    ],
)
def test_other_files_are_taken_for_none(path: str) -> None:
    assert not shadows(path)


def brought(tree: dict[str, str]) -> set[str] | None:
    files = brought_in(tree, {path: text.encode() for path, text in tree.items()}.get)
    return None if files is None else {*files}


def test_what_a_conftest_brings_in_is_known_from_one_file_to_the_next() -> None:
    tree = {
        "tests/conftest.py": "from app import run\nfrom tests import helps\nfrom lib.a import *",
        "tests/helps.py": "pytest_plugins = 'plugs.b'",
        "lib/a.py": "from lib.c import *",
        "lib/c.py": "import lib.d",
        "lib/d.py": "",
        "plugs/b/__init__.py": "",
        "src/app/__init__.py": "",
        "tests/other.py": "",
    }

    assert brought(tree) == {
        *("tests/conftest.py", "tests/helps.py", "lib/a.py", "lib/c.py", "plugs/b/__init__.py")
    }


def test_too_many_files_that_are_brought_in_are_told() -> None:
    many = {f"a{n}/conftest.py": "" for n in range(MOST_FILES + 1)}
    assert brought(many) is None

    support = support_of((), many, lambda _: b"")

    assert [each.path for each in weakened({}, {}, support)] == ["conftest.py"]


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "-" * 190_000, "a." * 90_000, "[" * 199 + "]" * 199, "a=" * 90_000 + "1"],
    ids=["open", "signs", "dots", "brackets", "names"],
)
def test_however_a_file_is_made_up_it_is_read_in_no_time(text: str) -> None:
    begun = time.process_time()

    is_harmless(text.encode(), (text + "\nimport json\n").encode())
    brought({"conftest.py": text})

    assert time.process_time() - begun < 10


CALC = "import pytest\n\n@pytest.fixture{0}\ndef calc():\n    return 1\n"
ROOT = {"conftest.py": CALC.format("")}


@pytest.mark.parametrize("path", ["tests/conftest.py", "tests/sub/conftest.py"])
def test_a_fixture_that_takes_the_place_of_one_further_up_is_told(path: str) -> None:
    told = found({}, {path: CALC.format("(params=[])")}, ROOT)

    assert told == [f"{path}: changes how tests are run, in a way that only a person can judge"]


@pytest.mark.parametrize(
    ("new", "others"),
    [
        ({"a/conftest.py": CALC.format("")}, {"b/conftest.py": CALC.format("")}),
        ({"conftest.py": CALC.format("")}, {"b/conftest.py": CALC.format("")}),
        ({"tests/conftest.py": CALC.format("").replace("calc", "other")}, ROOT),
    ],
    ids=["beside", "above", "other name"],
)
def test_one_that_takes_nobodys_place_is_not(new: dict[str, str], others: dict[str, str]) -> None:
    assert found({}, new, others) == []


def test_a_plugins_fixture_is_not_replaced_either() -> None:
    others = {"tests/conftest.py": "from tests.sup import *\n", "tests/sup.py": CALC.format("")}

    (told,) = found({}, {"tests/sub/conftest.py": CALC.format("")}, others)

    assert told.startswith("tests/sub/conftest.py: changes how tests are run")


def test_a_package_of_tests_does_nothing_when_it_is_imported() -> None:
    others = {"tests/test_a.py": "def test_a():\n    assert f()\n"}
    hook = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"

    assert found({}, {"tests/__init__.py": ""}, others) == []
    (told,) = found({}, {"tests/__init__.py": hook}, others)
    assert told.startswith("tests/__init__.py: changes how tests are run")
    assert found({}, {"app/__init__.py": hook}, others) == []


def test_a_plugin_of_a_new_test_is_told_as_one_for_all() -> None:
    new = {"tests/test_new.py": "pytest_plugins = ['evil']\n\ndef test_new():\n    assert f()\n"}

    assert found({}, new) == ["tests/test_new.py: brings in a plugin, which holds for all tests"]


@pytest.mark.parametrize("path", ["tests/test_a.py", "tests/conftest.py", "pytest.ini"])
def test_a_link_is_told_whatever_its_target_reads_like(path: str) -> None:
    text = {"tests/test_a.py": "def test_a():\n    assert f()\n", "tests/conftest.py": "1"}
    before = {path: text[path]} if path == "tests/test_a.py" else {}

    told = found(before, {path: text.get(path, "#x")}, links={path})

    assert told == [f"{path}: is a symbolic link: what tests are run there is not known"]
