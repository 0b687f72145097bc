"""Gates that execute a command, run as their Jobs run them: on trees, by `sh -c`, with the tools of
the example's toolchain, and compared by the program that compares."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bernstein.api.pod import CheckVerdict
from bernstein.api.programs.comparing import CompareConfig, Compared, Listing
from bernstein.checks.gate import Command
from bernstein.pods.programs import compare
from bernstein.pods.programs.checkout import lay_out
from tests.demo import toolchain
from tests.programs import osv
from tests.unit.checks.trees import LINK, Tree

SECONDS = 3600
"""That a gate may take: on a busy machine, too, the examples are not cut off."""


def function(ways: int) -> str:
    """Code of a function of that complexity."""
    branches = "".join(f"    if x == {i}:\n        return {i}\n" for i in range(ways - 1))
    return f"def f(x: int) -> int:\n{branches}    return -1\n"


def write(tree: Tree, folder: Path) -> None:
    """Files and symlinks of the tree; the folder has a repository, as that of a check has."""
    (folder / ".git").mkdir(parents=True)
    for path in tree.paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if tree.kind(path) == "file":
            (folder / path).write_bytes(tree.content(path))
        elif tree.kind(path) == "symlink":
            (folder / path).symlink_to(tree.content(path).decode().removeprefix(LINK))


def run(
    command: str, folder: Path, more: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """The command in the folder, with a HOME and a TMPDIR beside it, as in its container; `more`:
    variables."""
    env = toolchain.environment() | {"CI": "true", "NO_COLOR": "1", **more}
    for name in ("HOME", "TMPDIR"):
        env[name] = str(folder.parent / f"{folder.name}-{name.lower()}")
        Path(env[name]).mkdir(exist_ok=True)
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=env, check=False, capture_output=True, text=True
    )


def verdict(
    command: Command,
    tree: Tree,
    folder: Path,
    tolerance: float | None = None,
    variables: Mapping[str, str] = {},
) -> CheckVerdict:
    """What its Job says of the tree; of a command that compares, beside the tree before it.

    `variables`: that its image has, or in place of those that its Job gives.
    """
    if command.against_base:
        with osv.serving() as url:
            return _compared(
                command, tree, folder, tolerance, {"PIP_AUDIT_OSV_URL": url, **variables}
            )
    write(tree, folder / "workspace")
    code = run(command.command, folder / "workspace", variables).returncode
    word = "Passed" if code == 0 else "Errored" if code in (126, 127, 128) else "Failed"
    reason = {"Passed": "", "Errored": "ToolMissing"}.get(word, "ExitCode")
    return CheckVerdict("", word, reason)


def _compared(
    command: Command,
    tree: Tree,
    folder: Path,
    tolerance: float | None,
    variables: Mapping[str, str],
) -> CheckVerdict:
    workspace = folder / "workspace"
    base, work = _of_tool(command, tree, folder)
    before = listing(command.command, Tree(tree.before), folder, "before", {**base, **variables})
    head = listing(command.command, tree, folder, "head", {**work, **variables})
    of = command.tolerance if tolerance is None else tolerance
    config = CompareConfig(
        "gate", str(workspace), head, before, output=command.output, decides=True, tolerance=of
    )
    found = compare.run(replace(config, least=command.least))
    if found.base:
        _is_the_same_where_the_base_is_known(config, found)
    return found


def _is_the_same_where_the_base_is_known(config: CompareConfig, found: Compared) -> None:
    """The tool is not run on the base then: nothing is listed of it."""
    unlisted = Listing(config.base.tree, "/nowhere/findings", "/nowhere/code")
    known = compare.run(replace(config, base=unlisted, known=found.base))
    assert known == replace(found, excerpt=compare.telling_known(found.excerpt), base="")


def _of_tool(command: Command, tree: Tree, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Variables for the program of ours that it runs, in the base and in the work, once that lies
    where they say, with what it is to know of the change."""
    if command.tool is None:
        return {}, {}
    folders = {name: folder / f"{name}-before-it-runs" for name in ("base", "work")}
    write(Tree(tree.before), folders["base"])
    write(tree, folders["work"])
    own = folder / "tools"
    own.mkdir()
    lay_out(command.tool, own, folders["work"], folders["base"])
    told = {"TOOLS": str(own), "CHECK_SECONDS": str(SECONDS)}
    return told | {"TREE": "base"}, told | {"TREE": "work"}


def listing(
    command: str, tree: Tree, folder: Path, of: str, more: Mapping[str, str] = {}
) -> Listing:
    """What it prints while the tree is where both have their turn."""
    workspace, kept, lists = folder / "workspace", folder / of, folder / f"list-{of}"
    write(tree, workspace)
    lists.mkdir()
    found = Listing(str(kept), str(lists / "findings"), str(lists / "code"))
    run(f"({command}) > {found.findings}; echo $? > {found.code}", workspace, more)
    shutil.move(workspace, kept)
    return found
