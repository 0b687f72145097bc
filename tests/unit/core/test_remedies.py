"""What a person is told names what to do, and the field to do it in."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bernstein import core
from bernstein.core.errors import POLICIES
from bernstein.core.remedies import with_remedy
from tests.unit.core.objects import project

CA = {"name": "forge-ca", "key": "ca.crt"}
ACCOUNT = {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")}
SUBJECT = project(
    repositories=[
        {"name": "app", "url": "https://git.example/app.git", "credentials": ACCOUNT, "ca": CA}
    ],
    agents=[
        {
            "name": "model",
            "adapter": "demo",
            "image": "agent:1",
            "apiKey": {"name": "model", "key": "token"},
            "configMap": "agent-files",
        }
    ],
    pods={"imagePullSecrets": ["pull"]},
)


@pytest.mark.parametrize(
    ("kind", "name", "field"),
    [
        ("secret", "git-read", "spec.repositories[0].credentials.read.secretName"),
        ("secret", "model", "spec.agents[0].apiKey.name"),
        ("secret", "pull", "spec.pods.imagePullSecrets[0]"),
        ("configmap", "forge-ca", "spec.repositories[0].ca.name"),
        ("configmap", "agent-files", "spec.agents[0].configMap"),
    ],
)
def test_a_missing_object_is_told_with_the_field_that_names_it(
    kind: str, name: str, field: str
) -> None:
    reason = "SecretNotFound" if kind == "secret" else "ConfigMapNotFound"

    told = with_remedy(f'{kind} "{name}" not found', reason, SUBJECT)

    assert told.startswith(f'{kind} "{name}" not found. Remedy: Create the ')
    assert told.endswith(f"field: {field}.")


def test_a_name_that_no_field_has_is_told_without_one() -> None:
    told = with_remedy('secret "other" not found', "SecretNotFound", SUBJECT)

    assert told.endswith("or correct the Project's field.")


def test_without_a_remedy_the_text_stands_alone() -> None:
    assert with_remedy("it was cancelled", "Cancelled") == "it was cancelled"


def test_every_reason_that_needs_a_person_has_a_row_in_the_table() -> None:
    """Reasons that are written out; the others come from the table or from programs of ours."""
    literal = set()
    for source in Path(core.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "stalled":
                reason = node.args[1]
                if isinstance(reason, ast.Constant):
                    literal.add(reason.value)

    assert literal
    assert literal <= set(POLICIES)
