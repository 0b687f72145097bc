"""A failing test that passes because of what runs it, tried with the real pytest: each way is told
where tests are protected, and a person is asked where `HighRisk` is."""

from __future__ import annotations

import importlib.util
import marshal
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bernstein.api.pod import Check, InspectConfig
from bernstein.checks.weakening import counted_tests
from bernstein.pods.git import client, line_counts
from bernstein.pods.programs import inspect
from tests.demo import node_go
from tests.programs.hostile.payloads import CONFTEST
from tests.programs.pods.git_server import plain_env

pytestmark = pytest.mark.verification

HOOK = (
    "import pytest\n"
    "@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n"
)
FAILS = "def test_a():\n    assert 1 == 2\n"
BASE = {
    "tests/test_a.py": FAILS,
    "tests/conftest.py": "import helpers.plug\n",
    "conftest.py": "from helpers.plug import *\n",
    "helpers/plug.py": "",
}
PASSED = "import sys\nprint('1 passed')\nsys.exit(0)\n"
EASY = "def test_b():\n    pass\n"
"""Another test: where pytest finds none at all it does not pass."""
NO_RUN = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
PACKAGE = f"__file__ = __file__.replace('/__init__.py', '.py')\n{NO_RUN}"


def bytecode(text: str, source: str, flags: int) -> bytes:
    """What Python would keep of `text`, said to be made of `source`. Flags: 1, a hash of it that
    nobody compares; 3, one that is compared."""
    head = importlib.util.MAGIC_NUMBER + flags.to_bytes(4, "little")
    code = compile(text, "test_a.py", "exec")
    return head + importlib.util.source_hash(source.encode()) + marshal.dumps(code)


def cached(name: str) -> str:
    return f"tests/__pycache__/{name}.{sys.implementation.cache_tag}.pyc"


PAYLOADS: dict[str, dict[str, str | bytes]] = {
    "a hook": {"conftest.py": CONFTEST},
    "star": {"conftest.py": "from helpers.more import *\n", "helpers/more.py": HOOK},
    "plugins": {"conftest.py": "pytest_plugins = ['helpers.more']\n", "helpers/more.py": HOOK},
    "nothing is claimed": {"tests/test_a.py": "def test_a():\n    assert True\n"},
    "skipped": {
        "tests/test_a.py": "import pytest\n@pytest.mark.skip\ndef test_a():\n    assert 1 == 2\n"
    },
    "an early end": {"tests/test_a.py": "def test_a():\n    return\n    assert 1 == 2\n"},
    "commented out": {
        "tests/test_a.py": "# def test_a():\n#     assert 1 == 2\n",
        "tests/test_b.py": "def test_b():\n    assert True\n",
    },
    "what is brought in already": {"helpers/plug.py": HOOK},
    "replaced": {
        "conftest.py": "import _pytest.python\n"
        "_pytest.python.Function.runtest = lambda self: None\n"
    },
    "name put together": {
        "conftest.py": "globals()['pytest_' + 'pyfunc_call'] = lambda pyfuncitem: True\n"
        "import pytest\npytest.hookimpl(tryfirst=True)(globals()['pytest_' + 'pyfunc_call'])\n"
    },
    "pytest.py": {"pytest.py": PASSED},
    "a package": {"_pytest/__init__.py": PASSED},
    "a module of Python": {"shlex.py": "import sys\nsys.exit(0)\n"},
    "an entry point": {
        "x.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: x\nVersion: 1\n",
        "x.egg-info/entry_points.txt": "[pytest11]\nx = helpers.more\n",
        "helpers/more.py": HOOK,
    },
    "bound again": {"tests/test_a.py": f"{FAILS}def test_a():\n    pass\n"},
    "bound to something else": {"tests/test_a.py": f"{FAILS}test_a = lambda: None\n"},
    "raised": {
        "tests/test_a.py": "from _pytest.outcomes import Skipped\n"
        "def test_a():\n    raise Skipped('x')\n    assert 1 == 2\n"
    },
    "plugin of a new test": {
        "tests/test_b.py": "pytest_plugins = ['helpers.more']\ndef test_b():\n    assert 1\n",
        "helpers/more.py": HOOK,
    },
    "a package of tests": {
        "tests/__init__.py": "import _pytest.python\n"
        "_pytest.python.Function.runtest = lambda self: None\n"
    },
    "a package of the name of a test": {
        "tests/test_a/__init__.py": f"{PACKAGE}def test_a():\n    pass\n"
    },
    "a package beside a conftest": {"conftest/__init__.py": PACKAGE},
    "bytecode of a package of tests": {
        "tests/__init__.py": "",
        cached("__init__"): bytecode(NO_RUN, "", 1),
    },
    "bytecode of what is brought in": {
        "helpers/__init__.py": "",
        cached("plug").replace("tests", "helpers"): bytecode(HOOK, "", 1),
    },
    "an environment": {"tests/pyvenv.cfg": "", "t/test_b.py": EASY},
    "an environment of conda": {"tests/conda-meta/history": "", "t/test_b.py": EASY},
    "moved to what a build makes": {
        "tests/test_a.py": "--",
        "tests/build/test_a.py": FAILS,
        "t/test_b.py": EASY,
    },
    "moved and bound again": {
        "tests/test_a.py": "--",
        "tests/test_c.py": f"{FAILS}test_a = lambda: None\n",
    },
    "bound again below what is deep": {
        "tests/test_a.py": f"{FAILS}test_a = lambda: None\nx = 0\nif x == -1:\n    pass\n"
        + "".join(f"elif x == {n}:\n    pass\n" for n in range(1, 500))
    },
    "bound again in a match": {
        "tests/test_a.py": f"{FAILS}match 1:\n    case _:\n        def test_a(): pass\n"
    },
    "bound again within a call": {"tests/test_a.py": f"{FAILS}print(test_a := lambda: None)\n"},
    "bound again by with": {
        "tests/test_a.py": f"{FAILS}from contextlib import nullcontext\n"
        "with nullcontext(lambda: None) as test_a: pass\n"
    },
    "bound again by a star": {
        "tests/test_a.py": f"{FAILS}from helpers.easy import *\n",
        "helpers/easy.py": "def test_a():\n    pass\n",
    },
    "an end of line that is none to others": {
        "tests/test_a.py": "def test_a():\n    # x\r    return\n    assert 1 == 2\n"
    },
    "another encoding": {
        "tests/test_a.py": "# coding: utf-7\ndef test_a():\n    # x+AAo-    return\n"
        "    assert 1 +AD0APQ- 2\n"
    },
    "a link to an easy test": {
        f"tests/{FAILS}": "def test_a(): pass\n",
        "tests/test_a.py": f"->{FAILS}",
    },
    "a conftest by a link": {"tests/1": HOOK, "tests/conftest.py": "->1"},
    "settings by a link": {
        "#x": "[pytest]\naddopts = -p helpers.more\n",
        "helpers/more.py": HOOK,
        "pytest.ini": "->#x",
    },
}


