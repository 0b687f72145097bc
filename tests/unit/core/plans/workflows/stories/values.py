"""Conditions on what a node has left."""

from __future__ import annotations

from bernstein.api.plans.workflow import NodeState
from bernstein.core.documents.values import Json
from tests.unit.core.plans.workflows.stories.story import Outcome, Story


def _decided(condition: str, output: Json, *, holds: bool) -> Story:
    skipped: NodeState = "Skipped"
    return Story(
        f"{condition} {'holds' if holds else 'does not hold'} of {output}",
        f"nodes: {{a: , b: {{depends_on: [{{source: a, condition: {condition!r}}}]}}}}",
        ends={"a": [Outcome(result="all is well", output=output)]},
        order="a#1 b#1" if holds else "a#1",
        states={} if holds else {"b": skipped},
    )


STORIES = (
    _decided("output.tests.failed == 0", {"tests": {"failed": 0}}, holds=True),
    _decided("output.tests.failed == 0", {"tests": {"failed": 1}}, holds=False),
    _decided("output.tests.failed == 0", {"tests": None}, holds=False),
    _decided("output.tests.failed == 0", None, holds=False),
    _decided("output.tests.failed == null", [], holds=True),
    _decided("output.failed < 1", {"failed": "none"}, holds=False),
    _decided("output.failed < 1 or output.failed >= 1", {"failed": True}, holds=False),
    _decided("output.passed == 1", {"passed": True}, holds=False),
    _decided("output.passed", {"passed": True}, holds=True),
    _decided("output[-1].name in result", [{"name": "b"}, {"name": "well"}], holds=True),
    _decided("not (output.kind in [null, 1])", {"kind": "1"}, holds=True),
    _decided("0 <= output <= 10", 10, holds=True),
)
