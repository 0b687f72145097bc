"""Workflows: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "Workflow.version": (
        "unit/core/outlines/test_workflows.py"
        "::test_the_version_of_its_definition_is_told_where_it_has_one"
    ),
    "Workflow.phases": "unit/core/plans/workflows/test_reopening.py::test_it_goes_on_to_the_end",
    "Workflow.nodes": "unit/core/plans/workflows/test_reopening.py::test_it_goes_on_to_the_end",
    "Phase.name": "unit/core/plans/workflows/test_problems.py::test_a_name_stands_once",
    "Phase.allowed_roles": (
        "unit/core/plans/workflows/test_problems.py::test_every_problem_is_told_at_once"
    ),
    "Phase.requires_approval": (
        "unit/core/plans/nodes/test_people.py"
        "::test_a_yes_holds_for_all_of_the_phase_and_stays_known"
    ),
    "Node.name": "unit/core/plans/workflows/test_problems.py::test_a_name_stands_once",
    "Node.phase": (
        "unit/core/plans/nodes/test_tasks.py"
        "::test_a_task_says_what_its_node_says_and_has_one_attempt"
    ),
    "Node.title": (
        "unit/core/plans/nodes/test_tasks.py"
        "::test_a_task_says_what_its_node_says_and_has_one_attempt"
    ),
    "Node.repo": (
        "unit/core/plans/nodes/test_tasks.py"
        "::test_a_workflow_of_two_repositories_has_the_rows_and_tasks_of_both"
    ),
    "Node.depends_on": "unit/core/plans/workflows/test_reopening.py::test_it_goes_on_to_the_end",
    "Node.join": "unit/core/plans/workflows/test_stories.py::test_a_story_goes_as_it_is_told",
    "Node.retry": (
        "unit/core/plans/workflows/test_reopening.py"
        "::test_a_retry_without_a_run_left_gets_one_round_and_no_run_more"
    ),
    "Edge.source": (
        "unit/core/plans/nodes/test_people.py"
        "::test_a_task_that_somebody_deletes_counts_as_cancelled"
    ),
    "Edge.condition": (
        "unit/core/plans/nodes/test_people.py"
        "::test_a_task_that_somebody_deletes_counts_as_cancelled"
    ),
    "Retry.max_attempts": (
        "unit/core/plans/workflows/test_reopening.py"
        "::test_a_retry_without_a_run_left_gets_one_round_and_no_run_more"
    ),
    "Retry.until": (
        "unit/core/plans/workflows/test_stories.py::test_a_node_runs_again_until_what_it_says_holds"
    ),
}