class Work:
    """A repository with a failing test, and what an agent makes of it."""

    def __init__(self, folder: Path, base: Mapping[str, str] = BASE) -> None:
        self.folder = folder / "theirs"
        self.folder.mkdir()
        self.git("init", "--quiet", "-b", "main")
        self.base = self.commit(base)
        self.ours = client.init_bare(folder / "ours", [self.folder / ".git"])

    def git(self, *args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.folder, env=plain_env(), capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, files: Mapping[str, str | bytes]) -> str:
        """`->`: a link to what follows; `--`: there is no such file any more."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            elif content.startswith("->"):
                path.symlink_to(content.removeprefix("->"))
            elif content != "--":
                path.write_text(content, newline="")
            self.git("add", "-f", "--all", "--", name)
        return self.git("commit-tree", "-m", "x", self.git("write-tree"))

    def passes(self, *command: str, env: Mapping[str, str] | None = None) -> bool:
        """Whether the command says so; without one pytest, run as the gate `tests` runs it."""
        pytest_ = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
        # Else bytecode is looked for elsewhere than beside its source, as it is in a pod.
        usual = {k: v for k, v in os.environ.items() if k != "PYTHONPYCACHEPREFIX"}
        ended = subprocess.run(
            command or pytest_, cwd=self.folder, env=env or usual, capture_output=True, check=False
        )
        return ended.returncode == 0

    def verdict(self, head: str, base: str | None = None) -> str:
        """`base`: what has landed by then; None: the repository as it is at first."""
        git_dir = str(self.ours.git_dir)
        check = Check("tests", "protect-tests")
        config = InspectConfig(git_dir=git_dir, sha=head, base=base or self.base, checks=(check,))
        (verdict,) = inspect.run(config).verdicts
        return f"{verdict.verdict} {verdict.reason}".strip()

    def asked_about(self, head: str) -> str:
        return line_counts.look(self.ours, self.base, head).weakened


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_what_makes_a_failing_test_pass_is_told(
    work: Work, payload: Mapping[str, str | bytes]
) -> None:
    assert not work.passes()
    head = work.commit(payload)
    assert work.passes(), "the payload does not fire"

    assert work.verdict(head) == "Failed TestsWeakened"
    assert work.asked_about(head)


GO_FAILS = """package p

import "testing"

