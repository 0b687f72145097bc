"""Each field of each spec is in a test that goes beyond its schema: one that shows what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pydantic.alias_generators import to_snake

from bernstein import crds
from tests.unit.docs.pages import Schema
from tests.unit.rooms import ROOT

TESTS = ROOT / "tests"
ABOUT_SCHEMAS = ("unit/docs", "unit/crds", "unit/api", "control_plane/api", "control_plane/docs")
"""Folders whose tests show how fields are written, and not what follows from them."""
KINDS = [kind.name for kind in crds.KINDS]


def fields(schema: Schema, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The place of each field, as the words on the way to it."""
    for name, child in schema.get("properties", {}).items():
        yield (*above, name)
        yield from fields(child, (*above, name))
    if "items" in schema:
        yield from fields(schema["items"], above)


@cache
def words() -> tuple[frozenset[str], ...]:
    """Of each such test the words that stand in it."""
    files = (path for path in TESTS.rglob("*.py") if not _is_about_schemas(path))
    return tuple(frozenset(re.findall(r"\w+", path.read_text())) for path in files)


def _is_about_schemas(path: Path) -> bool:
    return path.relative_to(TESTS).as_posix().startswith(ABOUT_SCHEMAS)


def is_exercised(path: tuple[str, ...]) -> bool:
    """Whether a test has the field and the one that it is in, as objects or as files write them."""
    return any(all(_is_in(part, found) for part in path[-2:]) for found in words())


def _is_in(part: str, found: frozenset[str]) -> bool:
    return part in found or to_snake(part) in found


def spec_of(kind: str) -> Schema:
    model = next(each.model for each in crds.KINDS if each.name == kind)
    schema: Schema = crds.object_schema(model)["properties"]["spec"]
    return schema


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_is_there_that_no_test_shows_anything_of(kind: str) -> None:
    found = [*fields(spec_of(kind))]

    assert len(found) > 5
    assert [".".join(path) for path in found if not is_exercised(path)] == []


def test_a_field_that_nobody_has_heard_of_is_found() -> None:
    assert not is_exercised(("gates", "neverHeardOf" + "Before"))
