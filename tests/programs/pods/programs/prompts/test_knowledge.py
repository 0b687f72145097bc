"""What a Project tells all its agents, in the prompt that the pod puts together with real git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.core.prompts import knowledge
from bernstein.core.prompts.assembly import Told
from tests.programs.pods.programs.prompts.given import CUT_OFF, WORK, Prompts, block
from tests.programs.pods.programs.prompts.test_again import again, clone

pytestmark = pytest.mark.verification
__all__ = ["clone"]

RULES = Told("rules", "\tafter a tab\r\nblanks  \n\n\u00df\u202e\n")
LOST = Told("terms", None, "it could not be read: there is no ConfigMap 'terms'")


def of_file(name: str, path: str) -> Told:
    return Told(name, None, path=path)


def test_files_are_those_of_the_commit_that_the_agent_begins_with(
    prompts: Prompts, clone: Callable[..., Path]
) -> None:
    base = prompts.origin.commit({"docs/a.md": "web calls core\n"}, ref="refs/heads/main")

    text = prompts.of(told=(RULES, of_file("layers", "docs/a.md"), LOST))
    prompts.origin.commit({"docs/a.md": "moved on\n"}, base, ref="refs/heads/main")

    assert block(text, "knowledge rules") == "\tafter a tab\nblanks  \n\n\u00df"
    assert block(text, "knowledge layers (docs/a.md)") == "web calls core"
    assert block(text, "unread knowledge") == f"- terms: {LOST.why}"
    assert prompts.given.knowledge_missing == (f"terms: {LOST.why}",)
    assert again(prompts, clone()).text == text, "who reads it later reads the same"


def test_of_config_maps_alone_it_is_put_together_again_without_a_clone(prompts: Prompts) -> None:
    prompts.origin.commit({"a": "1\n"}, ref="refs/heads/main")
    text = prompts.of(told=(RULES, LOST))

    assert again(prompts, None).text == text


def test_what_an_agent_has_written_of_it_is_not_told_before_it_has_landed(prompts: Prompts) -> None:
    tip = prompts.origin.commit({"rules.md": "Be kind.\n"}, ref="refs/heads/main")
    prompts.origin.commit({"rules.md": "Obey me.\n"}, tip, ref=WORK)

    text = prompts.of(texts=CUT_OFF, resume=WORK, told=(of_file("rules", "rules.md"),))

    assert "are there already" in text, "its own files are the agent's"
    assert block(text, "knowledge rules (rules.md)") == "Be kind."
    assert "Obey me" not in text


def test_whatever_is_at_a_path_ends_nothing_and_is_said(prompts: Prompts, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("s3cret")
    prompts.origin.commit(
        {
            "link": f"->{secret}",
            "folder/a": "a\n",
            "latin": b"caf\xe9\n",
            "binary": b"a\0b",
            "empty": "",
            "big": "x" * 66_560,
            "module": "!" + "1" * 40,
        },
        ref="refs/heads/main",
    )
    told = {
        "link": "it is a symbolic link, which is not followed",
        "folder": "it is a folder",
        "latin": "it is no text in UTF-8",
        "binary": "it is no text",
        "empty": "it is empty",
        "big": "66,560 bytes are too many for a prompt: read it in the current folder",
        "module": "it is a submodule, whose files are not here",
        "absent": "there is no such file in the commit that you begin with",
        "../token": "it is not in the repository: paths are relative to its root",
    }

    text = prompts.of(told=[of_file(f"n{n}", path) for n, path in enumerate(told)])

    assert block(text, "unread knowledge").splitlines() == [
        f"- n{n} ({path}): {why}" for n, (path, why) in enumerate(told.items())
    ]
    assert "s3cret" not in text
    assert "begin: knowledge" not in text
    assert "n0: it is a symbolic link, which is not followed" in prompts.given.knowledge_missing


def test_sixteen_that_are_missing_and_forty_that_are_cut_fit_the_message(prompts: Prompts) -> None:
    files = {f"{n:02}{chr(0x1F600) * 60}": f"{n}\n" * 9000 for n in range(40)}
    prompts.origin.commit(dict(files), ref="refs/heads/main")
    told = [of_file(f"{n:02}{'n' * 61}", f"{n}{chr(0x1F600) * 60}") for n in range(16)]

    prompts.of(*files, told=told)

    assert prompts.given.knowledge_missing[-1].startswith("and ")
    assert prompts.given.cut[-1].startswith("and ")


def test_a_carriage_return_alone_is_the_same_to_whoever_reads_it(prompts: Prompts) -> None:
    """As the pod reads a file, and the command line what the API server has."""
    prompts.origin.commit({"a": "1\n"}, ref="refs/heads/main")

    text = prompts.of(told=(Told("rules", "a\rb\r\nc\x85d\n"),))

    assert again(prompts, None).text == text
    assert prompts.content[knowledge.key("rules")] == "a\rb\r\nc\x85d\n"
