"""By whom the commits are that Jobs of a Project make."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bernstein.api.programs.commit import CommitText
from bernstein.api.projects.commits import EMAIL_PATTERN, NAME_PATTERN
from bernstein.controllers.jobs import commit
from tests.patterns import in_python
from tests.unit.controllers.jobs import built
from tests.unit.core import objects

MESSAGE = "Do work\n\nBernstein-Task: team/work\n"
ADA = {"name": "Ada", "email": "ada@example.com"}
ROBOT = {"name": "Robot", "email": "robot@example.com"}


def _is_ours(container: built.Object) -> bool:
    return built.program(container) is not None


def _text(**asked: Any) -> CommitText:
    return commit.text(objects.project(merge={"strategy": "direct", "commit": asked}), MESSAGE)


def test_commits_of_a_project_that_names_nobody_are_ours() -> None:
    made = commit.text(built.PLAIN, MESSAGE)

    assert made == CommitText(MESSAGE)
    assert made.committed_by == ("Bernstein", "bernstein@bernstein.dev")


def test_the_author_commits_too_where_no_committer_is_named() -> None:
    made = _text(author=ADA)

    assert (made.author, made.email) == ("Ada", "ada@example.com")
    assert made.committed_by == ("Ada", "ada@example.com")
    assert made.message == MESSAGE


def test_a_committer_alone_leaves_the_author_ours() -> None:
    made = _text(committer=ROBOT)

    assert made.author == "Bernstein"
    assert made.committed_by == ("Robot", "robot@example.com")


def test_the_committer_signs_off_below_the_other_trailers() -> None:
    made = _text(author=ADA, committer=ROBOT, signOff=True)

    assert made.message == MESSAGE + "Signed-off-by: Robot <robot@example.com>\n"


@pytest.mark.parametrize("name", ["agent-full", "format-full", "prepare-full"])
def test_every_commit_of_agents_and_merges_is_by_whom_the_project_names(name: str) -> None:
    found = [json.loads(built.configuration(c)) for c in built.containers(name) if _is_ours(c)]
    texts = [each["commit"] for each in found if "commit" in each]

    assert [(text["author"], text["committer"]) for text in texts] == [("Ada", "Robot")]
    (text,) = texts
    assert text["message"].endswith("\nSigned-off-by: Robot <robot@example.com>\n")


@pytest.mark.parametrize(
    "name", ["a\nb", "a\rb", "a\0", "a<b", "b>", "\x1b[31m", "a\u202eb", "a\u2028b", "a\u200bb"]
)
def test_no_name_ends_the_line_of_a_commit_or_deceives_its_reader(name: str) -> None:
    assert re.search(in_python(NAME_PATTERN), name) is None


@pytest.mark.parametrize(
    ("email", "good"),
    [
        ("ada@example.com", True),
        ("41898282+robot[bot]@users.noreply.example.com", True),
        ("a@b", True),
        ("ada@example.com\n", False),
        ("ada> <x@example.com", False),
        ("ada @example.com", False),
        ("@example.com", False),
        ("a@b@c", False),
        ("a@-b", False),
        (".a@b", False),
    ],
)
def test_an_address_is_one_and_plain(email: str, good: bool) -> None:
    assert (re.search(in_python(EMAIL_PATTERN).replace("$", r"\Z"), email) is not None) == good
