"""What may change of a Plan, beside what the chart knows of it."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic.alias_generators import to_camel

from bernstein.api.plan import CHANGEABLE, PlanSpec

AUTHORS = "charts/bernstein/templates/admission/authors.yaml"


def test_whoever_changes_any_field_of_a_plan_that_never_ran_becomes_its_author() -> None:
    """All may change then but what may change at any time, and the author."""
    policy = (Path(__file__).resolve().parents[3] / AUTHORS).read_text()
    (listed,) = re.findall(r"- name: otherWork\n.*?\[(.*?)\]\.exists", policy, re.DOTALL)

    work = {to_camel(name) for name in PlanSpec.model_fields} - {*CHANGEABLE, "author"}

    assert set(re.findall(r"'(\w+)'", listed)) == work
