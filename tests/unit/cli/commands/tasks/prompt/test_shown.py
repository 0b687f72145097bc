"""What can be told of a prompt from a session, its ConfigMap, and what was put together anew."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.session import AgentSession, Prompt
from bernstein.api.verification import RejectedWork
from bernstein.cli.commands.tasks.prompt.shown import compared, shown_of
from bernstein.cli.errors import CliError
from bernstein.core.prompts import parts
from bernstein.core.prompts.complete import complete
from tests.unit.cli.commands.tasks.prompt.scenes import BASE, CONTENT, MARK, PLAIN, SHA, told_of
from tests.unit.core import objects


def session(**spec: object) -> AgentSession:
    made = objects.session()
    return made.model_copy(update={"spec": made.spec.model_copy(update=spec)})


def given(made: AgentSession, **more: Any) -> AgentSession:
    told = Prompt(**{"digest": "f" * 64, "bytes": 1234, "base": BASE} | more)
    return made.model_copy(update={"status": made.status.model_copy(update={"prompt": told})})


def test_what_the_operator_wrote_is_shown_and_what_the_pod_adds_is_named() -> None:
    rejected = RejectedWork(ref="refs/bernstein/1/a/s1", sha=SHA)
    shown = shown_of(CONTENT, given(session(rejected=rejected)))

    assert not shown.exact
    assert "Task: Do it\nAttempt: 2\n" in shown.text
    assert "\nF401\n" in shown.text
    assert f"- README.md: the pod adds it, as it is in commit {BASE}\n" in shown.text
    assert f"(What commit {SHA} changes, which is at refs/bernstein/1/a/s1" in shown.text
    assert "\x1b" not in shown.text


@pytest.mark.parametrize("resumed", [None, True, False])
def test_of_a_session_that_was_cut_off_it_shows_what_became_of_its_files(
    resumed: bool | None,
) -> None:
    texts = {parts.RESUMED: "They are there.", parts.AFRESH: "They are not."}
    texts[parts.FINDINGS] = "F401"
    made = session(rejected=RejectedWork(ref="refs/bernstein/1/a/s1", sha=SHA))

    text = shown_of(parts.data(texts, []), given(made, resumed=resumed)).text

    assert ("They are not." in text) is (resumed is False)
    assert ("They are there." in text) is (resumed is not False)
    assert ("F401" in text, SHA in text) == (resumed is False, resumed is False)


def test_before_the_pod_has_told_no_commit_is_named() -> None:
    text = shown_of(CONTENT, session()).text

    assert "- README.md: the pod adds it, as in its first commit\n" in text
    assert "rejected change" not in text


def test_a_change_that_the_pod_could_not_show_is_not_promised() -> None:
    made = session(rejected=RejectedWork(ref="refs/bernstein/1/a/s1", sha=SHA))

    text = shown_of(CONTENT, given(made, change_missing="RefMoved")).text

    assert "\n(It cannot be shown: RefMoved.)\n" in text
    assert SHA not in text


def test_a_prompt_that_an_older_release_wrote_is_the_whole() -> None:
    shown = shown_of({"prompt.md": "Task: Do it\n", "callback-ca.crt": "x"}, session())

    assert (shown.text, shown.exact) == ("Task: Do it\n", True)


def test_what_is_no_list_of_paths_is_refused() -> None:
    with pytest.raises(CliError, match="cannot be read"):
        shown_of({"context.json": "{}"}, session())


def test_the_digest_says_whether_it_is_the_same() -> None:
    made = complete(PLAIN, [], "", None, lambda: MARK)
    told = Prompt.model_validate(told_of(made))
    other = told.model_copy(update={"digest": "0" * 64, "parts": {"head": 1200}})

    assert compared(told, made).exact
    assert not compared(other, made).exact
    (first, _) = compared(other, made).notes
    assert "head (1,200 bytes there, 11 here), rules (0 bytes there, 10 here)" in first
    (first, why) = compared(told.model_copy(update={"digest": "0" * 64}), made, partial=True).notes
    assert "of the same length in every part" in first
    assert "--refetch" in why
