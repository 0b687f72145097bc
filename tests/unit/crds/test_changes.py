"""Within a version CRDs only grow: what the last release has stored is taken, and means the same.

The rule and its reasons are in docs/decisions/0081-crds-only-grow.md.
"""

from __future__ import annotations

import copy
import tarfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from bernstein.api.meta import HTTPS_PATTERN
from bernstein.api.projects.repository import (
    ADDRESS_PATTERN,
    API_PATTERN,
    NO_USER,
    NO_USER_OF_API,
    URL_PATTERN,
)
from bernstein.kube.resource import Object
from tests import releases
from tests.documents import document
from tests.unit.crds.narrowing import narrowed
from tests.unit.rooms import ROOT

_URL = f"pattern {ADDRESS_PATTERN}, then {URL_PATTERN}"
_REPOSITORIES = "v1alpha1.spec.repositories[]"
_MORE = "it takes more: what a rule refuses in words"
_REFUSED = "the pattern refused all that it refuses"
_SPLIT = "what is split is expected to change something: its subtasks do"
ON_PURPOSE: Mapping[str, str] = {
    f"{_REPOSITORIES}.url: {_URL}": _MORE,
    f"{_REPOSITORIES}.url: a new rule: {NO_USER}": _REFUSED,
    f"{_REPOSITORIES}.forge.api: pattern {HTTPS_PATTERN}, then {API_PATTERN}": _MORE,
    f"{_REPOSITORIES}.forge: a new rule: {NO_USER_OF_API}": _REFUSED,
    f"{_REPOSITORIES}.workRepository.url: {_URL}": f"{_MORE}: that of another git server",
    "v1alpha1.spec.gates.pipeline[]: a new rule: a gate that is not built in needs an image, or "
    "plugin: Python": "it refuses less: where there is no command the rule before it does",
    "v1alpha1: a new rule: the field is immutable: apply a Plan of another name instead": "of a "
    "field that no object has, and of stages, which were there always and may be absent now",
    "v1alpha1.spec: a new rule: give either 'stages' or 'workflow'": "stages were required",
    "v1alpha1.spec: a new rule: the field is immutable: a session is one run": "it "
    "is about fields that are new: roleDigest, documents",
    "v1alpha1.spec: a new rule: the field is immutable: make a Task of another name instead": "it "
    "is about a field that is new: produces",
    "v1alpha1.spec: a new rule: a Task that produces a Plan changes no file: it says "
    "`changes: none`": "so is this",
    f"v1alpha1.spec.stages[].steps[]: a new rule: {_SPLIT}": "it is about a field that is new: "
    "subtasks",
    f"v1alpha1.spec: a new rule: {_SPLIT}": "so is this",
}
"""What `narrowed` says -> why objects of the last release are taken all the same."""


def of_last_release() -> dict[str, Object]:
    with tarfile.open(releases.last().chart) as chart:
        files = [name for name in chart.getnames() if "/files/crds/" in name]
        texts = (chart.extractfile(name) for name in files if name.endswith(".yaml"))
        return {crd["metadata"]["name"]: crd for crd in (document(t.read()) for t in texts if t)}


LAST = of_last_release()
NOW = {
    crd["metadata"]["name"]: crd
    for crd in (document(path.read_text()) for path in (ROOT / "crds").glob("*.yaml"))
}


def test_no_kind_is_gone() -> None:
    assert len(LAST) >= 5
    assert set(LAST) <= set(NOW)


@pytest.mark.parametrize("name", LAST)
def test_what_the_last_release_took_is_taken(name: str) -> None:
    found = [each for each in narrowed(LAST[name], NOW[name]) if each not in ON_PURPOSE]

    assert found == []


def test_nothing_is_excused_that_has_not_changed() -> None:
    found = {each for name in LAST for each in narrowed(LAST[name], NOW[name])}

    assert set(ON_PURPOSE) <= found


# --- what counts as narrower


def plan(change: Callable[[Any], object]) -> list[str]:
    """What is narrower about Plans once `change` has been made to the schema of their spec."""
    changed = copy.deepcopy(NOW["plans.bernstein.dev"])
    (version,) = changed["spec"]["versions"]
    change(version["schema"]["openAPIV3Schema"]["properties"]["spec"])
    return list(narrowed(NOW["plans.bernstein.dev"], changed))


def put(field: str, **more: Any) -> Callable[[Any], None]:
    return lambda spec: spec["properties"][field].update(more)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda spec: spec["properties"].pop("cli"), "v1alpha1.spec.cli: gone"),
        (lambda spec: spec["required"].append("cli"), "v1alpha1.spec.cli: required"),
        (put("cli", type="integer"), "v1alpha1.spec.cli: type string, then integer"),
        (put("cli", maxLength=1), "v1alpha1.spec.cli: maxLength "),
        (put("name", minLength=9), "v1alpha1.spec.name: minLength "),
        (put("cli", enum=["one"]), "v1alpha1.spec.cli: anything no more"),
        (put("suspend", default=True), "v1alpha1.spec.suspend: default "),
        (put("cli", pattern="^a$"), "v1alpha1.spec.cli: pattern "),
        (
            put("cli", **{"x-kubernetes-validations": [{"rule": "a", "message": "never"}]}),
            "v1alpha1.spec.cli: a new rule: never",
        ),
        (
            put("stages", **{"x-kubernetes-list-type": "set"}),
            "v1alpha1.spec.stages: x-kubernetes-list-type ",
        ),
        (
            lambda spec: spec["properties"]["stages"]["items"]["properties"].pop("steps"),
            "v1alpha1.spec.stages[].steps: gone",
        ),
    ],
)
def test_it_is_narrower_where(change: Callable[[Any], object], said: str) -> None:
    (found,) = plan(change)

    assert found.startswith(said)


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec["properties"].update(more={"type": "string"}),
        put("cli", maxLength=10_000, description="another text"),
        lambda spec: spec["properties"]["name"].pop("minLength"),
        lambda spec: spec["required"].remove("name"),
    ],
)
def test_it_is_not_narrower_where_more_is_taken(change: Callable[[Any], object]) -> None:
    assert plan(change) == []


def test_another_stored_version_is_told() -> None:
    changed = copy.deepcopy(NOW["plans.bernstein.dev"])
    (version,) = changed["spec"]["versions"]
    changed["spec"]["versions"] = [
        {**version, "storage": False},
        {**version, "name": "v1beta1"},
    ]

    assert list(narrowed(NOW["plans.bernstein.dev"], changed)) == [
        "v1alpha1: another version is stored"
    ]
