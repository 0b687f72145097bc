"""Roles of a namespace: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "AgentRoleSpec.description": (
        "unit/cli/commands/roles/test_list.py"
        "::test_agent_roles_are_told_apart_by_what_they_stand_for"
    ),
    "AgentRoleSpec.prompt": (
        "unit/core/roles/test_prompt.py::test_its_prompt_takes_the_place_of_the_built_in_text"
    ),
    "AgentRoleSpec.task_prompt": (
        "unit/core/roles/test_prompt.py::test_its_task_prompt_puts_the_description_in_its_words"
    ),
    "AgentRoleSpec.model": (
        "unit/core/roles/test_starts.py"
        "::test_the_step_chooses_its_model_then_its_agent_role_then_the_table"
    ),
    "AgentRoleSpec.effort": (
        "unit/core/roles/test_starts.py"
        "::test_the_step_chooses_its_model_then_its_agent_role_then_the_table"
    ),
    "AgentRoleSpec.max_tasks_per_session": (
        "unit/core/roles/test_judged.py"
        "::test_more_tasks_in_a_session_than_one_are_taken_as_one_and_that_is_said"
    ),
}
