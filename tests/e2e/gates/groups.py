"""Which gates and signals judge one pair of trees together in real pods, and who shows the others.

The trees are those of their examples, each in a folder of its own, so that none speaks of another
one's. What passes a gate may be nothing that a neighbour finds anything in, and tests that run
together have files of different names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel

from bernstein.checks import signals
from bernstein.checks.asks import Asks
from tests.e2e.conftest import MakeWorld, Object, World, does, push
from tests.unit.checks import examples
from tests.unit.checks.trees import LINK, Tree

GROUPS: Mapping[str, tuple[str, ...]] = {
    "what linters say": ("lint", "type_check", "security_scan", "complexity_check"),
    # agent_test_mutation looks at changed code alone where tests run some: no neighbour has any.
    "what nobody needs, explains or notices": (
        *("dead_code", "comment_quality", "agent_test_mutation"),
    ),
    "what is read": (
        *("dlp_scan", "import_cycle", "large_file", "lint_suppression"),
        *("merge_conflict", "migration_reversibility", "pii_scan"),
    ),
    "what tests measure": ("benchmark", "coverage_delta", "tests"),
    "what tests notice": ("mutation_testing",),
}


class Shown(NamedTuple):
    """The tests that show it."""

    file: str
    accepts: str
    rejects: str


_JUDGED, _FORMATTED = "tests/e2e/test_judge.py", "tests/e2e/test_formatting.py"
_DEPENDENCIES = "tests/e2e/gates/test_weak_dependencies.py"
_EXAMPLES = "test_the_examples_of_gates_are_accepted_and_rejected"
_AGAIN = "test_one_more_attempt_that_a_judge_asks_for_is_made_and_told_its_words"
_WEAK = "test_weak_versions_are_rejected_sound_ones_accepted_and_none_unasked"
ELSEWHERE: Mapping[str, Shown] = {
    "auto_format": Shown(
        _FORMATTED,
        "test_what_was_formatted_lands_as_one_commit_on_the_base",
        "test_what_no_formatter_can_read_is_judged_as_it_is",
    ),
    "intent_verification": Shown(_JUDGED, _EXAMPLES, _EXAMPLES),
    "integration_test_gen": Shown(
        _JUDGED,
        "test_work_that_a_written_test_passes_lands_without_the_test",
        "test_a_written_test_that_fails_ends_the_attempt_and_is_told",
    ),
    "review_rubric": Shown(_JUDGED, _EXAMPLES, _EXAMPLES),
    "test_expansion": Shown(_JUDGED, _EXAMPLES, _EXAMPLES),
    "llm_judge": Shown(_JUDGED, _AGAIN, _AGAIN),
    "llm_review": Shown(
        _JUDGED,
        "test_a_model_that_says_yes_lets_work_land_and_is_paid_for",
        "test_a_model_that_says_no_ends_the_attempt_with_its_words",
    ),
    "dep_audit": Shown(_DEPENDENCIES, _WEAK, _WEAK),
}
"""By gate or signal."""
_AT_ROOT = ("import_cycle",)
"""Their modules are found there alone."""

Files = dict[str, str]


@dataclass(frozen=True)
class Work:
    """What one Task does: `before` is what the branch holds, `writes` what the agent does."""

    before: Files
    writes: Files


def good(group: str) -> Work:
    """What every gate of the group passes."""
    return _work({name: examples.of_gate(name).accept for name in GROUPS[group]})


def bad(group: str) -> Work:
    """What every gate of the group rejects."""
    return _work({name: examples.of_gate(name).reject for name in GROUPS[group]})


def meanwhile(group: str) -> Files:
    """What the branch gets while that is done."""
    return _files({name: examples.of_gate(name).meanwhile for name in GROUPS[group]})


def _work(trees: Mapping[str, Tree]) -> Work:
    before = {name: tree.before for name, tree in trees.items()}
    after = {name: written(tree) for name, tree in trees.items()}
    return Work(_files(before), _files(after))


def written(tree: Tree) -> Files:
    """What the change writes."""
    changed = tree.changed_paths
    return {path: str(text) for path, text in tree.after.items() if path in changed}


def _files(trees: Mapping[str, Mapping[str, str | bytes]]) -> Files:
    return {
        path if name in _AT_ROOT else f"{name}/{path}": str(content)
        for name, tree in trees.items()
        for path, content in tree.items()
    }


# --- signals ------------------------------------------------------------------------------------

SIGNALS = tuple(kind.type for kind in signals.SIGNALS if not isinstance(kind.runs, Asks))
"""All that execute or read judge one pair."""
FAIL_FOR: Mapping[str, str] = {
    "path_exists": "PathMissing",
    "glob_exists": "NoMatch",
    "file_contains": "NotAFile",
    "test_passes": "ExitCode",
    "api_responds": "ExitCode",
}
"""Why each fails its example's work."""


def asked() -> list[dict[str, Any]]:
    """As a Task has them."""
    return [
        {to_camel(key): value for key, value in examples.of_signal(name).accepted.items()}
        for name in SIGNALS
    ]


def that_hold() -> Work:
    return _together(*(examples.of_signal(name).holds for name in SIGNALS))


def that_fail() -> Work:
    return _together(*(examples.of_signal(name).fails for name in SIGNALS))


def _together(*trees: Tree) -> Work:
    return Work({}, {path: str(content) for tree in trees for path, content in tree.after.items()})


def steps(files: Files) -> list[dict[str, Any]]:
    """What the demo agent does to have them."""
    return [
        {"run": f"ln -s '{content.removeprefix(LINK)}' '{path}'"}
        if content.startswith(LINK)
        else {"write": {"path": path, "content": content}}
        for path, content in files.items()
    ]


def attempt(files: Files) -> Object:
    """One of the demo agent that leaves them and claims success."""
    return {"steps": steps(files), "text": "done"}


def begun(
    make: MakeWorld,
    before: Mapping[str, str | bytes],
    works: Mapping[str, Files],
    change: Callable[[Object], None],
) -> World:
    """A world with these files on its branch, and an agent for each work, by the Task's title."""
    here = make([does(title, attempt(files)) for title, files in works.items()], change)
    for path, content in before.items():
        push(here, path, str(content))
    return here