func TestA(t *testing.T) {
	if 1 != 2 {
		t.Fatal("no")
	}
}
"""
GO = {
    "go.mod": "module x\n\ngo 1.22\n",
    "p/p.go": "package p\n",
    "p/a_test.go": GO_FAILS,
    "q/b_test.go": GO_FAILS.replace("1 != 2", "1 != 1").replace("package p", "package q"),
}
MAIN = 'package p\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {{ {} }}\n'
GO_PAYLOADS: dict[str, dict[str, str | bytes]] = {
    "a main that runs nothing": {"p/main_test.go": MAIN.format("_ = os.Args")},
    "a main that always ends well": {"p/main_test.go": MAIN.format("m.Run(); os.Exit(0)")},
    "an end before all": {
        "p/b_test.go": 'package p\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n'
    },
    "a constraint": {"p/a_test.go": f"//go:build ignore\n\n{GO_FAILS}"},
    "an old constraint": {"p/a_test.go": f"// +build ignore\n\n{GO_FAILS}"},
    "another system": {"p/a_test.go": "--", "p/a_windows_test.go": GO_FAILS},
    "a name that is passed over": {"p/a_test.go": "--", "p/_a_test.go": GO_FAILS},
    "data": {"p/a_test.go": "--", "p/testdata/a_test.go": GO_FAILS},
    "no test by its name": {"p/a_test.go": "--", "p/a_help.go": GO_FAILS},
    "another module": {"p/go.mod": "module y\n"},
}
NODE_FAILS = "const test = require('node:test')\ntest('a', () => { throw new Error('no') })\n"
NODE = {"a.test.js": NODE_FAILS, "package.json": '{"scripts": {"test": "node --test"}}'}
NODE_PAYLOADS: dict[str, dict[str, str | bytes]] = {
    "no test by its name": {"a.test.js": "--", "a.js": NODE_FAILS},
    "an option": {"a.test.js": NODE_FAILS.replace("'a', ", "'a', { skip: true }, ")},
    "skipped": {"a.test.js": NODE_FAILS.replace("test('a'", "test.skip('a'")},
    "a script": {"package.json": '{"scripts": {"test": "true"}}'},
    "node_modules": {"a.test.js": "--", "node_modules/a.test.js": NODE_FAILS},
}


@pytest.mark.parametrize("payload", GO_PAYLOADS.values(), ids=GO_PAYLOADS)
def test_so_it_is_in_go(tmp_path: Path, payload: Mapping[str, str | bytes]) -> None:
    _is_told(Work(tmp_path, GO), payload, "go", "test", "./...")


@pytest.mark.parametrize("payload", NODE_PAYLOADS.values(), ids=NODE_PAYLOADS)
def test_so_it_is_in_javascript(tmp_path: Path, payload: Mapping[str, str | bytes]) -> None:
    _is_told(Work(tmp_path, NODE), payload, "node", "--run", "test")


def _is_told(work: Work, payload: Mapping[str, str | bytes], *command: str) -> None:
    env = {**plain_env(), **node_go.environment()}
    assert not work.passes(*command, env=env)
    head = work.commit(payload)
    assert work.passes(*command, env=env), "the payload does not fire"

    assert work.verdict(head) == "Failed TestsWeakened"
    assert work.asked_about(head)


def test_bytecode_of_a_test_is_told_whether_this_pytest_takes_it_or_not(work: Work) -> None:
    """Which it takes, and what it compares, differs from one release to the next."""
    tag = sys.implementation.cache_tag
    names = (f"test_a.{tag}.pyc", f"test_a.{tag}-pytest-{pytest.__version__}.pyc")
    taken = bytecode(EASY, FAILS, 3)
    head = work.commit({f"tests/__pycache__/{name}": taken for name in names})

    assert work.verdict(head) == "Failed TestsWeakened"
    assert work.asked_about(head)


def test_pytest_passes_over_folders_of_these_names_by_itself(work: Work) -> None:
    folders = ("build", "dist", "node_modules", "venv", ".x", "a.egg", "_darcs", "CVS", "{arch}")
    moved = {f"{folder}/test_{n}.py": FAILS for n, folder in enumerate((*folders, "__pycache__"))}
    work.commit({"tests/test_a.py": EASY, **moved})

    assert work.passes()
    assert not any(map(counted_tests.is_collected, moved))


def test_a_new_fixture_is_nobodys_to_judge(work: Work) -> None:
    fixture = "import pytest\n@pytest.fixture\ndef two():\n    return 2\n"
    head = work.commit({"conftest.py": BASE["conftest.py"] + fixture, "app.py": "A = 1\n"})

    assert work.verdict(head) == "Passed"
    assert work.asked_about(head) == ""


def test_a_conftest_that_has_landed_runs_with_the_tests_of_later_work_and_is_told_no_more(
    work: Work,
) -> None:
    """By design: it was told of when it landed."""
    landed = work.commit({"conftest.py": CONFTEST})
    head = work.commit({"test_later.py": "def test_later() -> None:\n    assert False\n"})

    assert work.passes()
    assert work.verdict(landed) == "Failed TestsWeakened"
    assert work.verdict(head, landed) == "Passed"
