"""`bernstein prompt`: what can be told of a prompt from a session and its ConfigMap."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.api.session import AgentSession, Prompt
from bernstein.api.verification import RejectedWork
from bernstein.cli.commands.tasks.prompt import shown_of
from bernstein.cli.errors import CliError
from bernstein.core.prompts import parts
from tests.unit.cli import calls
from tests.unit.core import objects

SHA, BASE = "a" * 40, "b" * 40
CONTENT = parts.data(
    {parts.HEAD: "Task: Do it\nAttempt: 2", parts.FINDINGS: "F401", parts.RULES: "Work here."},
    ["README.md", "a\x1b[2J.py"],
)


def session(**spec: object) -> AgentSession:
    made = objects.session()
    return made.model_copy(update={"spec": made.spec.model_copy(update=spec)})


def given(made: AgentSession) -> AgentSession:
    told = Prompt(digest="f" * 64, bytes=1234, base=BASE)
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
    told = Prompt(digest="f" * 64, bytes=1234, base=BASE, resumed=resumed)
    made = session(rejected=RejectedWork(ref="refs/bernstein/1/a/s1", sha=SHA))
    made = made.model_copy(update={"status": made.status.model_copy(update={"prompt": told})})

    text = shown_of(parts.data(texts, []), made).text

    assert ("They are not." in text) is (resumed is False)
    assert ("They are there." in text) is (resumed is not False)
    assert ("F401" in text, SHA in text) == (resumed is False, resumed is False)


def test_before_the_pod_has_told_no_commit_is_named() -> None:
    text = shown_of(CONTENT, session()).text

    assert "- README.md: the pod adds it, as in its first commit\n" in text
    assert "rejected change" not in text


def test_a_prompt_that_an_older_release_wrote_is_the_whole() -> None:
    shown = shown_of({"prompt.md": "Task: Do it\n", "callback-ca.crt": "x"}, session())

    assert (shown.text, shown.exact) == ("Task: Do it\n", True)


def test_what_is_no_list_of_paths_is_refused() -> None:
    with pytest.raises(CliError, match="cannot be read"):
        shown_of({"context.json": "{}"}, session())


def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "prompt", "..")


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "prompt", "x")
