"""Gates that run a command, in an image that lacks a tool of theirs: that is no verdict on anybody.

The image is that of the example without some of its packages, and a repository has modules with
their names: what it holds is no tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bernstein.checks import gates
from bernstein.checks.gate import Command, Writes
from tests.demo import toolchain
from tests.programs.gate_runs import run, verdict, write
from tests.unit.checks import examples
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

TOOLS: Mapping[str, tuple[str, ...]] = {
    "lint": ("ruff",),
    "type_check": ("pyright",),
    "tests": ("pytest",),
    "security_scan": ("bandit",),
    "complexity_check": ("radon",),
    "coverage_delta": ("coverage", "pytest"),
    "dep_audit": ("pip_audit",),
    "import_cycle": ("ruff",),
    "mutation_testing": ("cosmic_ray", "pytest"),
    "dead_code": ("vulture",),
    "comment_quality": ("ruff",),
    "integration_test_gen": ("pytest",),
    "agent_test_mutation": ("cosmic_ray", "coverage", "pytest"),
    "benchmark": ("pytest", "pytest_benchmark"),
}
"""What each of them cannot do without, as Python imports it."""
LACKING = [(gate, tool) for gate, tools in TOOLS.items() for tool in tools]


def image_without(tool: str, folder: Path) -> dict[str, str]:
    """Variables of a process that finds the toolchain, but not this package and its programs."""
    variables = toolchain.environment()
    first, *others = variables["PATH"].split(":")
    whole = Path(first).parent
    run("python3 -m venv --without-pip ../image", folder)
    image = folder.parent / "image"
    (packages,) = whole.glob("lib/*/site-packages")
    for each in packages.iterdir():
        # The package, what describes it, and what is loaded for it whenever Python starts.
        if not each.name.startswith((f"{tool}-", f"{tool}.", f"a1_{tool}.")) and each.name != tool:
            (image / packages.relative_to(whole) / each.name).symlink_to(each)
    for program in (whole / "bin").iterdir():
        called = image / "bin" / program.name
        if called.exists() or program.name.startswith(tool.replace("_", "-")):
            continue
        content = program.read_bytes()
        if content.startswith(b"#!"):
            called.write_bytes(content.replace(bytes(whole), bytes(image)))
            called.chmod(0o755)
        else:
            called.symlink_to(program)
    return {"PATH": ":".join((str(image / "bin"), *others))}


def test_of_each_gate_with_a_command_it_is_known_what_it_needs() -> None:
    runs = {gate.name for gate in gates.GATES if isinstance(gate.runs, Command | Writes)}

    assert set(TOOLS) == runs


@pytest.mark.parametrize(("gate", "tool"), LACKING)
def test_without_its_tool_nobody_is_judged(gate: str, tool: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    image = image_without(tool, tmp_path / "elsewhere")
    example = examples.of_gate(gate).accept
    modules = {f"{each}.py": "" for each in (tool, "pytest", "pytest_benchmark")}
    tree = Tree({**example.after, **modules}, before={**example.before, **modules})
    runs = gates.of(gate).runs

    if isinstance(runs, Writes):
        write(tree, tmp_path / "workspace")
        (tmp_path / "test_it.py").write_text("def test_it() -> None:\n    assert True\n")
        told = {**image, "TEST": str(tmp_path / "test_it.py")}
        assert run(runs.command, tmp_path / "workspace", told).returncode == 127
        return
    assert isinstance(runs, Command)
    found = verdict(runs, tree, tmp_path / "gate", variables=image)

    assert (found.verdict, found.reason) == ("Errored", "ToolMissing"), found
