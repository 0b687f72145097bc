"""Gates that execute a command, run as their Jobs run them: on trees, by `sh -c`, with the tools of
the example's toolchain, and compared by the program that compares."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from bernstein.api.pod import CheckVerdict, CompareConfig, Listing
from bernstein.checks.gate import Command
from bernstein.pods.programs import compare
from tests.demo import toolchain
from tests.unit.checks.trees import LINK, Tree


def write(tree: Tree, folder: Path) -> None:
    """Files and symlinks of the tree; the folder has a repository, as that of a check has."""
    (folder / ".git").mkdir(parents=True)
    for path in tree.paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if tree.kind(path) == "file":
            (folder / path).write_bytes(tree.content(path))
        elif tree.kind(path) == "symlink":
            (folder / path).symlink_to(tree.content(path).decode().removeprefix(LINK))


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in the folder, with a HOME and a TMPDIR beside it, as in its container."""
    env = toolchain.environment() | {"CI": "true", "NO_COLOR": "1"}
    for name in ("HOME", "TMPDIR"):
        env[name] = str(folder.parent / f"{folder.name}-{name.lower()}")
        Path(env[name]).mkdir(exist_ok=True)
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=env, check=False, capture_output=True, text=True
    )


def verdict(
    command: Command, tree: Tree, folder: Path, tolerance: float | None = None
) -> CheckVerdict:
    """What its Job says of the tree; of a command that compares, beside the tree before it."""
    if command.against_base:
        return _compared(command, tree, folder, tolerance)
    write(tree, folder / "workspace")
    code = run(command.command, folder / "workspace").returncode
    word = "Passed" if code == 0 else "Errored" if code in (126, 127, 128) else "Failed"
    return CheckVerdict("", word, "" if code == 0 else "ExitCode")


def _compared(command: Command, tree: Tree, folder: Path, tolerance: float | None) -> CheckVerdict:
    workspace = folder / "workspace"
    before = listing(command.command, Tree(tree.before), folder, "before")
    head = listing(command.command, tree, folder, "head")
    of = command.tolerance if tolerance is None else tolerance
    config = CompareConfig(
        "gate", str(workspace), head, before, output=command.output, decides=True, tolerance=of
    )
    return compare.run(config)


def listing(command: str, tree: Tree, folder: Path, of: str) -> Listing:
    """What it prints while the tree is where both have their turn."""
    workspace, kept, lists = folder / "workspace", folder / of, folder / f"list-{of}"
    write(tree, workspace)
    lists.mkdir()
    found = Listing(str(kept), str(lists / "findings"), str(lists / "code"))
    run(f"({command}) > {found.findings}; echo $? > {found.code}", workspace)
    shutil.move(workspace, kept)
    return found
