"""Recorded answers have the shape that the forges publish, and all refusals are among them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.unit.forges.shapes import SHAPES, route, unused

FOLDER = Path(__file__).with_name("recordings")
FORGES = pytest.mark.parametrize("forge", SHAPES)


def exchanges(forge: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The cases, with each request and its answer, but for answers that are none of a forge's."""
    for path in sorted((FOLDER / forge).iterdir()):
        for case in json.loads(path.read_text()):
            if case.get("error", {}).get("reason") != "ForgeAnswerInvalid":
                for each in case["exchanges"]:
                    yield f"{path.stem}, {case['name']}", each["request"], each["response"]


@FORGES
def test_what_is_read_of_an_answer_is_as_the_forge_publishes_it(forge: str) -> None:
    routes = set()
    for case, request, response in exchanges(forge):
        if response["status"] >= 400:
            continue
        called = route(request["method"], request["url"])
        routes.add(called)
        try:
            jsonschema.validate(response["body"], SHAPES[forge][called])
        except jsonschema.ValidationError as error:
            where = "/".join(map(str, error.absolute_path))
            pytest.fail(f"{case}: {called}: {where}: {error.message}")
    assert not unused(forge, routes)


@FORGES
def test_a_refusal_says_why_in_words(forge: str) -> None:
    for case, _, response in exchanges(forge):
        # What stands before GitLab may limit without a word.
        if response["status"] >= 400 and response["status"] != 429:
            body = response["body"]
            words = body.get("message") or body.get("error") if isinstance(body, dict) else body
            assert words, case


@pytest.mark.parametrize(
    ("forge", "status", "headers"),
    [
        ("github", 401, ()),
        ("github", 403, ("retry-after",)),
        ("github", 403, ("x-ratelimit-remaining", "x-ratelimit-reset")),
        ("github", 403, ("x-accepted-github-permissions",)),
        ("github", 404, ()),
        ("github", 422, ()),
        ("gitlab", 401, ()),
        ("gitlab", 403, ()),
        ("gitlab", 404, ()),
        ("gitlab", 409, ()),
        ("gitlab", 422, ()),
        ("gitlab", 429, ("retry-after",)),
        ("gitlab", 429, ("ratelimit-remaining", "ratelimit-reset")),
    ],
)
def test_every_limit_and_refusal_is_recorded(
    forge: str, status: int, headers: tuple[str, ...]
) -> None:
    assert any(
        response["status"] == status and set(headers) <= response.get("headers", {}).keys()
        for _, _, response in exchanges(forge)
    )
