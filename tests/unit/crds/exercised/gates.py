"""Gates and the models that they ask: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "Gates.enabled": (
        "unit/core/verification/expected/test_required.py"
        "::test_gates_can_be_turned_off_but_not_the_signals"
    ),
    "Gates.execution": (
        "unit/core/approvals/test_bypass.py::test_what_was_not_reached_before_is_judged_then"
    ),
    "Gates.max_parallel": (
        "unit/core/tasks/test_cancel.py::test_no_more_checks_are_fenced_than_may_be_at_work"
    ),
    "Gates.timeout_seconds": (
        "unit/core/verification/expected/test_asking_gates.py::test_it_has_the_time_of_all_gates"
    ),
    "Gates.allow_base_failures": (
        "unit/core/verification/test_base.py::test_the_project_may_excuse_what_the_base_fails"
    ),
    "Gates.allow_bypass": (
        "unit/core/approvals/test_bypass.py"
        "::test_a_yes_to_a_gate_is_none_to_the_work_on_another_base"
    ),
    "Gates.cache_enabled": (
        "unit/controllers/gate_caches/test_gate_caches.py"
        "::test_nothing_is_read_where_nobody_asks_for_it"
    ),
    "Gates.cross_model": (
        "unit/core/verification/expected/test_reviews.py"
        "::test_what_is_asked_is_what_the_project_says"
    ),
    "Gates.extends": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_pipeline_that_extends_the_defaults_has_them_first_with_its_settings"
    ),
    "Gates.pipeline": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_pipeline_that_is_given_is_complete_and_in_its_order"
    ),
    "CrossModel.enabled": (
        "unit/core/verification/expected/test_reviews.py"
        "::test_what_is_asked_is_what_the_project_says"
    ),
    "CrossModel.reviewers": (
        "unit/core/verification/expected/test_reviews.py"
        "::test_what_is_asked_is_what_the_project_says"
    ),
    "CrossModel.quorum": (
        "unit/core/verification/expected/test_reviews.py"
        "::test_what_is_asked_is_what_the_project_says"
    ),
    "CrossModel.on_issues": (
        "unit/core/verification/expected/test_reviews.py"
        "::test_it_keeps_work_back_unless_it_is_only_to_be_told"
    ),
    "CrossModel.max_diff_characters": (
        "unit/core/verification/expected/test_reviews.py"
        "::test_what_is_asked_is_what_the_project_says"
    ),
    "CrossModel.max_tokens": (
        "unit/core/verification/expected/test_reviews.py"
        "::test_what_is_asked_is_what_the_project_says"
    ),
    "GateSettings.name": (
        "unit/core/verification/expected/test_required.py"
        "::test_settings_of_a_built_in_gate_change_it"
    ),
    "GateSettings.enabled": (
        "unit/core/verification/expected/test_required.py"
        "::test_settings_of_a_built_in_gate_change_it"
    ),
    "GateSettings.required": (
        "unit/core/verification/expected/test_required.py"
        "::test_settings_of_a_built_in_gate_change_it"
    ),
    "GateSettings.condition": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_gate_whose_condition_is_not_met_is_skipped"
    ),
    "GateSettings.paths": (
        "unit/core/delivery/test_formatting.py::test_no_changed_path_that_it_is_for_is_no_error"
    ),
    "GateSettings.command": (
        "unit/core/verification/expected/test_required.py"
        "::test_settings_of_a_built_in_gate_change_it"
    ),
    "GateSettings.plugin": (
        "unit/core/verification/test_plugins.py"
        "::test_the_image_is_the_toolchains_unless_it_has_its_own"
    ),
    "GateSettings.image": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_gate_of_the_projects_own_runs_its_command_in_its_image"
    ),
    "GateSettings.timeout_seconds": (
        "unit/core/verification/expected/test_required.py"
        "::test_a_gate_of_the_projects_own_runs_its_command_in_its_image"
    ),
    "GateSettings.severity": (
        "unit/core/verification/test_both_trees.py"
        "::test_severity_and_tolerance_are_the_projects_and_part_of_the_question"
    ),
    "GateSettings.database": (
        "unit/core/verification/test_both_trees.py"
        "::test_the_database_is_the_projects_and_part_of_the_question"
    ),
    "GateSettings.tolerance": (
        "unit/core/verification/test_both_trees.py"
        "::test_severity_and_tolerance_are_the_projects_and_part_of_the_question"
    ),
    "GateSettings.minimum_score": (
        "unit/core/verification/expected/test_asking_gates.py"
        "::test_the_score_is_the_projects_and_part_of_the_question"
    ),
    "GateSettings.model": (
        "unit/core/scheduling/test_choices.py"
        "::test_a_gate_that_asks_a_model_starts_no_agent_without_that_one"
    ),
    "GateSettings.block_on_no": (
        "unit/core/verification/expected/test_asking_gates.py"
        "::test_a_no_keeps_back_unless_the_project_says_otherwise"
    ),
    "WeaknessDatabase.url": (
        "unit/core/verification/test_both_trees.py"
        "::test_the_database_is_the_projects_and_part_of_the_question"
    ),
    "WeaknessDatabase.ca": (
        "unit/core/verification/test_both_trees.py"
        "::test_the_database_is_the_projects_and_part_of_the_question"
    ),
    "CollectTests.enabled": (
        "unit/core/verification/test_collected_tests.py"
        "::test_another_command_is_another_question_in_another_form"
    ),
    "CollectTests.command": (
        "unit/core/verification/test_collected_tests.py"
        "::test_another_command_is_another_question_in_another_form"
    ),
    "JudgingModel.name": (
        "unit/controllers/jobs/test_judge_money.py"
        "::test_what_is_answered_already_is_not_put_again_and_its_model_needs_no_key"
    ),
    "JudgingModel.provider": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "JudgingModel.base_url": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "JudgingModel.key": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "JudgingModel.ca": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
}
