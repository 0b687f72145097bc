"""Gates on repositories in other languages than Python, with the tools of their image."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api.pod import Check
from bernstein.checks import gates
from bernstein.pods.programs.inspect import judge
from tests.demo import node_go
from tests.e2e.gates import repositories
from tests.e2e.gates.repositories import LANGUAGES, Files
from tests.programs.gate_runs import run, write
from tests.programs.pods.programs.formatting.formatted import COMMAND
from tests.unit.checks.trees import Tree
from tests.unit.rooms import ROOT

pytestmark = pytest.mark.verification

EACH = [(language, name) for language in LANGUAGES for name in repositories.of(language).gates]


def judged(language: str, change: Files, folder: Path, *names: str) -> dict[str, str]:
    """By gate: what it prints of the repository with this change, of these that reject it."""
    repository = repositories.of(language)
    tree = Tree({**repository.before, **change}, before=repository.before)
    write(tree, folder)
    found = {}
    for name in names:
        if (command := repository.gates[name].command) is not None:
            ended = run(command, folder, node_go.environment())
            if ended.returncode:
                found[name] = ended.stdout + ended.stderr
        elif name in gates.that_read():
            verdict = judge(tree, Check(name, name))
            if verdict.verdict != "Passed":
                found[name] = verdict.excerpt
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_gate_accepts_all_that_is_to_be_accepted(language: str, tmp_path: Path) -> None:
    repository = repositories.of(language)

    assert judged(language, repository.good, tmp_path / "tree", *repository.gates) == {}


@pytest.mark.parametrize(("language", "gate"), EACH)
def test_each_rejects_the_change_that_is_wrong_in_its_eyes(
    language: str, gate: str, tmp_path: Path
) -> None:
    example = repositories.of(language).gates[gate]

    found = judged(language, example.reject, tmp_path / "tree", gate)

    if gate not in gates.that_format():
        assert found.keys() == {gate}
        assert example.told in found[gate]


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_reject_what_is_wrong_in_all_eyes_and_say_why(language: str, tmp_path: Path) -> None:
    repository = repositories.of(language)

    found = judged(language, repository.bad, tmp_path / "tree", *repository.gates)

    assert found.keys() == repository.gates.keys() - {*gates.that_format()}
    assert [name for name in found if repository.gates[name].told not in found[name]] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_changed_files_are_formatted_and_one_that_cannot_be_read_is_told(
    language: str, tmp_path: Path
) -> None:
    repository = repositories.of(language)
    example = repository.gates["auto_format"]
    ends = {}
    for which, change in {"accept": example.accept, "reject": example.reject}.items():
        folder, changed = tmp_path / which, tmp_path / f"{which}-changed"
        write(Tree({**repository.before, **change}), folder)
        changed.write_text("".join(f"{path}\n" for path in change))
        told = {**node_go.environment(), "CHANGED": str(changed)}
        ends[which] = run(COMMAND, folder, told)

    assert (ends["accept"].returncode, ends["reject"].returncode) == (0, 1)
    assert example.told in ends["reject"].stdout + ends["reject"].stderr
    for path, text in example.accept.items():
        assert (tmp_path / "accept" / path).read_text() != text


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_changes_of_a_language_fit_into_one_work(language: str) -> None:
    examples = repositories.of(language).gates

    for changes in ([e.accept for e in examples.values()], [e.reject for e in examples.values()]):
        paths = [path for change in changes for path in change]
        assert all(changes)
        assert len(paths) == len({*paths})
    assert examples.keys() <= {*gates.names()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_on_gates_says_these_commands(language: str) -> None:
    page = (ROOT / "docs/how-to/add-a-gate.md").read_text()

    unsaid = [c for c in repositories.of(language).commands.values() if c not in page]
    assert unsaid == []
