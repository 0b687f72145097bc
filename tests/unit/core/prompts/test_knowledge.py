"""What of a Project's ConfigMaps is told, how it is kept, and why something is not told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.agents.adapter import PROMPT_BYTES
from bernstein.api.projects.knowledge import MOST_KNOWLEDGE, KnowledgeKey
from bernstein.core.prompts import knowledge, parts
from bernstein.core.prompts.assembly import LARGEST, Told, assemble

SOURCE = KnowledgeKey(name="terms", key="a.md")


def config_map(data: Mapping[str, str], **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "terms"}, "data": data, **more}


def test_the_text_under_the_key_is_told_as_it_is() -> None:
    found = config_map({"a.md": "# Terms\r\n\ttab  \n", "b.md": "no"})

    assert knowledge.of_config_map("t", SOURCE, found) == Told("t", "# Terms\r\n\ttab  \n")


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "it could not be read: there is no ConfigMap 'terms'"),
        (config_map({"b": "x"}), "it could not be read: ConfigMap 'terms' has no key 'a.md'"),
        ({"metadata": {}}, "it could not be read: ConfigMap 'terms' has no key 'a.md'"),
        (
            config_map({}, binaryData={"a.md": "/w=="}),
            "'a.md' of ConfigMap 'terms' is no text in UTF-8",
        ),
        (config_map({"a.md": " \n"}), "'a.md' of ConfigMap 'terms' is empty"),
        (
            config_map({"a.md": "x" * (LARGEST + 1)}),
            "65,537 bytes are too many for a prompt: 65,536 at most",
        ),
        (
            {
                "metadata": {"labels": {"app.kubernetes.io/managed-by": "bernstein"}},
                "data": {"a.md": "what another agent was told"},
            },
            "it could not be read: ConfigMap 'terms' is one of Bernstein's own",
        ),
    ],
    ids=["absent", "no key", "no data", "binary", "blank", "large", "ours"],
)
def test_what_cannot_be_told_says_why(found: dict[str, Any] | None, why: str) -> None:
    assert knowledge.of_config_map("t", SOURCE, found) == Told("t", None, why)


def test_the_largest_texts_go_until_a_prompt_has_room_for_the_rest() -> None:
    told = [Told(name, name * size) for name, size in (("a", 60_000), ("b", 60_000), ("c", 9))]

    kept = knowledge.bounded([*told, Told("p", None, path="docs/p")])

    why = "60,000 bytes, for which this prompt has no room"
    assert kept == (told[0], Told("b", None, why), told[2], Told("p", None, path="docs/p"))


NAMES = st.from_regex("[a-z0-9]([-a-z0-9]{0,9}[a-z0-9])?", fullmatch=True)
WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
OF_MAPS = st.builds(Told, NAMES, WORDS.filter(str.strip))
LOST = st.builds(Told, NAMES, st.none(), st.just("it could not be read: no \u2019x\u2019"))
OF_FILES = st.builds(lambda name, path: Told(name, None, path=path), NAMES, WORDS.filter(bool))
TOLD = st.lists(OF_MAPS | LOST | OF_FILES, max_size=MOST_KNOWLEDGE, unique_by=lambda t: t.name)


@given(TOLD)
def test_what_is_kept_is_read_as_it_was_told(told: list[Told]) -> None:
    content = knowledge.data(told)

    assert knowledge.told_in({**content, "head.md": "Task: x"}) == tuple(told)
    assert all(map(knowledge.is_of, content))
    assert {knowledge.key(each.name) for each in told if each.text} <= {*knowledge.keys(content)}


@given(st.lists(st.integers(0, LARGEST), max_size=MOST_KNOWLEDGE))
def test_what_finds_no_room_beforehand_would_find_none_in_a_prompt(sizes: list[int]) -> None:
    told = [Told(f"n{n}", "x" * size) for n, size in enumerate(sizes)]

    kept = knowledge.bounded(told)

    assert sum(len(each.text or "") for each in kept) <= PROMPT_BYTES
    whole = assemble({parts.HEAD: "Task"}, (), lambda: "f" * 24, PROMPT_BYTES, told)
    for each in told:
        if each.text and each not in kept:
            assert f"begin: knowledge {each.name} -----" not in whole.text


@pytest.mark.parametrize(
    "listed", ["{}", "[1]", '[{"name": 1}]', '[{"path": "a"}]', '[{"name": "../../token"}]', "["]
)
def test_a_list_that_the_operator_did_not_write_is_an_error(listed: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        knowledge.told_in({knowledge.LIST: listed})
    assert not knowledge.names_same({knowledge.LIST: listed}, {})


def test_keys_of_a_prompts_other_parts_are_none_of_knowledge() -> None:
    others = [*(part.key for part in parts.WRITTEN), parts.CONTEXT, "callback-ca.crt"]

    assert not any(map(knowledge.is_of, others))
