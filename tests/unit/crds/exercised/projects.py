"""Projects: agents, limits, money, what is kept: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "ProjectSpec.repositories": (
        "unit/core/plans/test_in_cluster.py"
        "::test_a_pull_request_needs_a_forge_and_a_plan_cannot_ask_for_less"
    ),
    "ProjectSpec.agents": (
        "unit/core/plans/test_in_cluster.py"
        "::test_an_agent_may_be_named_by_its_adapter_where_it_is_the_only_one"
    ),
    "ProjectSpec.default_agent": (
        "unit/core/sessions/test_object.py"
        "::test_who_names_no_agent_gets_the_default_one_and_without_that_the_first"
    ),
    "ProjectSpec.knowledge": (
        "unit/core/roles/test_prompt.py"
        "::test_its_context_is_what_the_project_tells_and_the_files_to_read_first"
    ),
    "ProjectSpec.toolchain": (
        "unit/core/verification/expected/test_required.py"
        "::test_what_runs_a_command_has_the_image_of_the_toolchain"
    ),
    "ProjectSpec.setup": (
        "unit/core/verification/expected/test_setup.py"
        "::test_another_command_is_another_question_and_its_time_is_none"
    ),
    "ProjectSpec.gates": (
        "unit/core/verification/expected/test_asking_gates.py::test_it_has_the_time_of_all_gates"
    ),
    "ProjectSpec.file_scope": (
        "unit/core/verification/expected/test_rules.py::test_the_stricter_of_both_is_asked"
    ),
    "ProjectSpec.append_only": (
        "unit/core/scheduling/test_schedule.py"
        "::test_files_that_are_only_added_to_keep_nobody_waiting"
    ),
    "ProjectSpec.protect_tests": (
        "unit/core/verification/expected/test_rules.py::test_the_stricter_of_both_is_asked"
    ),
    "ProjectSpec.collect_tests": (
        "unit/core/verification/test_collected_tests.py"
        "::test_another_command_is_another_question_in_another_form"
    ),
    "ProjectSpec.models": (
        "unit/core/verification/expected/test_asking_gates.py::test_two_gates_may_ask_two_models"
    ),
    "ProjectSpec.merge": (
        "unit/core/plans/test_begin.py::test_how_a_plan_delivers_is_written_down_when_it_begins"
    ),
    "ProjectSpec.attestation": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "ProjectSpec.limits": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_project_says_how_long_a_session_of_each_scope_may_take"
    ),
    "ProjectSpec.budget": (
        "unit/core/scheduling/test_blind_budgets.py"
        "::test_a_model_without_price_starts_unless_a_budget_would_be_blind"
    ),
    "ProjectSpec.retention": "unit/core/tasks/test_retention.py::test_the_project_says_how_long",
    "ProjectSpec.protected_paths": (
        "unit/core/tasks/test_pending.py::test_a_project_that_protects_no_path_has_nobody_asked"
    ),
    "ProjectSpec.approval": (
        "unit/core/approvals/test_bypass.py"
        "::test_a_yes_to_a_gate_is_none_to_the_work_on_another_base"
    ),
    "ProjectSpec.pods": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "ProjectSpec.network": (
        "unit/controllers/test_network_policies.py::test_a_project_says_where_its_git_server_is"
    ),
    "Agent.name": (
        "unit/core/sessions/test_object.py"
        "::test_who_names_no_agent_gets_the_default_one_and_without_that_the_first"
    ),
    "Agent.adapter": (
        "unit/core/plans/test_in_cluster.py"
        "::test_an_agent_may_be_named_by_its_adapter_where_it_is_the_only_one"
    ),
    "Agent.image": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Agent.command": (
        "unit/controllers/jobs/test_commands.py::test_an_agent_runs_the_command_that_was_written"
    ),
    "Agent.models": (
        "unit/core/routing/test_table.py::test_each_tier_may_have_a_model_of_the_agents_own"
    ),
    "Agent.base_url": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Agent.api_key": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Agent.config_map": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Agent.resources": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "TierModels.opus": (
        "unit/core/routing/test_table.py::test_each_tier_may_have_a_model_of_the_agents_own"
    ),
    "TierModels.sonnet": (
        "unit/core/routing/test_table.py::test_each_tier_may_have_a_model_of_the_agents_own"
    ),
    "TierModels.haiku": (
        "unit/core/routing/test_table.py::test_each_tier_may_have_a_model_of_the_agents_own"
    ),
    "Knowledge.name": (
        "unit/controllers/sessions/test_knowledge.py"
        "::test_each_config_map_is_asked_for_once_and_the_order_is_the_projects"
    ),
    "Knowledge.config_map": (
        "unit/controllers/sessions/test_knowledge.py"
        "::test_each_config_map_is_asked_for_once_and_the_order_is_the_projects"
    ),
    "Knowledge.path": (
        "unit/controllers/sessions/test_knowledge.py"
        "::test_each_config_map_is_asked_for_once_and_the_order_is_the_projects"
    ),
    "KnowledgeKey.name": (
        "unit/controllers/sessions/test_knowledge.py"
        "::test_each_config_map_is_asked_for_once_and_the_order_is_the_projects"
    ),
    "KnowledgeKey.key": (
        "unit/core/prompts/test_knowledge.py::test_the_text_under_the_key_is_told_as_it_is"
    ),
    "Limits.max_agents": (
        "unit/controllers/scheduler/test_controller.py"
        "::test_a_claim_whose_answer_is_lost_counts_as_made"
    ),
    "Limits.timeout_seconds": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_project_says_how_long_a_session_of_each_scope_may_take"
    ),
    "Limits.stall_seconds": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Limits.undeclared_files_exclusive": (
        "unit/core/scheduling/test_chain.py"
        "::test_undeclared_files_keep_others_out_only_where_the_project_says_so"
    ),
    "Limits.subtasks": (
        "unit/core/tasks/parts/test_split.py"
        "::test_it_is_split_into_no_more_than_the_project_and_the_plan_have_room_for"
    ),
    "Limits.models_usd_per_task": (
        "unit/core/plans/standstill/test_out_of_money.py"
        "::test_more_money_for_a_plan_helps_no_task_that_the_project_has_limited"
    ),
    "ScopeTimeouts.small": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_project_says_how_long_a_session_of_each_scope_may_take"
    ),
    "ScopeTimeouts.medium": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_project_says_how_long_a_session_of_each_scope_may_take"
    ),
    "ScopeTimeouts.large": (
        "unit/core/scheduling/test_chain.py"
        "::test_a_project_says_how_long_a_session_of_each_scope_may_take"
    ),
    "SubtaskLimits.depth": (
        "unit/core/tasks/parts/test_split.py::test_what_is_split_is_split_again_only_so_often"
    ),
    "SubtaskLimits.count": (
        "unit/core/tasks/parts/test_split.py"
        "::test_it_is_split_into_no_more_than_the_project_and_the_plan_have_room_for"
    ),
    "Budget.on_unpriced": (
        "unit/core/plans/test_enforced.py"
        "::test_where_the_project_denies_that_nothing_starts_and_whoever_submits_it_is_told"
    ),
    "Budget.prices": (
        "unit/core/money/test_spend.py"
        "::test_a_session_at_work_costs_what_it_reports_at_the_projects_price"
    ),
    "Price.model": "unit/core/money/test_calls.py::test_a_price_of_the_project_counts_before",
    "CopiedPrice.model": "unit/core/money/test_calls.py::test_a_price_of_the_project_counts_before",
    "CopiedPrice.input": "unit/core/money/test_spend.py::test_each_kind_of_token_has_its_price",
    "CopiedPrice.output": "unit/core/money/test_spend.py::test_each_kind_of_token_has_its_price",
    "CopiedPrice.cache_read": (
        "unit/core/money/test_spend.py::test_each_kind_of_token_has_its_price"
    ),
    "CopiedPrice.cache_write": (
        "unit/core/money/test_spend.py::test_each_kind_of_token_has_its_price"
    ),
    "Retention.pods_seconds": (
        "unit/controllers/tasks/test_retention.py"
        "::test_finished_pods_stay_as_long_as_the_project_says"
    ),
    "Retention.agent_logs": (
        "unit/core/logs/test_agents.py"
        "::test_that_of_every_attempt_is_kept_at_its_end_where_the_project_keeps_all"
    ),
    "Retention.tasks_seconds": "unit/core/tasks/test_retention.py::test_the_project_says_how_long",
    "Retention.refs_seconds": (
        "unit/core/retention/test_pruning.py::test_a_project_that_keeps_them_for_ever_deletes_none"
    ),
    "Retention.unstarted_sessions": (
        "unit/core/tasks/test_unstarted.py::test_the_project_says_how_many"
    ),
}
