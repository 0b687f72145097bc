"""A format Job without a cluster: the programs one after the other, on volumes that are folders."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bernstein.api.pod import CheckoutConfig, TreeLimits
from bernstein.api.programs.commit import CommitText
from bernstein.api.programs.formatting import CHANGED, CollectConfig, FormatConfig, FormatResult
from bernstein.checks.gate import Formats
from bernstein.checks.gates.changing.auto_format import GATE
from bernstein.pods.programs import checkout, collect
from bernstein.pods.programs import format as pushes
from tests.demo import toolchain
from tests.programs.pods.conftest import Origin

assert isinstance(GATE.runs, Formats)
COMMAND, PINNED = GATE.runs.command, GATE.runs.pinned
REF, TO = "refs/bernstein/1/work/s1", "refs/bernstein/1/work/s1-formatted"
UGLY, NICE = "x = {  'a':1 }\n", 'x = {"a": 1}\n'
Content = bytes | str | None


@dataclass
class Pod:
    """`base` and `work` are commits of the origin; the work is at REF."""

    origin: Origin
    folder: Path
    base: str
    work: str
    pinned: str
    command: str = COMMAND
    limits: TreeLimits = field(default_factory=TreeLimits)
    only_new: tuple[str, ...] = ()
    before_format: Callable[[], None] = lambda: None

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def run(self) -> FormatResult:
        self.checkout()
        self.formatter()
        self.collect()
        self.before_format()
        return self.format()

    def checkout(self) -> None:
        checkout.run(
            CheckoutConfig(
                remote=self.origin.remote(),
                ref=REF,
                git_dir=f"{self.folder}/base/repo.git",
                worktree=str(self.workspace),
                sha=self.work,
                pinned_sha=self.pinned,
                pinned_names=PINNED,
                changed_since=self.base,
                changed_to=f"{self.folder}/changed",
                only_new=self.only_new,
            )
        )

    def formatter(self) -> None:
        """As its container does: whatever the command ends with is written down."""
        for name in ("printed", "home", "tmp"):
            (self.folder / name).mkdir(exist_ok=True)
        printed = self.folder / "printed"
        env = {
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "CHANGED": str(self.folder / "changed" / CHANGED),
        }
        command = f"({self.command}) >{printed}/output 2>&1; echo $? >{printed}/code"
        subprocess.run(
            ["sh", "-c", command],
            cwd=self.workspace,
            env=toolchain.environment() | env,
            check=True,
        )

    def collect(self) -> None:
        (self.folder / "collected").mkdir(exist_ok=True)
        collect.run(
            CollectConfig(
                worktree=str(self.workspace),
                base_git_dir=f"{self.folder}/base/repo.git",
                git_dir=f"{self.folder}/collected/repo.git",
                changed=f"{self.folder}/changed",
                printed=f"{self.folder}/printed",
                packs=f"{self.folder}/collected/packs",
                limits=self.limits,
            )
        )

    def format(self) -> FormatResult:
        return pushes.run(
            FormatConfig(
                remote=self.origin.remote("work"),
                base=self.base,
                sha=self.work,
                to=TO,
                commit=CommitText("Do work\n\nBernstein-Task: a/b\n"),
                protected=(".github/",),
                base_git_dir=f"{self.folder}/base/repo.git",
                git_dir=f"{self.folder}/base/format.git",
                packs=f"{self.folder}/collected/packs",
            )
        )


def pod(origin: Origin, folder: Path, before: dict[str, Content], work: dict[str, Content]) -> Pod:
    """The work of an agent, on a base that is the pinned commit, too."""
    first = origin.commit({"keep": "1"})
    base = origin.commit(before, first, ref="refs/heads/main")
    done = origin.commit(work, base, ref=REF)
    return Pod(origin, folder, base, done, base)


def content(origin: Origin, commit: str, path: str) -> str:
    return origin.git("show", f"{commit}:{path}") + "\n"
