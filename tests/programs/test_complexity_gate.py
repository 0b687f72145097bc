"""The gate `complexity_check`, with the real radon, on files that it cannot read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.checks import gates
from bernstein.checks.gate import Command
from tests.programs.gate_runs import function, run, verdict, write
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

RUNS = gates.of("complexity_check").runs
assert isinstance(RUNS, Command)
COMMAND: Command = RUNS
BLINDS: dict[str, Callable[[str], str]] = {
    "a byte order mark": lambda text: f"\ufeff{text}",
    "a very long expression": lambda text: f"{text}\nX = {'+'.join(['1'] * 50_000)}\n",
}
"""What Python runs and radon cannot read."""


@pytest.mark.parametrize("path", ["a.py", "p/new.py"])
@pytest.mark.parametrize("how", BLINDS)
def test_nothing_that_the_tool_cannot_read_hides_a_function_from_the_measure(
    how: str, path: str, tmp_path: Path
) -> None:
    others = {"b.py": function(2)}
    work, before = {path: BLINDS[how](function(20))}, {"a.py": function(10)}
    write(Tree(work), tmp_path / "plain")
    told = run("radon cc -s .", tmp_path / "plain").stdout
    assert "f - " not in told, "the payload does not work"

    found = verdict(COMMAND, Tree(work | others, before | others), tmp_path)

    assert (found.verdict, found.reason) == ("Failed", "WorseThanBase")
    assert found.excerpt.startswith(f"1 worse:\n{path} is not measured: ")


def test_a_file_that_the_tool_could_not_read_before_may_stay_and_move(tmp_path: Path) -> None:
    unread = BLINDS["a byte order mark"](function(10))
    before = {"a.py": unread, "b.py": unread.replace("f(", "g("), "c.py": function(2)}
    work = {"a.py": f"{unread}\n# More.\n", "p/b.py": before["b.py"], "c.py": function(2)}

    found = verdict(COMMAND, Tree(work, before), tmp_path)

    assert (found.verdict, found.excerpt) == ("Passed", "was 2, is 2")
