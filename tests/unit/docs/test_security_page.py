"""The page on security: whatever it says is shown by a test names a test that there is."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from bernstein.core.labels import MANAGED_BY, MANAGER, OURS
from tests.unit.docs.pages import REFERENCE, ROOT, table

PAGE = REFERENCE / "security.md"
ROWS = list(table(PAGE, "Tried, and what stopped it"))


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, functions))


@pytest.mark.parametrize("row", ROWS, ids=[cells[0][:50] for cells in ROWS])
def test_what_was_tried_names_tests_that_there_are(row: list[str]) -> None:
    _, stopped_by, shown_in = row
    named = re.findall(r"`([^`]+)`", shown_in)

    assert stopped_by
    assert named
    for each in named:
        path, _, name = each.partition("::")
        assert name.startswith("test_"), each
        assert name in names_in(path), each
    assert ", ".join(f"`{each}`" for each in named) == shown_in, "nothing else is said there"


def seen_to_work_first() -> list[str]:
    """Files and folders of tests that see an attack work first, as the page names them."""
    words = " ".join(PAGE.read_text().split())
    return re.findall(r"`(tests/[^`]+)`", words.split("Such tests are in ")[1].split(". Of ")[0])


ALONE = {
    "tests/control_plane/chart/test_connections.py": {
        "test_without_the_policy_all_of_them_are_open",
    },
    "tests/control_plane/chart/test_costs.py": {
        "test_it_holds_up_the_api_server_where_a_policy_goes_through_all_labels",
    },
    "tests/control_plane/chart/test_requests.py": {
        "test_twenty_requests_of_one_person_lock_all_out_where_their_author_alone_takes_them_out",
    },
    "tests/e2e/hostile/test_greedy_checks.py": {
        "test_an_end_before_any_test_has_run_is_no_pass_of_the_gate_for_tests",
        "test_what_fills_shared_memory_takes_some_until_it_is_refused",
        "test_what_forks_without_end_meets_the_limit_of_its_pod",
        "test_in_one_pod_what_one_takes_ends_the_other",
        "test_without_a_limit_of_memory_nothing_ends_who_takes_it",
    },
    "tests/e2e/test_chart_network.py": {
        "test_every_pod_reaches_the_operator_only_where_its_policy_is_taken_away",
    },
    "tests/model/approvals/test_bypasses.py": {
        "test_without_the_binding_the_model_finds_a_bypass_of_something_else",
    },
    "tests/perf/memory/test_managed_fields.py": {
        "test_parsed_the_largest_metadata_takes_many_times_its_bytes",
    },
    "tests/programs/pods/git/test_line_counts.py": {
        "test_a_configuration_that_takes_the_square_of_its_length_is_not_parsed",
        "test_many_configurations_that_are_slow_to_read_are_not_all_read",
    },
    "tests/programs/pods/programs/formatting/test_formatted_work.py": {
        "test_settings_come_from_the_pinned_commit",
    },
    "tests/programs/pods/programs/merging/test_attest.py": {
        "test_what_somebody_else_has_put_there_is_overwritten",
    },
    "tests/programs/pods/programs/test_judge.py": {
        "test_50_mb_that_are_taken_away_keep_the_judge_from_its_verdict_only_where_nobody_cuts_them",
        "test_a_link_is_shown_as_a_link_and_not_followed",
        "test_a_model_that_obeys_its_data_is_told_nothing_by_it_unless_a_mark_is_known_and_let_pass",
        "test_a_yes_to_what_was_not_shown_is_a_persons_to_give",
        "test_attributes_of_the_tree_hide_nothing",
        "test_what_calls_itself_generated_is_shown_all_the_same",
    },
    "tests/programs/pods/git/test_bounds.py": {
        "test_of_megabytes_that_a_hook_says_the_beginning_and_the_end_are_kept",
    },
    "tests/programs/pods/git/test_no_credential_elsewhere.py": {
        "test_a_redirect_at_any_step_is_followed_nowhere",
        "test_a_server_without_git_names_no_other_one_that_objects_are_fetched_from",
    },
    "tests/programs/pods/programs/test_judge_of_reviews.py": {
        "test_a_reviewer_that_obeys_its_data_approves_only_where_a_mark_is_known_and_let_pass",
    },
    "tests/programs/pods/programs/test_judge_of_tests.py": {
        "test_a_change_has_a_test_written_that_proves_nothing_only_where_a_mark_is_known_and_let_pass",
    },
    "tests/programs/pods/session/test_session.py": {
        "test_what_a_commit_of_the_repository_says_of_an_end_is_not_taken",
    },
    "tests/programs/pods/programs/recorder/test_documents.py": {
        "test_a_link_to_a_file_of_the_recorders_own_brings_it_out_only_where_it_is_followed",
    },
    "tests/unit/controllers/sessions/test_knowledge.py": {
        "test_what_another_agent_was_told_is_told_only_where_nobody_looks_whose_it_is",
    },
    "tests/unit/core/documents/test_values.py": {
        "test_without_our_bounds_they_are_errors_of_other_kinds_or_values_that_are_no_json",
    },
    "tests/unit/kube/answers/test_documents.py": {
        "test_the_parser_alone_goes_through_no_thousands_of_levels",
    },
}
"""Files of which these tests alone see an attack work first; the others try other things."""


def sees_it_work_first(named: str) -> bool:
    path, _, name = named.partition("::")
    if path in ALONE:
        return name in ALONE[path]
    return any(path == seen or path.startswith(f"{seen}/") for seen in seen_to_work_first())


def test_where_attacks_are_seen_to_work_first_there_are_tests() -> None:
    named = seen_to_work_first()

    assert [path for path in named if not (ROOT / path).exists()] == []
    assert named == list(dict.fromkeys(named))
    assert set(named) >= ALONE.keys()
    assert [path for path, tests in ALONE.items() if not tests <= names_in(path)] == []


NOT_SEEN_TO_WORK = {
    "a check that makes 50,000 files": "each does what it says, or its verdict is another one; it "
    "is let do so, and nobody looks at what it has written",
}
"""What was tried without being seen to work first, and why it cannot or need not be."""


@pytest.mark.parametrize("row", ROWS, ids=[cells[0][:50] for cells in ROWS])
def test_what_was_tried_names_a_test_that_sees_it_work_first(row: list[str]) -> None:
    works = any(map(sees_it_work_first, re.findall(r"`([^`]+)`", row[2])))
    excused = [tried for tried in NOT_SEEN_TO_WORK if tried in row[0]]

    assert works or excused, "name a test that sees it work where the protection is taken off"
    assert not (works and excused), f"{excused} is seen to work: it needs no exception"


def test_every_exception_is_one_row() -> None:
    tried = [row[0] for row in ROWS]

    assert [e for e in NOT_SEEN_TO_WORK if sum(e in each for each in tried) != 1] == []
    assert all(NOT_SEEN_TO_WORK.values())


IN_FULL = ("tests/programs/", "tests/control_plane/", "tests/e2e/")
"""Where a payload meets the real program, the real API server, or a real pod."""


@pytest.mark.parametrize("row", ROWS, ids=[cells[0][:50] for cells in ROWS])
def test_what_was_tried_is_tried_on_more_than_a_decision(row: list[str]) -> None:
    named = re.findall(r"`([^`]+)`", row[2])

    assert any(each.startswith(IN_FULL) for each in named), row[0]


def test_every_admission_policy_of_the_chart_has_its_row() -> None:
    folder = ROOT / "charts/bernstein/templates/admission"
    policies = {f"bernstein-{file.stem}" for file in folder.glob("*.yaml")}
    rows = " ".join(cells[1] for cells in table(PAGE, "What the API server enforces"))

    assert policies == set(re.findall(r"admission policy `([^`]+)`", rows))


def test_the_labels_that_policies_guard_are_those_that_the_page_names() -> None:
    helpers = (ROOT / "charts/bernstein/templates/_helpers.tpl").read_text()
    guarded = helpers.split('define "bernstein.ourLabels"')[1].split("{{- end")[0]
    said = PAGE.read_text().split('"Labels of ours" are')[1].split(". What else")[0]

    names = set(re.findall(rf"'{OURS}([a-z-]+)'", guarded))
    assert names == set(re.findall(r"`([a-z-]+)`", said))
    assert names


def test_the_label_to_leave_out_of_a_selector_is_that_of_our_pods() -> None:
    assert f"`{MANAGED_BY}: {MANAGER}`" in PAGE.read_text()


@pytest.mark.parametrize(
    "setting", ["podPidsLimit", "kernel.yama.ptrace_scope", "nodefs.inodesFree"]
)
def test_what_no_pod_can_limit_is_said_with_the_nodes_setting_that_can(setting: str) -> None:
    limits = PAGE.read_text().split("## Known limits")[1]

    assert f"`{setting}`" in limits
