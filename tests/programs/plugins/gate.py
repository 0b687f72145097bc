"""A gate in Python run as its Job runs it: checked out from real repositories, asked by `sh -c`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bernstein.api.encoding import load
from bernstein.api.pod import CheckoutConfig
from bernstein.api.programs.plugin import PluginConfig, PluginVerdict
from bernstein.checks.gate import PLUGIN_TOOL, asking_plugin
from bernstein.pods.programs import checkout
from tests.demo import toolchain
from tests.programs.pods.conftest import Origin

Files = dict[str, bytes | str | None]

NO_FOO = """\
from pathlib import Path
from bernstein_gates import GatePlugin
from bernstein_gates import GateResult

class NoFooGate(GatePlugin):
    @property
    def name(self) -> str:
        return "no_foo"

    @property
    def required(self) -> bool:
        return True

    @property
    def condition(self) -> str:
        return "any_changed"

    def run(
        self,
        changed_files: list[str],
        run_dir: Path,
        task_title: str,
        task_description: str,
    ) -> GateResult:
        offending = [f for f in changed_files if "foo" in Path(f).read_text()]
        passed = not offending
        return GateResult(
            name=self.name,
            status="pass" if passed else "fail",
            required=self.required,
            blocked=not passed,
            cached=False,
            duration_ms=0,
            details=f"Found 'foo' in {offending}" if offending else "Clean",
        )
"""
"""A gate as those are written that are to go on working."""
FILE = ".bernstein/gates/no_foo.py"


def of(
    body: str, *, name: str = "no_foo", required: str = "True", condition: str = "always"
) -> str:
    """A file with one gate, whose `run` has this body."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return f"""\
from bernstein_gates import GatePlugin, GateResult


class Gate(GatePlugin):
    name = {name!r}
    required = {required}
    condition = {condition!r}

    def run(self, changed_files, run_dir, task_title, task_description):
{lines}
"""


def says(status: str = "pass", details: str = '""', **more: str) -> str:
    """A body that returns a result of this status; `details`: an expression."""
    fields = {"blocked": str(status == "fail"), **more}
    given = ", ".join(f"{key}={value}" for key, value in fields.items())
    return (
        f"return GateResult(name=self.name, status={status!r}, required=self.required, "
        f"{given}, details={details})"
    )


@dataclass
class Run:
    """What became of a gate: its verdict, if any, and how its container would have ended."""

    verdict: PluginVerdict | None
    code: int
    output: str


@dataclass
class Gates:
    """Runs gates of a repository, in folders of one test."""

    origin: Origin
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    """In place of variables that the container has."""
    prefix: Sequence[str] = ()
    """Starts the container's command."""

    def judge(
        self,
        change: Files,
        pinned: Files | None = None,
        *,
        name: str = "no_foo",
        on_base: bool = False,
        ask_condition: bool = True,
        altered: tuple[str, str] = ("", ""),
    ) -> Run:
        """The gate on a change of the tree `pinned`, which holds the gates.

        `on_base`: asked about the same change on the tree before it. `altered`: what of the program
        is something else.
        """
        files = {"README.md": "read\n", FILE: NO_FOO, **(pinned or {})}
        base = self.origin.commit({path: text for path, text in files.items() if text is not None})
        self.origin.commit(change, base, ref="refs/heads/main")
        tools = self.folder / "tools"
        tools.mkdir()
        config = CheckoutConfig(
            remote=self.origin.remote(),
            ref="refs/heads/main",
            git_dir=str(self.folder / "base" / "repo.git"),
            tools=str(tools),
            plugin=PluginConfig(base, base, "A title", "A description", ask_condition),
            worktree_git=True,
        )
        workspace = self.folder / "workspace"
        placed: dict[str, Any] = {"base": base, "base_worktree": str(workspace)}
        if not on_base:
            placed = {"worktree": str(workspace)}
        checkout.run(replace(config, **placed))
        program = tools / f"{PLUGIN_TOOL}.py"
        assert altered[0] in program.read_text()
        program.write_text(program.read_text().replace(*altered))
        return self._run(name, workspace, tools)

    def _run(self, name: str, workspace: Path, tools: Path) -> Run:
        message = self.folder / "termination-log"
        message.touch()
        env = {**toolchain.environment(), "TOOLS": str(tools), "HOME": "/nowhere"}
        done = subprocess.run(
            [*self.prefix, "sh", "-c", f"{asking_plugin(name)} {message}"],
            cwd=workspace,
            env=env | dict(self.environment),
            capture_output=True,
            check=False,
            timeout=300,
        )
        text = message.read_text()
        output = (done.stdout + done.stderr).decode(errors="replace")
        return Run(load(PluginVerdict, text) if text else None, done.returncode, output)


def is_there(pid: int) -> bool:
    """Whether the process still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
