"""What people and scripts are told of a plan, whatever is in it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import PlanSpec
from bernstein.core.outlines import outline as outlines
from bernstein.core.outlines.markdown import markdown
from bernstein.core.outlines.record import outline_record

WORDS = st.text(min_size=1, max_size=40)


def spec(*steps: dict[str, Any], **more: Any) -> PlanSpec:
    return PlanSpec.model_validate({"name": "p", "stages": [{"name": "s", "steps": steps}]} | more)


def facts(spec: PlanSpec) -> dict[str, tuple[str, ...]]:
    return {fact.label: fact.values for fact in outlines.of_file(spec).facts}


def test_what_was_assumed_of_a_step_is_told_from_what_the_plan_says() -> None:
    said, assumed = spec({"title": "a", "estimatedMinutes": 95}, {"title": "b"}).stages[0].steps

    assert (outlines.minutes(said), outlines.minutes(assumed)) == ("1 h 35 min", "30 min assumed")


def test_a_model_that_a_step_names_is_told_from_one_that_was_chosen_for_it() -> None:
    record = outline_record(
        outlines.of_file(spec({"title": "a", "model": "haiku"}, {"title": "b", "model": "auto"}))
    )

    told = [(s["model"], s["model_is_chosen"]) for s in record["stages"][0]["steps"]]
    assert told == [("haiku", True), ("sonnet", False)]


def test_every_field_of_a_step_is_in_the_record() -> None:
    (step,) = outline_record(outlines.of_file(spec({"title": "a"})))["stages"][0]["steps"]

    fields = set(spec({"title": "a"}).stages[0].steps[0].model_dump()) - {"goal"}
    assert fields <= step.keys()


def test_when_people_are_asked_is_told() -> None:
    asks = {
        "plan": "AboveCost",
        "aboveUsd": "2.5",
        "result": "HighRisk",
        "expiresAfterSeconds": 3600,
        "approverIsNotAuthor": True,
    }

    assert facts(spec({"title": "a"}, approval=asks))["approval"] == (
        "the plan needs a yes before it begins, where its estimate is above $2.50",
        "verified work of a high risk needs a yes before it lands",
        "what nobody has decided after 3600 s is rejected",
        "the author may not decide",
        "a Project may ask for more",
    )


def test_that_there_is_no_budget_is_told() -> None:
    assert facts(spec({"title": "a"}))["budget"] == ("no limit",)


def test_no_word_of_a_plan_is_markdown_or_means_something_to_a_forge() -> None:
    hostile = "`|@all [x](https://evil.example) ![y](z) <img src=x> #1\n# h\u202e\x1b[2J ```"
    step = {
        "title": hostile,
        "description": f"{hostile}\n```\n# Out",
        "files": [hostile],
        "completionSignals": [{"type": "test_passes", "command": hostile}],
        "dependsOnRepo": hostile,
        "repo": hostile,
    }
    given = PlanSpec.model_construct(
        **spec(step, constraints=[hostile]).model_copy(update={"name": hostile}).__dict__
    )

    rows = markdown(outlines.of_file(given)).splitlines()

    inside = False
    for row in rows:
        if row.startswith("```"):
            inside = not inside
            assert row in ("```text", "```mermaid", "```")
            continue
        assert "@" not in row
        assert "://" not in row
        plain = "".join(row.split("`")[::2])  # what stands outside of code
        assert inside or not set("<>[]") & set(plain), row
        assert row.count("`") % 2 == 0 or inside, row
    assert not inside
    assert "\x1b" not in "".join(rows)


@given(WORDS, WORDS, st.lists(WORDS, max_size=3))
def test_whatever_words_a_plan_has_it_is_told(title: str, name: str, files: list[str]) -> None:
    step = {"title": title, "description": name, "files": files}
    held = outlines.of_file(PlanSpec.model_construct(**spec(step).__dict__ | {"name": name}))

    assert markdown(held).count("## 1. `s`") == 1
    assert json.loads(json.dumps(outline_record(held)))["stages"][0]["steps"][0]["title"] == title
