"""Templates of prompts: what they may say, what is wrong with them, what comes out of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.roles import template
from bernstein.core.roles.template import LONGEST, MOST_PLACES, MOST_PROBLEMS, NAMES

names = st.sampled_from(NAMES)
values = st.dictionaries(names, st.text(max_size=60), max_size=len(NAMES))
plain = st.text(st.characters(blacklist_characters="{}"), max_size=40)
places = names.map(lambda name: f"{{{{{name}}}}}")


@st.composite
def conditions(draw: st.DrawFn) -> str:
    name = draw(names)
    within = "".join(draw(st.lists(plain | places, max_size=3)))
    return f"{{{{#IF {name}}}}}{within}{{{{/IF}}}}"


valid = st.lists(plain | places | conditions(), max_size=8).map("".join)
anything = st.lists(
    plain
    | places
    | st.sampled_from(["{{", "}}", "{{#IF ", "{{/IF}}", "{", "}", "{{NOBODY}}", "\n"]),
    max_size=30,
).map("".join)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("Do {{TASK_NAME}}.", 1, 4, "unknown name 'TASK_NAME', must be one of [TASK_TITLE, "),
        (
            "Do:\n\n  {{task_title}}",
            3,
            3,
            "unknown name 'task_title': write TASK_TITLE, in capitals",
        ),
        ("{{ FILES }}", 1, 1, "unknown name ' FILES ': write FILES"),
        ("{{#IF NOBODY}}x{{/IF}}", 1, 1, "unknown name 'NOBODY'"),
        ("{{}}", 1, 1, "unknown name ''"),
        ("a\n{{#IF GOAL}}for {{GOAL}}", 2, 1, "{{#IF GOAL}} has no end: write {{/IF}}"),
        ("{{/IF}}", 1, 1, "{{/IF}} ends nothing"),
        (
            "{{#IF GOAL}}\n{{#IF FILES}}{{/IF}}{{/IF}}",
            2,
            1,
            "conditions cannot lie in each other: end that of line 1",
        ),
        ("a {{ b\n}}", 1, 3, "'{{' begins a place that has no end"),
        ("style={{{color: red}}}", 1, 7, "unknown name '{color: red'"),
        ("{{" + "A" * 41 + "}}", 1, 1, "'{{' begins a place that has no end"),
        ("{{#ELSE}}", 1, 1, "unknown name '#ELSE'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    text: str, line: int, column: int, words: str
) -> None:
    problem = template.problems(text)[0]

    assert (problem.line, problem.column) == (line, column)
    assert problem.message.startswith(words)
    assert str(problem).startswith(f"line {line}, column {column}: ")


def test_all_problems_are_told_in_their_order_up_to_a_number() -> None:
    text = "{{#IF GOAL}}\n" + "{{NOBODY}}\n" * 50

    found = template.problems(text)

    assert len(found) == MOST_PROBLEMS
    assert [p.line for p in found] == list(range(1, MOST_PROBLEMS + 1))


def test_a_template_has_so_many_places_and_no_more() -> None:
    assert template.problems("{{ROLE}}" * MOST_PLACES) == ()
    (problem,) = template.problems("{{ROLE}}" * (MOST_PLACES + 2))
    assert "more than 100 places" in problem.message


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("{{TASK_DESCRIPTION}}", True),
        ("{{#IF TASK_DESCRIPTION}}{{TASK_DESCRIPTION}}{{/IF}}", True),
        ("{{TASK_TITLE}}", False),
        ("{{#IF GOAL}}{{TASK_DESCRIPTION}}{{/IF}}", False),
        ("{{#IF TASK_DESCRIPTION}}there is one{{/IF}}", False),
    ],
)
def test_what_is_needed_has_to_be_told_wherever_there_is_any(text: str, is_told: bool) -> None:
    found = template.problems(text, needs="TASK_DESCRIPTION")

    assert (found == ()) == is_told
    assert template.problems(text) == ()


def test_values_are_put_in_their_places_and_conditions_ask_for_one() -> None:
    text = "{{TASK_TITLE}}{{#IF GOAL}} for {{GOAL}}{{/IF}}{{#IF REPO}} in {{REPO}}{{/IF}}."

    assert template.filled(text, {"TASK_TITLE": "Do it", "REPO": "app"}) == "Do it in app."
    assert template.filled(text, {"TASK_TITLE": "Do it", "GOAL": "all"}) == "Do it for all."


def test_what_a_value_says_is_never_read_as_a_template() -> None:
    values = {"TASK_DESCRIPTION": "{{GOAL}}{{/IF}}{{#IF REPO}}", "GOAL": "secret"}

    assert template.filled("{{TASK_DESCRIPTION}}!", values) == "{{GOAL}}{{/IF}}{{#IF REPO}}!"


def test_what_comes_out_is_bounded_and_says_so() -> None:
    made = template.filled("{{FILES}}" * MOST_PLACES, {"FILES": "ä" * 16_000})

    assert LONGEST - 200 < len(made.encode()) <= LONGEST
    assert made.endswith("(Cut here: a template that is filled has at most 65,536 bytes.)")


@given(valid, values)
def test_a_template_of_places_and_conditions_is_valid_and_none_of_them_is_left(
    text: str, given_values: dict[str, str]
) -> None:
    told = {name: value.replace("{", "").replace("}", "") for name, value in given_values.items()}

    assert template.problems(text) == ()
    assert "{{" not in template.filled(text, told)


@given(anything, values)
def test_any_text_is_judged_and_filled_without_an_error(
    text: str, given_values: dict[str, str]
) -> None:
    found = template.problems(text)
    made = template.filled(text, given_values)

    assert list(found) == sorted(found)
    rows = text.split("\n")
    assert all(1 <= p.line <= len(rows) and p.column <= len(rows[p.line - 1]) + 1 for p in found)
    assert len(made.encode("utf-8", "replace")) <= LONGEST


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=200))
def test_one_value_comes_out_as_it_is(value: str) -> None:
    assert template.filled("<{{TASK_TITLE}}>", {"TASK_TITLE": value}) == f"<{value}>"


@given(plain, plain, st.text(min_size=1, max_size=5))
def test_what_stands_in_a_condition_is_there_exactly_where_there_is_a_value(
    outside: str, within: str, value: str
) -> None:
    text = f"<{outside}{{{{#IF GOAL}}}}{within}{{{{/IF}}}}>"

    assert template.filled(text, {"GOAL": value}) == f"<{outside}{within}>"
    assert template.filled(text, {"GOAL": ""}) == f"<{outside}>"
