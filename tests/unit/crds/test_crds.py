"""The generated CRDs: in step with the models, bounded, and shaped as a CRD must be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from bernstein import crds
from bernstein.api.meta import (
    LINE_PATTERN,
    PATH_PATTERN,
    Model,
    immutable_except,
    immutable_spec_except,
)
from bernstein.crds import schema as schema_of
from tests.documents import document

REPOSITORY = Path(__file__).parents[3]
KINDS = {kind.name: kind for kind in crds.KINDS}


@cache
def schema_of_kind(name: str) -> dict[str, Any]:
    """It is read alone."""
    return crds.object_schema(KINDS[name].model)


@pytest.fixture(params=sorted(KINDS))
def schema(request: pytest.FixtureRequest) -> dict[str, Any]:
    return schema_of_kind(request.param)


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from nodes(schema[key], f"{path}[]")


def test_files_are_what_the_models_say() -> None:
    assert crds.outdated([REPOSITORY / folder for folder in crds.FOLDERS]) == []


def test_what_is_missing_changed_or_of_a_kind_that_is_gone_is_outdated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crds.write([tmp_path])
    assert crds.main(["--check", str(tmp_path)]) == 0
    changed, missing, *_ = sorted(tmp_path.iterdir())
    changed.write_text(changed.read_text() + "\n")
    missing.unlink()
    (tmp_path / "zebras.yaml").write_text("kind: CustomResourceDefinition\n")

    assert crds.outdated([tmp_path]) == [changed, missing, tmp_path / "zebras.yaml"]
    assert crds.main(["--check", str(tmp_path)]) == 1
    assert f"{changed} is not up to date: make generate" in capsys.readouterr().out

    crds.write([tmp_path])
    assert crds.outdated([tmp_path]) == []


def test_files_say_that_they_are_generated_and_parse() -> None:
    for content in crds.files().values():
        assert content.startswith("# Generated from")
        assert document(content)["kind"] == "CustomResourceDefinition"


def test_every_string_and_list_has_a_maximum(schema: dict[str, Any]) -> None:
    unbounded = [
        path
        for part in ("spec", "status")
        for path, node in nodes(schema["properties"][part], part)
        if not _bounded(node)
    ]

    assert unbounded == []


def _bounded(node: dict[str, Any]) -> bool:
    match node.get("type", "string"):
        case "string":
            return bool({"maxLength", "enum"} & node.keys()) or node.get("format") == "date-time"
        case "array":
            return "maxItems" in node
        case "object":
            return "maxProperties" in node or "additionalProperties" not in node
    return True


def test_lists_told_apart_by_a_key_require_it(schema: dict[str, Any]) -> None:
    for path, node in nodes(schema):
        for key in node.get("x-kubernetes-list-map-keys", ()):
            assert key in node["items"]["required"], path


def test_no_default_is_applied_inside_of_a_list(schema: dict[str, Any]) -> None:
    """`kubectl apply` of the same file would call every item that has one a change."""
    inside = [
        path
        for path, node in nodes(schema["properties"]["spec"])
        if "[]" in path and "default" in node
    ]

    assert inside == []


def test_the_default_of_a_field_inside_of_a_list_is_told() -> None:
    plan = schema_of_kind("Plan")["properties"]["spec"]["properties"]
    step = plan["stages"]["items"]["properties"]["steps"]["items"]["properties"]

    assert step["role"]["description"].endswith("Default: backend.")
    assert step["priority"]["description"].endswith("Default: 2.")


def test_of_a_status_only_its_generation_and_the_state_it_is_born_in_have_a_default(
    schema: dict[str, Any],
) -> None:
    defaults = {
        path: node["default"]
        for path, node in nodes(schema["properties"]["status"])
        if "default" in node
    }

    born = {"Task": "Open", "AgentSession": "Starting"}
    kind = next(name for name in KINDS if schema_of_kind(name) == schema)
    state = {"state": born[kind]} if kind in born else {}
    assert defaults == {"": {"observedGeneration": -1} | state, ".observedGeneration": -1}


def test_every_field_has_a_sentence_that_kubectl_explain_shows(schema: dict[str, Any]) -> None:
    silent = [
        path
        for path, node in nodes(schema)
        if path and not path.endswith("[]") and not node.get("description")
    ]
    silent.remove(".metadata")  # Kubernetes refuses to be told anything of it

    assert silent == []


def test_descriptions_are_one_short_line(schema: dict[str, Any]) -> None:
    for path, node in nodes(schema):
        description = node.get("description", "")
        assert len(description) <= 200, path
        assert "\n" not in description, path


def test_columns_name_fields_that_exist() -> None:
    for kind in crds.KINDS:
        known = {path for path, _ in nodes(schema_of_kind(kind.name))}
        for column in kind.columns:
            path = column.path.split("[", 1)[0]
            assert path in known or path == crds.AGE.path, (kind.name, column.name)


def test_a_default_made_by_a_factory_is_filled_in_from_below() -> None:
    limits = schema_of_kind("Project")["properties"]["spec"]["properties"]["limits"]

    assert limits["default"] == {}
    assert limits["properties"]["maxAgents"]["default"] == 6


class Inner(Model):
    size: int = 1


class Outer(Model):
    """More than
    one line."""

    maybe: Inner | None = None
    names: Annotated[tuple[str, ...], Field(max_length=3)] = ()


class Strange(Model):
    either: int | str


class Things(Model):
    spec: Outer
    status: Inner


class StrangeThings(Model):
    spec: Strange
    status: Inner


def test_references_and_nulls_are_folded() -> None:
    definitions = Things.model_json_schema()

    folded = schema_of._structural(
        definitions["properties"]["spec"], definitions["$defs"], "applied"
    )

    assert folded == {
        "description": "More than one line.",
        "type": "object",
        "properties": {
            "maybe": {
                "type": "object",
                "properties": {"size": {"type": "integer", "format": "int64", "default": 1}},
            },
            "names": {"type": "array", "maxItems": 3, "default": [], "items": {"type": "string"}},
        },
    }


def test_a_field_of_two_types_is_an_error() -> None:
    definitions = StrangeThings.model_json_schema()

    with pytest.raises(ValueError, match="has one type"):
        schema_of._structural(definitions["properties"]["spec"], definitions["$defs"], "applied")


def test_a_keyword_that_a_crd_lacks_is_an_error() -> None:
    with pytest.raises(ValueError, match="exclusiveMinimum"):
        schema_of._structural({"type": "integer", "exclusiveMinimum": 0}, {}, "applied")


def test_every_field_but_the_mutable_ones_gets_a_rule() -> None:
    schema: dict[str, Any] = {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["a"]}

    immutable_except("c", remedy="make another one")(schema)

    rules = {r["fieldPath"]: r["rule"] for r in schema["x-kubernetes-validations"]}
    assert rules == {
        ".a": "self.a == oldSelf.a",
        ".b": "has(self.b) == has(oldSelf.b) && (!has(self.b) || self.b == oldSelf.b)",
    }


def test_a_field_that_is_written_once_may_be_written_later() -> None:
    schema: dict[str, Any] = {"properties": {"a": {}, "b": {}}}

    immutable_except("b", once=("a",), remedy="")(schema)

    (rule,) = schema["x-kubernetes-validations"]
    assert rule["rule"] == "!has(oldSelf.a) || (has(self.a) && self.a == oldSelf.a)"


@pytest.mark.parametrize("names", [{"mutable": ("typo",)}, {"once": ("typo",)}], ids=str)
def test_a_mutable_field_that_does_not_exist_is_an_error(names: dict[str, Any]) -> None:
    mutable, once = names.get("mutable", ()), names.get("once", ())

    with pytest.raises(ValueError, match="typo"):
        immutable_except(*mutable, once=once, remedy="")({"properties": {"a": {}}})


def test_fields_of_a_spec_may_be_immutable_until_something_is_true_of_the_object() -> None:
    class Spec(Model):
        a: int
        b: int = 1
        much_else: int = 2
        later: int | None = None

    rules = immutable_spec_except(
        "muchElse", once=("later",), spec=Spec, unless="oldSelf.new", remedy=""
    )

    assert {each["fieldPath"]: each["rule"] for each in rules} == {
        ".spec.a": "(oldSelf.new) || (self.spec.a == oldSelf.spec.a)",
        ".spec.b": "(oldSelf.new) || (has(self.spec.b) == has(oldSelf.spec.b) && "
        "(!has(self.spec.b) || self.spec.b == oldSelf.spec.b))",
        ".spec.later": "(oldSelf.new) || !has(oldSelf.spec.later) || "
        "(has(self.spec.later) && self.spec.later == oldSelf.spec.later)",
    }
    with pytest.raises(ValueError, match="typo"):
        immutable_spec_except("typo", spec=Spec, unless="false", remedy="")


def test_every_kind_has_one_column_that_says_why() -> None:
    for kind in crds.KINDS:
        assert [c.wide for c in kind.columns if c.name == "Reason"] == [False], kind.name


A_NAME = "rate-limit-api--write-the-limiter-3f9a1c2"[:40]
A_REASON = "DependencyPending"
USUAL = {
    "Project": [A_NAME[:24], "rate-limit-api", "Unknown", A_REASON, "12", "12", "128d"],
    "Plan": [A_NAME[:32], "Delivering", "40", "40", A_REASON, "128.4321", "128d"],
    "Task": [A_NAME, "InProgress", "4", A_REASON, "128.4321", "128d"],
    "AgentSession": [f"{A_NAME}-s12", "Starting", A_REASON, "59m59s", "128d"],
    "AgentRole": ["prompt-engineer", "False", "RoleInvalid", "true", A_NAME[:24], "normal", "128d"],
    "Approval": [f"{A_NAME}-approval-3f9a1c2b4d", "Approved", "AwaitingApproval", "128d"],
}
"""By kind what `kubectl get` shows of an object, as long as it usually is at most."""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_kubectl_get_shows_fits_100_characters(kind: str) -> None:
    """A terminal's line that is broken is hard to read; what has any length is for -o wide."""
    headers = ["NAME", *(c.name for c in KINDS[kind].columns if not c.wide)]

    columns = zip(headers, USUAL[kind], strict=True)
    line = "   ".join(value.ljust(len(header)) for header, value in columns)

    assert len(line) <= 100, line


def test_what_kubectl_get_shows_of_tasks_with_o_wide_fits_200_characters() -> None:
    """A commit takes a fifth of a line, and no path of a column can cut it. The address of a pull
    request is the last: most Tasks have none of their own."""
    title = "Implement the limiter and its HTTP headers"
    wide = [title, "backend", "2030-01-01T12:00:00Z", "<none>", "<none>"]
    headers = ["NAME", *(c.name for c in KINDS["Task"].columns)]

    columns = zip(headers, [*USUAL["Task"], *wide], strict=True)
    line = "   ".join(value.ljust(len(header)) for header, value in columns)

    assert len(line) <= 200, line
    assert line.index(title) < 110


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_text_that_the_operator_copies_can_be_refused(kind: str) -> None:
    """An older release may have taken it where people write it: then nothing could go on."""
    properties = schema_of_kind(kind)["properties"]
    copied = ("spec", "status") if kind == "AgentSession" else ("status",)

    refusable = [
        path
        for part in copied
        for path, node in nodes(properties[part], part)
        if node.get("pattern") in (LINE_PATTERN, PATH_PATTERN)
    ]

    assert refusable == []


def test_a_kind_says_what_it_is_for(schema: dict[str, Any]) -> None:
    assert schema["description"].endswith(".")
