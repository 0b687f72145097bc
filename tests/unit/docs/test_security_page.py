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


def test_where_attacks_are_seen_to_work_first_there_are_tests() -> None:
    section = PAGE.read_text().split("## Tried, and what stopped it")[1].split("\n| Tried |")[0]
    named = re.findall(r"`(tests/[^`]+)`", section)

    assert len(named) > 8
    assert [path for path in named if not (ROOT / path).exists()] == []


FIRST_SEEN_TO_WORK = {
    "to hold up the operator": "test_patterns.py",
    "integration ref pushed before the Plan begins": "test_forged_refs.py",
    "to blind `pii_scan`": "test_scans.py",
    "to blind `lint`": "test_lint_gate.py",
    "last words of wide characters": "test_free_failures.py",
    "`.gitignore` of 100,000 rules": "test_walker_limits.py",
    "the operator's token used": "test_policies_off.py",
    "looked for in conditions, Events and logs": "hostile/test_agents_words.py",
    "to be `github.com`": "hostile/test_names.py",
    "`allowBaseFailures` excuses": "hostile/test_verdicts.py",
    "`os._exit(127)`": "hostile/test_verdicts.py",
    "pod deleted once it has failed": "hostile/test_pods_of_others.py",
    "a result of its own": "hostile/test_pods_of_others.py",
    "`blockOwnerDeletion`": "hostile/test_pods_of_others.py",
    "after an approval": "hostile/test_approved_work.py",
    "tokens of other providers": "hostile/test_scans.py",
    "before any check has seen it": "pusher/test_secrets.py",
    "another `LICENSE`": "test_inspect.py",
    "`://` thousands of times": "hostile/test_log.py",
    "writes into the launcher's memory": "test_launcher.py",
    "a verdict forged by an editor": "hostile/test_forgeries.py",
    "another's Plan as its owner": "hostile/test_forgeries.py",
    "prompt's ConfigMap made before": "hostile/test_forgeries.py",
    "a second owner": "test_policies_off.py",
    "takes an agent's pod over": "test_policies_off.py",
    "by which its Job knows it": "test_policies_off.py",
    "finalizer taken off a pod": "test_policies_off.py",
    "kept of its log, deleted early": "test_policies_off.py",
    "added to a pod of ours": "test_policies_off.py",
    "after a `begin` that failed": "test_forged_refs.py",
    "one Task's check connects": "test_network.py",
    "hidden from its judge": "programs/test_judge.py",
    "whose attributes hide its change": "test_checkout_prompt.py",
    "millions of findings": "test_compare_bounds.py",
    "outlives its command": "test_serving.py",
    "before the service does": "test_serving.py",
    "a regular expression for ever": "test_inspect.py",
    "output without end": "hostile/test_log.py",
    "so many lines at its end": "recorder/test_log.py",
    "`# pragma: no cover`": "test_compared_gates.py",
}


@pytest.mark.parametrize(("tried", "shown_in"), FIRST_SEEN_TO_WORK.items())
def test_an_attack_names_the_test_that_sees_it_work_first(tried: str, shown_in: str) -> None:
    rows = [row for row in ROWS if tried in row[0]]

    assert rows
    assert any(shown_in in row[2] for row in rows)


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


@pytest.mark.parametrize("setting", ["podPidsLimit", "kernel.yama.ptrace_scope"])
def test_what_no_pod_can_limit_is_said_with_the_nodes_setting_that_can(setting: str) -> None:
    limits = PAGE.read_text().split("## Known limits")[1]

    assert f"`{setting}`" in limits
