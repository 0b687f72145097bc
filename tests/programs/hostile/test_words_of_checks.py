"""What comes into the words of a check that cannot judge, and where it is shown.

Work decides what pytest, a class of the Project's gates and a provider say of it: all of them show
what they have read. Each leak is first seen where nothing is quoted.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.task import TaskStatus
from bernstein.checks.gate import Writes
from bernstein.checks.gates.writing.integration_test_gen import GATE
from bernstein.core import sanitise
from bernstein.core.tasks.decide import decide
from bernstein.core.verification import executed
from tests.programs.hostile.test_agents_words import PROSE, SECRET
from tests.programs.llm.servers import Scripted
from tests.programs.plugins.gate import FILE, Gates, of
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.test_judge import Judged, committed, review
from tests.unit.core import objects
from tests.unit.core.verification import asked_models as models
from tests.unit.core.verification import test_plugins as plugins
from tests.unit.core.verification.models import test_written as writing

assert isinstance(GATE.runs, Writes)
COMMAND = GATE.runs.command
BREAKS = f"""
print({PROSE!r})
raise RuntimeError({SECRET!r})
"""
Story = Callable[[], TaskStatus]


def expect_quoted(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the work says is for those alone who read the verdict."""
    with monkeypatch.context() as taken:
        for module in (executed, sanitise):
            taken.setattr(module, "quoting", lambda ours, theirs, _: f"{ours}\n{theirs}")
        assert PROSE in told(story()), "where it is no quote it is in conditions"

    found = story()
    assert PROSE in str(found.verification), "it is said, and kept where it can be read"
    assert "status.verification has its words" in told(found)
    assert PROSE not in told(found)
    assert SECRET not in told(found)


def told(status: TaskStatus) -> str:
    return str((status.conditions, status.waiting))


def test_what_the_work_prints_under_a_models_test_is_in_no_condition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.py").write_text(BREAKS)
    test = tmp_path / "test_written.py"
    test.write_text(writing.TEST)
    env = {**os.environ, "TEST": str(test), "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        ["sh", "-c", f"({COMMAND}) 2>&1"], cwd=tmp_path, env=env, capture_output=True, check=False
    )
    printed = ended.stdout[-2048:].decode()
    assert ended.returncode == 2
    assert PROSE in printed
    assert SECRET in printed

    def story() -> TaskStatus:
        found: TaskStatus = writing.look(
            writing.task(), writing.wrote(), writing.ran(2, printed=printed)
        ).status
        return found

    expect_quoted(story, monkeypatch)


def test_what_a_class_raises_of_the_work_is_in_no_condition(
    gates: Gates, monkeypatch: pytest.MonkeyPatch
) -> None:
    raises = of("raise ValueError((run_dir / 'a').read_text())")
    ended = gates.judge({"a": f"{PROSE} {SECRET}"}, {FILE: raises})
    assert ended.verdict is not None, ended.output
    assert PROSE in ended.verdict.excerpt
    assert SECRET in ended.verdict.excerpt
    said = replace(ended.verdict, name=plugins.NAME)

    def story() -> TaskStatus:
        return plugins.look(objects.done(), plugins.of(objects.ended("check", said=said))).status

    expect_quoted(story, monkeypatch)


def test_what_a_provider_repeats_of_the_work_is_in_no_condition(
    origin: Origin, scripted: Scripted, run: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeats = {"status": 400, "times": -1, "message": f"not allowed: {PROSE} {SECRET}"}
    scripted.plays({"[review]": "PASS"}, errors=[repeats])
    base = committed(origin, app_py=f"{PROSE}\n")

    def story() -> TaskStatus:
        asked, said = models.task(models.REVIEW), run(base, review())
        known: dict[str, Any] = {"jobs": (models.judged(said),), "project": models.project()}
        return decide(objects.snapshot(asked, **known), objects.NOW).status

    expect_quoted(story, monkeypatch)
