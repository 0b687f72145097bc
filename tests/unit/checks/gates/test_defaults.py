"""Gates are what pipelines of the original tool know by their names: each with whether it is on
where a Project says nothing, whether it is required, and the changes that it runs for."""

from __future__ import annotations

from bernstein.checks import gates
from bernstein.checks.gates import lint_suppression

ORIGINAL = {
    "auto_format": (False, False, "any_changed"),
    "lint": (True, True, "always"),
    "type_check": (False, True, "python_changed"),
    "tests": (False, True, "python_changed"),
    "security_scan": (False, True, "python_changed"),
    "complexity_check": (False, True, "python_changed"),
    "pii_scan": (True, True, "any_changed"),
    "dlp_scan": (True, True, "any_changed"),
    "merge_conflict": (False, True, "any_changed"),
    "coverage_delta": (False, True, "python_changed"),
    "dep_audit": (False, True, "deps_changed"),
    "import_cycle": (False, True, "python_changed"),
    "intent_verification": (False, True, "any_changed"),
    "mutation_testing": (False, True, "python_changed"),
    "dead_code": (False, False, "python_changed"),
    "comment_quality": (False, False, "python_changed"),
    "large_file": (False, False, "any_changed"),
    "integration_test_gen": (False, True, "python_changed"),
    "review_rubric": (False, True, "python_changed"),
    "test_expansion": (False, False, "python_changed"),
    "agent_test_mutation": (False, True, "tests_changed"),
    "benchmark": (False, True, "always"),
    "migration_reversibility": (False, True, "any_changed"),
}
"""In its order, but for `auto_format`, which comes before everything that judges."""


def test_all_that_the_original_tool_has_are_here_as_it_has_them_and_in_its_order() -> None:
    ours = {
        gate.name: (gate.default_on, gate.required, gate.condition)
        for gate in gates.GATES
        if gate is not lint_suppression.GATE
    }

    assert [*ours.items()] == [*ORIGINAL.items()]
