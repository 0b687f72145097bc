"""Workflows: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "Workflow.version": (
        "unit/core/outlines/test_workflows.py"
        "::test_the_version_of_its_definition_is_told_where_it_has_one"
    ),
    "Workflow.phases": (
        "unit/core/plans/validation/test_workflows.py"
        "::test_an_unknown_role_is_a_warning_without_a_cluster_and_an_error_in_one"
    ),
    "Workflow.nodes": (
        "unit/core/outlines/test_workflows.py::test_no_words_break_a_drawing_or_a_page"
    ),
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
        "unit/core/plans/validation/test_workflows.py"
        "::test_all_problems_are_told_at_once_and_none_follows_from_another"
    ),
    "Node.title": (
        "unit/core/plans/validation/test_workflows.py"
        "::test_what_stands_beside_the_workflow_is_that_of_any_plan"
    ),
    "Node.repo": (
        "unit/core/plans/nodes/test_tasks.py"
        "::test_a_workflow_of_two_repositories_has_the_rows_and_tasks_of_both"
    ),
    "Node.depends_on": (
        "unit/core/plans/nodes/test_people.py"
        "::test_nothing_is_made_while_the_plan_is_suspended_and_all_goes_on_after_that"
    ),
    "Node.join": (
        "unit/core/outlines/test_workflows.py"
        "::test_any_of_several_is_said_and_of_one_it_means_nothing"
    ),
    "Node.retry": (
        "unit/core/plans/workflows/test_reopening.py"
        "::test_a_retry_without_a_run_left_gets_one_round_and_no_run_more"
    ),
    "Edge.source": (
        "unit/core/outlines/test_workflows.py"
        "::test_any_of_several_is_said_and_of_one_it_means_nothing"
    ),
    "Edge.condition": (
        "unit/core/outlines/test_workflows.py"
        "::test_any_of_several_is_said_and_of_one_it_means_nothing"
    ),
    "Retry.max_attempts": (
        "unit/core/outlines/test_workflows.py"
        "::test_a_node_that_runs_again_by_itself_leads_to_itself"
    ),
    "Retry.until": (
        "unit/core/outlines/test_workflows.py"
        "::test_a_node_that_runs_again_by_itself_leads_to_itself"
    ),
}
