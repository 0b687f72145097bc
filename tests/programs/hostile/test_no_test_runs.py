"""Work that has the gate `tests` pass though no test has run, tried with the real pytest.

Each payload is first seen to pass the same command without a report.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.checks.gate import Command
from bernstein.checks.gates.tests import GATE
from tests.programs.gate_runs import run, verdict, write
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

PLAIN = Command("python3 -m pytest -q -p no:cacheprovider")
FAILS = {"test_a.py": "def test_a():\n    assert False\n"}
NO_TESTS = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
PAYLOADS = {
    "an exit": {**FAILS, "conftest.py": "import os\n\nos._exit(0)\n"},
    "an exit of a plugin": {
        **FAILS,
        "conftest.py": "pytest_plugins = ['helper']\n",
        "helper.py": "import os\n\nos._exit(0)\n",
    },
    "an exit of a module that a test imports": {
        "test_a.py": "import helper\n\ndef test_a():\n    assert False\n",
        "helper.py": "import os\n\nos._exit(0)\n",
    },
    "none is found, and that is no failure": {"conftest.py": NO_TESTS},
    "what a test is called": {
        "conftest.py": f"print('<testsuite tests=\"1\">')\n{NO_TESTS}",
        "test_a.py": "",
    },
    "each test is passed over by what it tests": {
        "app.py": "import pytest\n\ndef answer():\n    pytest.skip('later')\n",
        "test_a.py": "import app\n\ndef test_a():\n    assert app.answer() == 42\n",
    },
    "a report in the tree": {
        **FAILS,
        "conftest.py": "import os\n\nos._exit(0)\n",
        "tests.xml": '<testsuite tests="1">',
    },
}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_an_end_before_any_test_has_run_does_not_pass(payload: str, tmp_path: Path) -> None:
    tree = Tree(PAYLOADS[payload])

    assert verdict(PLAIN, tree, tmp_path / "plain").verdict == "Passed"

    assert isinstance(GATE.runs, Command)
    assert verdict(GATE.runs, tree, tmp_path / "gate").verdict == "Failed"


def test_no_test_at_all_does_not_pass_either(tmp_path: Path) -> None:
    assert isinstance(GATE.runs, Command)

    tree = Tree({"a.py": "def test_a():\n    assert True\n"})
    assert verdict(GATE.runs, tree, tmp_path).verdict == "Failed"


def test_it_says_why(tmp_path: Path) -> None:
    assert isinstance(GATE.runs, Command)
    write(Tree(PAYLOADS["an exit"]), tmp_path / "workspace")

    ended = run(GATE.runs.command, tmp_path / "workspace")

    assert ended.stderr == "pytest has left no report of a test that it has run\n"


def test_a_report_of_before_is_none(tmp_path: Path) -> None:
    assert isinstance(GATE.runs, Command)
    write(Tree({"test_a.py": "def test_a():\n    assert True\n"}), tmp_path / "workspace")
    assert run(GATE.runs.command, tmp_path / "workspace").returncode == 0

    (tmp_path / "workspace" / "conftest.py").write_text("import os\n\nos._exit(0)\n")
    assert run(GATE.runs.command, tmp_path / "workspace").returncode == 1
