"""The plan in a model's answer: found wherever it is, made whole, and written as plain YAML."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.drafts.answer import NoPlan, file_name, plan_of, with_defaults, written
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.validation import validate_file

PLAN = """\
name: Add a cache
description: Answers are kept.
stages:
  - name: build
    steps:
      - title: Write the cache
        role: backend
        files: [cache.py]
        completion_signals:
          - {type: path_exists, path: cache.py}
"""
DATA = plan_file.parse(PLAN)


@pytest.mark.parametrize(
    "answer",
    [
        PLAN,
        f"\n\n{PLAN}\n\n",
        f"---\n{PLAN}",
        f"\ufeff{PLAN}".replace("\n", "\r\n"),
        f"```yaml\n{PLAN}```",
        f"```\n{PLAN}```\n",
        f"~~~yml\n{PLAN}~~~",
        f"Here is the plan:\n\n```yaml\n{PLAN}```\n\nDo you want more?",
        f"Run this first:\n```sh\nls\n```\nThen:\n````yaml\n{PLAN}````",
        f"Here is the plan:\n\n{PLAN}",
        f"```yaml\n{PLAN}",
        f"  ```yaml\n{PLAN}  ```",
        '{"name": "Add a cache", "description": "Answers are kept.", "stages": [{"name": "build", '
        '"steps": [{"title": "Write the cache", "role": "backend", "files": ["cache.py"], '
        '"completion_signals": [{"type": "path_exists", "path": "cache.py"}]}]}]}',
    ],
)
def test_a_plan_is_found_whatever_stands_around_it(answer: str) -> None:
    assert plan_of(answer) == DATA


def test_a_fence_within_the_text_of_a_step_is_none_of_the_answer() -> None:
    description = "Write:\n```python\ncache = {}\n```"
    indented = description.replace("\n", "\n          ")
    plan = PLAN.replace("role:", f"description: |\n          {indented}\n        role:")

    for answer in (plan, f"```yaml\n{plan}```"):
        (stage,) = plan_of(answer)["stages"]
        assert stage["steps"][0]["description"].strip() == description


def test_the_line_end_of_a_text_before_a_fence_is_the_texts() -> None:
    plan = "stages: []\ndescription: |\n  One.\n"

    assert plan_of(f"```\n{plan}```")["description"] == "One.\n"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("I cannot help with that.", "it is no mapping with a list 'stages'"),
        ("- a\n- b", "it is no mapping"),
        ("name: x\ndescription: y", "it is no mapping with a list 'stages'"),
        ("stages: none", "it is no mapping with a list 'stages'"),
        ("name: x\nstages: [", "it is no YAML: "),
        (f"{PLAN}---\n{PLAN}", "it is no YAML: "),
        (f"{PLAN}name: twice\n", "duplicate key 'name'"),
        ("name: !!python/object/apply:os.system [ls]\nstages: []", "could not determine a constru"),
        (f"stages: {'[' * 10_000}", "nested deeper than 32"),
        ("stages: &a [*a]", "an alias inside of what it stands for"),
        (f"stages: []\nx: {'y' * 300_000}", "it has more than 262,144 characters"),
        (f"stages: []\ndescription: 0x{'f' * 20_000}", "it holds what cannot be written"),
    ],
)
def test_what_is_no_plan_is_said(answer: str, why: str) -> None:
    begun = time.monotonic()

    with pytest.raises(NoPlan, match=re.escape(why)):
        written(plan_of(answer))
    assert time.monotonic() - begun < 10


LAUGHS = "a0: &a0 [lol, lol]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)
LONG_WORDS = f"stages: []\na: &a {'x' * 2000}\nb: [{', '.join(['*a'] * 5000)}]\n"


@pytest.mark.parametrize("answer", [f"name: x\n{LAUGHS}stages: [*a9]", LONG_WORDS])
def test_aliases_that_stand_for_much_are_not_written_out(answer: str) -> None:
    begun = time.monotonic()

    with pytest.raises(NoPlan, match="with all aliases written out"):
        plan_of(answer)
    assert time.monotonic() - begun < 5


def test_an_alias_that_stands_for_little_is_written_out() -> None:
    plan = plan_of(f"{PLAN}constraints: [&a No new library, *a]\n")

    text = written(plan)

    assert "&" not in text
    assert "*" not in text
    assert plan_file.parse(text) == plan


def test_what_nobody_sees_does_not_get_into_the_file() -> None:
    hidden = '"Add \\u202ea\\u200b \\x1b[31mcache\\uD800"'

    text = written(plan_of(PLAN.replace("Add a cache", hidden).replace("kept.", "kept\u2067.")))

    assert "name: Add a [31mcache\n" in text
    assert "description: Answers are kept.\n" in text


# --- defaults -----------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", "name: ''\ndescription: ' '\n", "name:\ndescription: ~\n"])
def test_a_plan_without_name_and_description_gets_what_was_asked_for(blank: str) -> None:
    plan = with_defaults(plan_of(f"{blank}stages: []"), "Add a cache\nthat forgets\n")

    assert [*plan.items()] == [
        ("name", "Add a cache that forgets"),
        ("description", "Add a cache\nthat forgets"),
        ("stages", []),
    ]


def test_what_the_model_has_said_stays() -> None:
    assert with_defaults(plan_of(PLAN), "Something else") == DATA


def test_a_name_that_is_made_of_many_words_is_cut_behind_one() -> None:
    goal = "word " * 3000

    plan = with_defaults(plan_of("stages: [{name: a, steps: [{title: b}]}]"), goal)

    assert plan["name"] == " ".join(["word"] * 20)
    assert validate_file(plan).errors == ()


@given(st.text(min_size=1, max_size=400))
def test_whatever_was_asked_for_makes_a_name_and_a_description_that_are_valid(goal: str) -> None:
    plan = with_defaults(plan_of("stages: [{name: a, steps: [{title: b}]}]"), f"x{goal}")

    assert validate_file(plan).errors == ()
    assert plan_file.parse(written(plan)) == plan
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*\.yaml", file_name(goal))


# --- the file -----------------------------------------------------------------------------------


def test_it_is_written_as_people_write_it() -> None:
    plan = with_defaults(plan_of(PLAN.replace("Answers are kept.", '"One.\\nTwo. "')), "x")

    assert written(plan, ("For: a\nb", "Read it.")) == (
        "# For: a b\n"
        "# Read it.\n"
        "name: Add a cache\n"
        "description: |-\n"
        "  One.\n"
        "  Two.\n"
        "stages:\n"
        "  - name: build\n"
        "    steps:\n"
        "      - title: Write the cache\n"
        "        role: backend\n"
        "        files:\n"
        "          - cache.py\n"
        "        completion_signals:\n"
        "          - type: path_exists\n"
        "            path: cache.py\n"
    )


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("Add Redis-backed rate limiting", "add-redis-backed-rate-limiting.yaml"),
        ("Überprüfe /etc/../passwd!", "uberprufe-etc-passwd.yaml"),
        ("a " * 100, f"{'-'.join('a' * 24)}.yaml"),
        ("b" * 100, f"{'b' * 48}.yaml"),
        ("加缓存", "plan-"),
        ("...", "plan-"),
    ],
)
def test_its_name_says_what_it_is_for_and_leaves_no_folder(goal: str, name: str) -> None:
    found = file_name(goal)

    assert found == name if name.endswith(".yaml") else found.startswith(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*\.yaml", found)
    assert len(found) <= 53


# --- whatever comes -----------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
KEYS = st.text(max_size=80)
"""In JSON of at most 1,024 characters, as YAML has them."""
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(data=st.dictionaries(KEYS, VALUES, max_size=5), stages=st.lists(VALUES, max_size=4))
def test_whatever_a_plan_holds_it_is_read_as_it_was_written(
    data: dict[str, Any], stages: list[Any]
) -> None:
    plan = with_defaults(plan_of(json.dumps({**data, "stages": stages})), "goal")

    assert plan_file.parse(written(plan)) == plan
    assert plan_of(f"As asked:\n```yaml\n{written(plan)}```\n") == plan


@given(st.text(st.sampled_from("`~ \n-ab:{}[]&*!|>stages\"'#"), max_size=200))
def test_whatever_a_model_says_it_is_a_plan_or_said_to_be_none(answer: str) -> None:
    try:
        plan = plan_of(answer)
    except NoPlan:
        return
    assert plan_file.parse(written(plan)) == plan
    validate_file(with_defaults(plan, answer))
