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
    "PlanSpec.budget": "unit/core/plans/test_estimate.py::test_a_budget_that_cannot_do_is_told",
    "PlanSpec.max_agents": (
        "unit/core/plans/validation/test_workflows.py"
        "::test_what_stands_beside_the_workflow_is_that_of_any_plan"
    ),
    "PlanSpec.constraints": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "PlanSpec.context_files": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "PlanSpec.repos": (
        "unit/core/plans/test_estimate.py::test_a_step_also_waits_for_all_of_a_repository"
    ),
    "PlanSpec.stages": (
        "unit/core/outlines/test_graph.py::test_stages_are_groups_and_what_they_depend_on_edges"
    ),
    "PlanSpec.workflow": (
        "unit/core/outlines/test_workflows.py::test_no_words_break_a_drawing_or_a_page"
    ),
    "PlanSpec.approval": "unit/core/outlines/test_outline.py::test_when_people_are_asked_is_told",
    "PlanSpec.file_scope": (
        "unit/core/verification/expected/test_rules.py::test_the_stricter_of_both_is_asked"
    ),
    "PlanSpec.protect_tests": (
        "unit/core/verification/expected/test_rules.py::test_the_stricter_of_both_is_asked"
    ),
    "PlanSpec.merge": (
        "unit/core/plans/validation/test_workflows.py"
        "::test_what_stands_beside_the_workflow_is_that_of_any_plan"
    ),
    "PlanSpec.author": (
        "unit/core/approvals/test_bypass.py"
        "::test_while_nobody_knows_the_author_nobody_is_asked_and_nothing_is_lost"
    ),
    "PlanSpec.suspend": (
        "unit/core/delivery/resolving/test_resolving.py::test_a_plan_that_is_suspended_makes_none"
    ),
    "PlanSpec.cancel": (
        "unit/core/delivery/test_proposal.py"
        "::test_a_cancel_takes_the_name_of_a_job_that_may_still_come"
    ),
    "PlanSpec.requests": (
        "unit/core/delivery/test_proposal.py::test_what_people_decide_is_merged_by_no_request"
    ),
    "PlanRepository.path": (
        "unit/core/outlines/test_graph.py"
        "::test_a_step_that_waits_for_a_repository_has_an_edge_from_all_of_that"
    ),
    "PlanRepository.branch": (
        "unit/core/projects/test_repositories.py"
        "::test_a_plan_says_which_branch_of_an_address_it_means"
    ),
    "PlanRepository.name": (
        "unit/core/plans/places/test_routes.py::test_blanks_around_a_name_make_no_other_one"
    ),
    "Stage.name": (
        "unit/core/plans/test_expansion.py::test_a_step_whose_task_is_there_keeps_its_name"
    ),
    "Stage.description": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "Stage.depends_on": (
        "unit/core/plans/test_expansion.py"
        "::test_a_stage_without_depends_on_waits_for_the_one_before_and_an_empty_one_for_none"
    ),
    "Stage.repo": (
        "unit/core/plans/places/test_routes.py::test_blanks_around_a_name_make_no_other_one"
    ),
    "Stage.steps": (
        "unit/core/delivery/test_pull_request.py"
        "::test_what_steps_were_asked_takes_no_more_room_than_there_is"
    ),
    "Step.title": (
        "unit/core/delivery/test_pull_request.py"
        "::test_each_step_tells_what_was_asked_and_which_checks_said_what"
    ),
    "Step.goal": (
        "unit/core/plans/test_expansion.py::test_the_older_name_of_a_title_is_the_title_of_its_task"
    ),
    "Step.repo": (
        "unit/core/plans/places/test_begin.py"
        "::test_a_plan_whose_steps_work_in_one_of_its_repositories_has_no_rows"
    ),
    "Step.depends_on_repo": (
        "unit/core/outlines/test_graph.py"
        "::test_a_step_that_waits_for_a_repository_has_an_edge_from_all_of_that"
    ),
    "PlanRequest.verb": (
        "unit/core/delivery/test_proposal.py::test_what_people_decide_is_merged_by_no_request"
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
