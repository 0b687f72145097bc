"""Every gate and signal of the registry accepts and rejects somewhere in real pods."""

from __future__ import annotations

from collections import Counter

import pytest

from bernstein.checks import gates, signals
from tests.e2e.gates import groups
from tests.unit.rooms import ROOT

AT_ROOT = {"import_cycle": "p"}
NAMES = [gate.name for gate in gates.GATES] + [kind.type for kind in signals.SIGNALS]


def test_each_is_shown_in_one_place() -> None:
    in_groups = [name for group in groups.GROUPS.values() for name in group]

    shown = Counter([*in_groups, *groups.SIGNALS, *groups.ELSEWHERE])

    assert shown == Counter(NAMES)
    assert {*groups.FAIL_FOR} == {*groups.SIGNALS}


@pytest.mark.parametrize("name", groups.ELSEWHERE)
def test_what_is_shown_elsewhere_has_tests_there_that_accept_and_reject(name: str) -> None:
    file, accepts, rejects = groups.ELSEWHERE[name]
    text = (ROOT / file).read_text()
    assert name in text
    assert all(f"def {test}(" in text for test in (accepts, rejects))


@pytest.mark.parametrize("group", groups.GROUPS)
def test_work_of_a_group_changes_something_for_each_of_its_gates(group: str) -> None:
    for work in (groups.good(group), groups.bad(group)):
        folders = {path.partition("/")[0] for path in work.writes}
        assert folders == {AT_ROOT.get(name, name) for name in groups.GROUPS[group]}
