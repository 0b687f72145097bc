"""The table of the chart's values says what its file says."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.chart.values_table import (
    BEGIN,
    CHART,
    END,
    README,
    VALUES,
    Unexplained,
    Value,
    page_with,
    table,
    values,
)

TEXT = """\
# Its image.
image:
  # Where it is
  # from.
  repository: a
  tag: ""  # or the chart's | version
operator:
  replicas: 2  # how many
    # Of another depth.
  # Labels.
  labels: {}
server:
  replicas: 3
  labels:
    # A group of one.
    a: [1]
"""


def test_a_value_is_said_by_its_comment_or_by_that_of_the_component_before_it() -> None:
    assert values(TEXT) == [
        Value("image", None, "Its image."),
        Value("image.repository", '"a"', "Where it is from."),
        Value("image.tag", '""', "Or the chart's | version"),
        Value("operator.replicas", "2", "How many"),
        Value("operator.labels", "{}", "Labels."),
        Value("server.replicas", "3", "As `operator.replicas`."),
        Value("server.labels.a", "[1]", "A group of one."),
    ]


def test_a_bar_does_not_end_a_cell() -> None:
    assert '| `image.tag` | `""` | Or the chart\'s \\| version |' in table(TEXT)


def test_a_value_that_nobody_explains_is_an_error() -> None:
    with pytest.raises(Unexplained, match=r"image\.tag"):
        table("image:\n  tag: a\n")


def test_the_table_goes_between_its_marks() -> None:
    page = f"# A\n\n{BEGIN}old\n{END}\nend\n"

    assert page_with(page, "new\n") == f"# A\n\n{BEGIN}\nnew\n\n{END}\nend\n"
    with pytest.raises(ValueError, match="lacks"):
        page_with("# A\n", "new\n")


def test_the_charts_page_is_current() -> None:
    page = README.read_text()

    assert page == page_with(page, table(VALUES.read_text())), "run make generate"


def test_the_schema_and_the_file_know_the_same_values() -> None:
    """But for what the file shows as a comment."""
    schema = json.loads((CHART / "values.schema.json").read_text())

    assert set(_in_file(yaml.safe_load(VALUES.read_text()), schema, schema)) == set()


def _in_file(held: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> list[str]:
    """What the one has and the other lacks, at every level that lists its names."""
    known = schema.get("properties")
    if known is None or schema.get("additionalProperties") is not False:
        return []
    missing = [name for name in held.keys() ^ known.keys() if name not in COMMENTED]
    for name in held.keys() & known.keys():
        inner = known[name]
        if "$ref" in inner:
            inner = root["definitions"][inner["$ref"].rpartition("/")[2]]
        if isinstance(held[name], dict) and held[name] and name not in OPEN:
            missing += [f"{name}.{each}" for each in _in_file(held[name], inner, root)]
    return missing


COMMENTED = {"global"}
OPEN = {"resources"}
"""Objects of Kubernetes, of which the file has a part."""
