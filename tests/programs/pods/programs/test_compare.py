"""What a real linter finds in the work and not in its base, told as the Job of the base does it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import EXCERPT_CHARACTERS, CheckoutConfig, CheckVerdict
from bernstein.api.programs.comparing import CompareConfig, Listing
from bernstein.checks import gates
from bernstein.checks.gate import Command
from bernstein.pods import termination
from bernstein.pods.programs import checkout, compare
from tests.programs.pods.conftest import Origin

pytestmark = pytest.mark.verification

LINT = gates.of("lint").runs
OLD = "import os\n"


def listing(tree: Path, root: Path, folder: Path, command: str) -> Listing:
    """Lists what is found in the tree while it is at `root`."""
    folder.mkdir()
    tree.rename(root)
    found = Listing(str(tree), str(folder / "findings"), str(folder / "code"))
    tools = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = f"({command}) > {found.findings}; echo $? > {found.code}"
    subprocess.run(["sh", "-c", script], cwd=root, env=tools, check=True)
    root.rename(tree)
    return found


def judged(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], command: str | None = None
) -> CheckVerdict:
    assert isinstance(LINT, Command)
    found = {}
    for name, files in (("base", before), ("head", after)):
        tree = tmp_path / name
        for path, text in files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        command = command or LINT.findings
        assert command is not None
        found[name] = listing(tree, tmp_path / "workspace", tmp_path / f"list-{name}", command)
    root = str(tmp_path / "workspace")
    return compare.run(CompareConfig("lint", root, found["head"], found["base"]))


def test_what_was_there_before_passes_wherever_it_has_moved_to(tmp_path: Path) -> None:
    verdict = judged(tmp_path, {"p/a.py": OLD}, {"p/a.py": f"X = 1\n\n{OLD}", "b.py": "Y = 2\n"})

    assert (verdict.verdict, verdict.excerpt) == ("Passed", "1 finding was there before")


def test_what_is_new_fails_and_is_all_that_is_told(tmp_path: Path) -> None:
    verdict = judged(tmp_path, {"a.py": OLD}, {"a.py": OLD, "b.py": "import sys\n"})

    assert (verdict.verdict, verdict.reason) == ("Failed", "NewFindings")
    assert "b.py:1 F401" in verdict.excerpt
    assert "a.py" not in verdict.excerpt


def test_a_secret_that_the_tool_quotes_is_not_told(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"

    verdict = judged(tmp_path, {"a.py": OLD}, {"a.py": OLD, "b.py": f"print({token})\n"})

    assert "b.py:1 F821 Undefined name `***`" in verdict.excerpt


def test_a_file_that_is_no_python_any_more_is_a_new_finding(tmp_path: Path) -> None:
    assert judged(tmp_path, {"a.py": OLD}, {"a.py": "def (:\n"}).verdict == "Failed"


def test_a_linter_that_has_an_error_on_the_base_cannot_compare(tmp_path: Path) -> None:
    broken = {"ruff.toml": "no setting at all"}

    verdict = judged(tmp_path, {"a.py": OLD} | broken, {"a.py": OLD} | broken)

    assert (verdict.verdict, verdict.reason) == ("Skipped", "BaseFails")


def test_a_linter_that_has_an_error_on_the_work_alone_is_no_pass(tmp_path: Path) -> None:
    verdict = judged(tmp_path, {"a.py": "X = 1\n"}, {"ruff.toml": "no setting at all"})

    assert verdict.verdict == "Failed"


NO_LISTS = ["true", "echo '{}'", "yes '[' | head -c 1000"]


@pytest.mark.parametrize("command", NO_LISTS)
def test_output_that_is_no_list_never_lets_findings_through(tmp_path: Path, command: str) -> None:
    of_work_alone = f"[ -e new.py ] || exit 0; {command}"
    tree = {"a.py": OLD}

    assert judged(tmp_path, tree, tree | {"new.py": ""}, of_work_alone).verdict == "Failed"


@pytest.mark.parametrize("command", NO_LISTS[1:])
def test_a_list_of_the_base_that_cannot_be_read_tells_nothing_of_the_work(
    tmp_path: Path, command: str
) -> None:
    verdict = judged(tmp_path, {"a.py": OLD}, {"a.py": OLD}, command)

    assert (verdict.verdict, verdict.reason) == ("Skipped", "BaseFails")
    assert "on the commit before this work" in verdict.excerpt


def test_findings_in_any_script_fit_the_termination_message(tmp_path: Path) -> None:
    name = "\U0001f4a5" * 40
    after = {f"{name}/{i}.py": OLD for i in range(40)}

    verdict = judged(tmp_path, {"a.py": "X = 1\n"}, after)

    assert verdict.verdict == "Failed"
    assert len(verdict.excerpt) <= EXCERPT_CHARACTERS
    assert termination.fits(verdict)


def test_no_line_is_read_through_a_link(tmp_path: Path) -> None:
    """A link that the work puts in place of a folder is not followed: no line there is known."""
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "a.py").write_text(OLD)
    (tmp_path / "head").mkdir()
    (tmp_path / "head" / "p").symlink_to(secret)
    found = Listing(str(tmp_path / "head"), "", "")

    assert compare._lines(found)("p/a.py", 1) == b""
    assert compare._lines(found)("../elsewhere/a.py", 1) == b""


def test_both_trees_are_written_with_the_pinned_configuration(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    base = origin.commit(
        {"ruff.toml": b"line-length = 80\n", "a.py": b"1\n"}, ref="refs/heads/main"
    )
    changes = {"ruff.toml": b"exclude = ['*']\n", "a.py": b"2\n"}
    head = origin.commit({**changes}, base, ref="refs/heads/main")
    before = tmp_path / "before"

    more = {"base": base, "base_worktree": str(before), "sha": head}
    pinned = {"pinned_sha": base, "pinned_names": ("ruff.toml",)}
    checkout.run(CheckoutConfig(**config | more | pinned))

    trees = [tmp_path / "workspace", before]
    assert [(tree / "a.py").read_bytes() for tree in trees] == [b"2\n", b"1\n"]
    assert [(tree / "ruff.toml").read_bytes() for tree in trees] == [b"line-length = 80\n"] * 2


def test_a_base_alone_is_written_with_a_git_of_its_own(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    base = origin.commit({"a.py": b"1\n"}, ref="refs/heads/main")
    origin.commit({"a.py": b"2\n"}, base, ref="refs/heads/main")

    more = {"base": base, "base_worktree": config["worktree"], "worktree": None}
    checkout.run(CheckoutConfig(**config | more | {"worktree_git": True}))

    assert (tmp_path / "workspace" / "a.py").read_bytes() == b"1\n"
    assert (tmp_path / "workspace" / ".git").is_dir()
