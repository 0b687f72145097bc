"""Plans, stages and steps: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "PlanSpec.name": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "PlanSpec.description": (
        "unit/cli/output/test_outlines.py::test_a_pipe_gets_all_of_a_description"
    ),
    "PlanSpec.project_ref": (
        "unit/core/projects/test_projects.py"
        "::test_what_has_not_begun_is_of_the_project_that_it_names"
    ),
    "PlanSpec.cli": (
        "unit/core/plans/test_expansion.py::test_a_steps_agent_is_chosen_before_the_plans"
    ),
    "PlanSpec.budget": (
        "unit/core/scheduling/test_chain.py::test_raising_the_budget_lets_a_task_go_on"
    ),
    "PlanSpec.max_agents": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_plan_that_is_full_does_not_keep_places_from_another"
    ),
    "PlanSpec.constraints": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "PlanSpec.context_files": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "PlanSpec.repos": (
        "unit/core/plans/places/test_routes.py::test_tasks_are_made_with_their_repository"
    ),
    "PlanSpec.stages": (
        "unit/core/plans/test_expansion.py"
        "::test_every_step_becomes_a_task_that_waits_for_the_stages_before"
    ),
    "PlanSpec.workflow": (
        "unit/core/plans/nodes/test_tasks.py"
        "::test_a_task_says_what_its_node_says_and_has_one_attempt"
    ),
    "PlanSpec.approval": "unit/core/approvals/test_policy.py::test_the_stricter_of_both_counts",
    "PlanSpec.file_scope": (
        "unit/core/verification/expected/test_rules.py::test_the_stricter_of_both_is_asked"
    ),
    "PlanSpec.protect_tests": (
        "unit/core/verification/expected/test_rules.py::test_the_stricter_of_both_is_asked"
    ),
    "PlanSpec.merge": (
        "unit/core/plans/test_begin.py::test_how_a_plan_delivers_is_written_down_when_it_begins"
    ),
    "PlanSpec.author": (
        "unit/core/approvals/test_bypass.py"
        "::test_while_nobody_knows_the_author_nobody_is_asked_and_nothing_is_lost"
    ),
    "PlanSpec.suspend": (
        "unit/core/delivery/resolving/test_resolving.py::test_a_plan_that_is_suspended_makes_none"
    ),
    "PlanSpec.cancel": (
        "unit/core/plans/test_cancel.py::test_a_cancel_is_handed_on_and_waits_for_every_task"
    ),
    "PlanSpec.requests": (
        "unit/core/plans/test_requests.py"
        "::test_a_retry_is_handed_on_to_each_task_that_has_failed_and_answered_by_it"
    ),
    "PlanRepository.path": (
        "unit/core/plans/places/test_routes.py::test_tasks_are_made_with_their_repository"
    ),
    "PlanRepository.branch": (
        "unit/core/projects/test_repositories.py"
        "::test_a_plan_says_which_branch_of_an_address_it_means"
    ),
    "PlanRepository.name": (
        "unit/core/plans/places/test_routes.py::test_blanks_around_a_name_make_no_other_one"
    ),
    "Stage.name": (
        "unit/core/plans/test_expansion.py"
        "::test_every_step_becomes_a_task_that_waits_for_the_stages_before"
    ),
    "Stage.description": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "Stage.depends_on": (
        "unit/core/plans/test_expansion.py"
        "::test_a_stage_without_depends_on_waits_for_the_one_before_and_an_empty_one_for_none"
    ),
    "Stage.repo": (
        "unit/core/plans/places/test_routes.py::test_tasks_are_made_with_their_repository"
    ),
    "Stage.steps": (
        "unit/core/plans/test_expansion.py"
        "::test_every_step_becomes_a_task_that_waits_for_the_stages_before"
    ),
    "Step.title": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "Step.goal": (
        "unit/core/plans/test_expansion.py::test_the_older_name_of_a_title_is_the_title_of_its_task"
    ),
    "Step.repo": (
        "unit/core/plans/places/test_begin.py"
        "::test_a_plan_whose_steps_work_in_one_of_its_repositories_has_no_rows"
    ),
    "Step.depends_on_repo": (
        "unit/core/plans/places/test_routes.py::test_tasks_are_made_with_their_repository"
    ),
    "PlanRequest.verb": (
        "unit/core/plans/test_requests.py"
        "::test_a_retry_is_handed_on_to_each_task_that_has_failed_and_answered_by_it"
    ),
    "Request.by": (
        "unit/core/tasks/requests/test_requests.py::test_who_asked_why_and_when_is_recorded"
    ),
    "Request.reason": (
        "unit/core/tasks/requests/test_requests.py::test_who_asked_why_and_when_is_recorded"
    ),
    "Request.id": (
        "unit/core/plans/part/test_besides.py"
        "::test_a_second_request_is_refused_while_the_first_one_is_on_its_way"
    ),
    "Cancel.reason": (
        "unit/core/plans/test_cancel.py::test_a_reason_of_an_older_release_is_handed_on_in_one_line"
    ),
    "Cancel.by": (
        "unit/core/plans/test_approval.py"
        "::test_who_cancels_a_plan_in_his_own_name_has_moved_its_tasks"
    ),
}
