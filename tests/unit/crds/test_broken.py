"""Rules in CEL are judged without an API server as it judges them: by the examples of its tests."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein import crds
from tests.control_plane.api.rule_examples import IMAGES, PAIRS, STATIC, Rule, placed
from tests.control_plane.objects import valid

SCHEMAS = {kind.name: crds.object_schema(kind.model) for kind in crds.KINDS}


def broken(data: dict[str, Any]) -> list[tuple[str, str]]:
    return list(crds.broken(SCHEMAS[data["kind"]], data))


@pytest.mark.parametrize("rule", STATIC, ids=str)
def test_a_rule_lets_through_and_refuses_what_it_does_in_a_cluster(rule: Rule) -> None:
    pair = PAIRS[rule.message]
    place = f"{rule.path.replace('[]', '[0]')}{rule.field}"

    assert broken(placed(rule, "default", pair.good)) == []
    for bad in pair.bad:
        assert broken(placed(rule, "default", bad)) == [(place, rule.message)], bad


def test_images_are_taken_in_all_of_their_forms() -> None:
    agents = [{"name": f"a{n}", "adapter": "demo", "image": i} for n, i in enumerate(IMAGES)]

    assert broken(valid("Project", "default", agents=agents)) == []


def test_a_rule_sees_what_the_api_server_fills_in() -> None:
    """`gates.enabled` is true where nothing is said of it."""
    asks: dict[str, Any] = {"pipeline": [{"name": "review_rubric"}]}
    off = {"enabled": False, **asks}

    assert [path for path, _ in broken(valid("Project", "default", gates=asks))] == ["spec.models"]
    assert broken(valid("Project", "default", gates=off)) == []


def test_rules_about_a_change_are_passed_over() -> None:
    """A new object has no old one."""
    assert broken(valid("Task", "default", cancel={"reason": "Enough"})) == []


def test_a_status_breaks_no_rule() -> None:
    """The API server drops it from a new object."""
    assert broken({**valid("Task", "default"), "status": {"state": "Closed"}}) == []
