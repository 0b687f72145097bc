"""What runs or steers where no check of ours is, changed by an agent where no policy asks anybody:
the program that sees the tree says so, and a person decides.

It is first seen to land where such paths have no question of their own, and a workflow to run where
work is pushed to a branch.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.api.programs.merge import LandConfig
from bernstein.api.states import TaskState
from bernstein.core.approvals import policy
from bernstein.pods.programs import land
from tests.programs.hostile.payloads import PUSHED, STOLEN, WORKFLOW
from tests.programs.pods.agent_pod import write_whole
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.pusher.session import REF, Session, checked_out
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


CI = f"""\
#!{sys.executable}
import subprocess
import sys

import yaml

for line in sys.stdin:
    _, after, ref = line.split()
    read = ["git", "show", f"{{after}}:{WORKFLOW}"]
    if not ref.startswith(("refs/heads/", "refs/tags/")):
        continue
    flow = yaml.load(subprocess.check_output(read), yaml.BaseLoader)
    if flow["on"] == "push":
        for job in flow["jobs"].values():
            for step in job["steps"]:
                command = ["env", "DEPLOY_KEY=" + ref, "sh", "-c", step["run"]]
                subprocess.run(command, cwd=FOLDER)
"""
"""What a forge does after a push: workflows of branches and tags run, with what is CI's to know."""


def test_a_workflow_runs_where_work_is_pushed_to_a_branch_and_else_once_it_is_delivered(
    origin: Origin, tmp_path: Path
) -> None:
    hook = origin.path / "hooks" / "post-receive"
    hook.write_text(CI.replace("FOLDER", repr(str(tmp_path))))
    hook.chmod(0o755)
    base = origin.commit({"a.py": "a = 1\n"}, ref="refs/heads/main")
    volumes = checked_out(origin, tmp_path / "volumes")
    ran = tmp_path / STOLEN
    branch = "refs/heads/bernstein/work"

    def pushes(name: str, ref: str, account: str) -> str:
        session = Session(tmp_path / name, origin, volumes)
        session.start(ref=ref, remote=origin.remote(account))
        session.record({WORKFLOW: PUSHED}, final=True)
        return session.result().sha

    pushes("careless", branch, "deliver")
    assert ran.read_text().split() == [branch], "where work is a branch before anybody has seen it"
    origin.git("update-ref", "-d", branch)
    ran.unlink()

    sha = pushes("session", REF, "work")
    assert origin.git("show", f"{REF}:{WORKFLOW}") == PUSHED.strip()
    assert not ran.exists()

    tree, git_dir = origin.tip(f"{sha}^{{tree}}"), str(tmp_path / "land" / "repo.git")
    delivers = LandConfig(
        origin.remote("deliver"), REF, sha, tree, "refs/heads/main", expect=base, git_dir=git_dir
    )
    assert land.run(delivers).state == "Landed"
    assert ran.read_text().split() == ["refs/heads/main"]
