"""Sessions: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "AgentSessionSpec.task_ref": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.plan_ref": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.project": (
        "unit/controllers/sessions/test_usage_metrics.py"
        "::test_it_has_the_role_of_its_task_and_the_tier_of_its_model"
    ),
    "AgentSessionSpec.attempt": (
        "control_plane/controllers/test_outcomes.py"
        "::test_a_retry_is_told_why_the_attempt_before_was_rejected"
    ),
    "AgentSessionSpec.number": (
        "unit/cli/commands/tasks/prompt/test_prompt.py::test_a_session_is_found_by_its_number"
    ),
    "AgentSessionSpec.agent": (
        "unit/core/test_newer_words.py"
        "::test_a_session_whose_agent_the_project_has_no_more_is_not_launched"
    ),
    "AgentSessionSpec.adapter": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.model": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.effort": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.price": (
        "unit/core/sessions/test_object.py"
        "::test_a_session_is_counted_at_the_price_of_the_time_when_it_was_made"
    ),
    "AgentSessionSpec.base_ref": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.work_ref": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.resume_ref": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.resume_sha": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.rejected": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.documents": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.timeout_seconds": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "AgentSessionSpec.role_digest": (
        "unit/controllers/sessions/test_launch.py"
        "::test_of_a_role_that_is_another_by_now_the_word_of_then_counts"
    ),
    "AgentSessionSpec.stop": "unit/core/sessions/test_born.py::test_a_stop_is_told_at_once",
    "TaskRef.name": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "TaskRef.uid": (
        "unit/core/sessions/test_settled.py"
        "::test_without_a_plan_a_session_is_settled_by_its_task_or_when_that_is_gone"
    ),
    "PlanRef.name": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "PlanRef.uid": (
        "unit/core/money/test_spend.py"
        "::test_a_new_task_of_the_same_name_is_told_from_the_deleted_one"
    ),
    "RejectedWork.ref": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "RejectedWork.sha": (
        "unit/controllers/jobs/agent/test_said.py::test_another_word_of_the_session_is_in_its_pod"
    ),
    "Stop.reason": (
        "unit/core/sessions/test_outcome.py::test_a_stop_that_was_asked_for_is_the_reason"
    ),
}
