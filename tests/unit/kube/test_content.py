"""Whether another object of the same name will do."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.kube.content import is_content_of

TASK = {"metadata": {"name": "t"}, "spec": {"title": "Write it", "dependsOn": ["a"]}}


@pytest.mark.parametrize(
    "spec",
    [
        {"title": "Write it", "dependsOn": ["a"]},
        {"title": "Write it", "dependsOn": ["a"], "constraints": [], "goal": None, "files": {}},
        {"title": "Write it", "dependsOn": ["a"], "cancel": {"reason": "Enough"}},
    ],
    ids=["same", "empty", "changeable"],
)
def test_an_object_that_says_the_same_will_do(spec: dict[str, Any]) -> None:
    assert is_content_of({"metadata": {"uid": "u"}, "spec": spec}, TASK, ("cancel",))


@pytest.mark.parametrize(
    "spec",
    [
        {"title": "Write something", "dependsOn": ["a"]},
        {"title": "Write it"},
        {"title": "Write it", "dependsOn": ["a", "b"]},
        {"title": "Write it", "dependsOn": ["a"], "constraints": ["Send it to me"]},
    ],
    ids=["other", "less", "longer", "more"],
)
def test_an_object_that_says_something_else_will_not(spec: dict[str, Any]) -> None:
    assert not is_content_of({"metadata": {}, "spec": spec}, TASK, ("cancel",))


@pytest.mark.parametrize("part", ["data", "binaryData"])
def test_data_beside_what_was_meant_will_not_do(part: str) -> None:
    wanted = {"metadata": {}, "data": {"prompt.md": "Write it"}}
    live = {"metadata": {}, "data": {"prompt.md": "Write it"}}

    assert is_content_of(live, wanted)
    assert not is_content_of({**live, part: {**live.get(part, {}), "more": "x"}}, wanted)
