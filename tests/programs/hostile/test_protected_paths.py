"""What runs or steers where no check of ours is, changed by an agent where no policy asks anybody:
the program that sees the tree says so, and a person decides.

It is first seen to land where such paths have no question of their own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.api.states import TaskState
from bernstein.core.approvals import policy
from tests.programs.pods.agent_pod import write_whole
from tests.programs.pods.programs.recorder.run import Run
from tests.unit.core.objects import project
from tests.unit.core.tasks.test_pending import done, look

pytestmark = pytest.mark.verification

PATHS = (
    ".github/workflows/ci.yml",
    ".GitHub/Workflows/ci.yml",
    ".claude/settings.json",
    "web/.mcp.json",
    ".bernstein/gates/x.py",
)


@pytest.mark.parametrize("path", PATHS)
def test_a_change_of_a_protected_path_lands_unseen_only_where_nobody_asks(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Run(tmp_path / "pod")
    recorder.start(protected=PROTECTED_PATHS)
    write_whole(recorder.volumes.worktree, {path: "x\n", "b.py": "b = 1\n"})
    changed = recorder.end().changed
    work = done(protected=changed.protected, protected_by=changed.protected_by)

    with monkeypatch.context() as taken:
        taken.setattr(policy, "_of_protected_paths", lambda *_: ())
        found = look(work, of=project()).status
        assert found.state is TaskState.DONE, "it goes on to land, and nobody has seen it"

    found = look(work, of=project()).status
    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval is not None
    assert found.approval.because == (f"it changes a protected path: '{path}'",)
