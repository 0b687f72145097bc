"""What people decide: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "ApprovalSpec.subject": (
        "unit/controllers/approvals/test_controller.py::test_each_move_is_told_once"
    ),
    "ApprovalSpec.asks": (
        "unit/core/approvals/test_bypass.py::test_a_decision_about_anything_else_has_no_effect"
    ),
    "ApprovalSpec.decision": "unit/core/tasks/test_pending.py::test_rejected_work_is_over",
    "ApprovalSpec.decided_by": (
        "unit/core/tasks/test_pending.py"
        "::test_approved_work_goes_on_to_land_by_the_person_who_said_so"
    ),
    "ApprovalSpec.reason": (
        "unit/core/approvals/test_bypass.py"
        "::test_sent_back_it_fails_with_the_persons_words_and_the_verdict"
    ),
    "Asks.attempt": (
        "unit/core/tasks/test_pending.py::test_an_approval_of_another_attempt_has_no_effect"
    ),
    "Asks.work": (
        "unit/core/delivery/test_attestation.py"
        "::test_who_has_approved_exactly_this_work_is_named_and_nobody_else"
    ),
    "Asks.sha": (
        "unit/core/tasks/test_pending.py::test_a_decision_about_something_else_has_no_effect"
    ),
    "Asks.base": (
        "unit/core/approvals/test_bypass.py::test_a_decision_about_anything_else_has_no_effect"
    ),
    "Asks.digest": (
        "unit/core/delivery/test_attestation.py"
        "::test_who_has_approved_exactly_this_work_is_named_and_nobody_else"
    ),
    "Asks.gate": (
        "unit/core/approvals/test_bypass.py::test_a_decision_about_anything_else_has_no_effect"
    ),
    "Asks.phase": (
        "unit/core/plans/nodes/test_people.py"
        "::test_a_phase_waits_for_a_person_while_other_nodes_are_at_work"
    ),
    "Asks.not_by": (
        "unit/core/approvals/test_bypass.py::test_the_author_may_not_where_another_person_must"
    ),
    "Subject.kind": "unit/core/approvals/test_decide.py::test_a_no_says_what_becomes_of_the_work",
    "Subject.name": "unit/controllers/approvals/test_controller.py::test_each_move_is_told_once",
    "Subject.uid": "unit/controllers/approvals/test_controller.py::test_each_move_is_told_once",
    "DecisionPolicy.result": (
        "unit/core/approvals/test_bypass.py"
        "::test_a_yes_to_a_gate_is_none_to_the_work_on_another_base"
    ),
    "DecisionPolicy.expires_after_seconds": (
        "unit/core/tasks/test_pending.py"
        "::test_what_is_decided_after_somebody_has_acted_upon_the_end_does_not_count"
    ),
    "DecisionPolicy.approver_is_not_author": (
        "unit/core/approvals/test_policy.py::test_an_author_is_needed_wherever_he_may_not_decide"
    ),
    "DecisionPolicy.moved_base": (
        "unit/core/tasks/test_pending.py"
        "::test_where_the_policy_keeps_it_the_same_change_goes_on_on_a_moved_base"
    ),
    "ApprovalPolicy.plan": (
        "unit/core/plans/test_approval.py::test_a_plan_is_asked_about_for_its_estimate"
    ),
    "ApprovalPolicy.above_usd": (
        "unit/core/plans/test_approval.py::test_a_plan_is_asked_about_for_its_estimate"
    ),
}
