"""Tasks and signals: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "Assignment.description": (
        "unit/core/sessions/test_prompt.py::test_the_prompt_says_everything_that_the_task_says"
    ),
    "Assignment.role": (
        "unit/core/routing/test_table.py::test_some_roles_get_the_most_capable_model"
    ),
    "Assignment.priority": (
        "unit/core/scheduling/test_schedule.py"
        "::test_a_lower_priority_takes_no_place_that_a_higher_one_could_have"
    ),
    "Assignment.scope": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_session_may_take_the_scopes_time_at_least_twice_the_estimate"
    ),
    "Assignment.complexity": "unit/core/routing/test_table.py::test_the_step_says_then_the_table",
    "Assignment.model": "unit/core/routing/test_table.py::test_the_step_says_then_the_table",
    "Assignment.effort": "unit/core/routing/test_table.py::test_the_step_says_then_the_table",
    "Assignment.estimated_minutes": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_session_may_take_the_scopes_time_at_least_twice_the_estimate"
    ),
    "Assignment.mode": (
        "unit/core/scheduling/test_schedule.py"
        "::test_batch_takes_no_place_while_another_task_is_ready"
    ),
    "Assignment.cli": (
        "unit/core/scheduling/test_choices.py::test_a_cli_is_also_the_adapter_of_just_one_agent"
    ),
    "Assignment.files": (
        "unit/core/scheduling/test_schedule.py"
        "::test_who_waits_for_files_keeps_a_place_among_the_agents_of_its_plan"
    ),
    "Assignment.changes": (
        "unit/core/tasks/test_ended.py::test_a_step_that_is_to_change_nothing_must_not"
    ),
    "Assignment.completion_signals": (
        "unit/core/plans/test_expansion.py::test_a_task_carries_what_its_step_and_its_plan_say"
    ),
    "TaskSpec.completion_signals": (
        "unit/core/delivery/test_plan.py::test_signals_of_every_task_judge_the_merge_once_each"
    ),
    "TaskSpec.title": (
        "unit/core/sessions/test_prompt.py::test_the_prompt_says_everything_that_the_task_says"
    ),
    "TaskSpec.goal": (
        "unit/core/sessions/test_prompt.py::test_the_prompt_says_everything_that_the_task_says"
    ),
    "TaskSpec.project_ref": (
        "unit/core/projects/test_projects.py"
        "::test_what_has_not_begun_is_of_the_project_that_it_names"
    ),
    "TaskSpec.repo": (
        "unit/core/plans/places/test_scheduled.py"
        "::test_files_of_the_same_name_are_others_in_another_repository"
    ),
    "TaskSpec.stage": (
        "unit/core/plans/test_tally.py::test_the_current_stage_is_the_first_with_something_left"
    ),
    "TaskSpec.stage_description": (
        "unit/core/sessions/test_prompt.py::test_the_prompt_says_everything_that_the_task_says"
    ),
    "TaskSpec.depends_on": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_task_waits_for_what_it_depends_on_and_says_for_what"
    ),
    "TaskSpec.depends_on_stages": (
        "unit/core/scheduling/test_stages.py::test_who_waits_for_one_stage_names_it"
    ),
    "TaskSpec.depends_on_repo": (
        "unit/core/scheduling/test_stages.py"
        "::test_who_waits_for_a_repository_waits_for_every_task_in_it"
    ),
    "TaskSpec.constraints": (
        "unit/core/sessions/test_prompt.py::test_the_prompt_says_everything_that_the_task_says"
    ),
    "TaskSpec.context_files": (
        "unit/core/roles/test_prompt.py"
        "::test_its_context_is_what_the_project_tells_and_the_files_to_read_first"
    ),
    "TaskSpec.max_retries": (
        "unit/core/tasks/test_failed.py::test_max_retries_is_the_number_of_attempts_after_the_first"
    ),
    "TaskSpec.produces": (
        "unit/core/tasks/produced/test_produced.py"
        "::test_a_valid_plan_file_becomes_a_plan_that_waits_for_people_once_the_task_is_closed"
    ),
    "TaskSpec.author": (
        "unit/core/approvals/test_policy.py::test_the_author_of_a_plans_task_is_the_plans"
    ),
    "TaskSpec.cancel": (
        "unit/core/tasks/test_cancel.py::test_what_does_not_run_is_cancelled_at_once"
    ),
    "TaskSpec.requests": (
        "unit/core/tasks/requests/test_requests.py"
        "::test_a_retry_opens_a_failed_task_for_as_many_attempts_as_it_had"
    ),
    "Signal.type": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.path": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.value": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.url": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.status": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.contains": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.regex": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.command": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.timeout_seconds": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Signal.criteria": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_signal_that_says_something_else_asks_something_else"
    ),
    "Produces.plan": (
        "unit/core/tasks/produced/test_produced.py"
        "::test_a_valid_plan_file_becomes_a_plan_that_waits_for_people_once_the_task_is_closed"
    ),
    "PlanToMake.name": (
        "unit/core/tasks/produced/test_produced.py"
        "::test_the_name_that_the_task_gives_is_that_of_the_object"
    ),
    "PlanToMake.budget": (
        "unit/core/tasks/produced/test_produced.py::test_of_two_budgets_the_smaller_one_counts"
    ),
    "PlanToMake.max_agents": (
        "unit/core/tasks/produced/test_produced.py"
        "::test_of_two_numbers_of_agents_the_smaller_one_counts"
    ),
    "PlanToMake.merge": (
        "unit/core/tasks/produced/test_produced.py"
        "::test_a_pull_request_that_the_task_asks_for_needs_a_forge_as_one_of_the_file_does"
    ),
    "PlanToMake.approval": (
        "unit/core/tasks/produced/test_produced.py"
        "::test_of_two_policies_of_approval_the_stricter_one_counts"
    ),
    "TaskRequest.id": (
        "unit/core/tasks/requests/test_requests.py"
        "::test_a_request_is_answered_once_whatever_comes_later"
    ),
    "TaskRequest.verb": (
        "unit/core/tasks/requests/test_requests.py"
        "::test_a_retry_opens_a_failed_task_for_as_many_attempts_as_it_had"
    ),
}
