"""What readers copy from the pages works: objects are taken, patches apply, the chart renders."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.control_plane.conftest import CHART, Tools
from tests.unit.docs.pages import ROOT, Block, blocks

Object = dict[str, Any]
FLUX = Path(__file__).parent / "kinds"
OTHERS = ("argoproj.io/", "kustomize.config.k8s.io/")
"""Groups of other programs: tests/platform has what knows them."""


def _objects() -> list[tuple[str, Object]]:
    """Every Kubernetes object of the pages and examples, with the place where it stands."""
    texts = [(str(block), block.text) for block in blocks("yaml")]
    files = sorted((ROOT / "docs" / "examples").rglob("*.yaml"))
    texts += [(str(path.relative_to(ROOT)), path.read_text()) for path in files]
    return [
        (place, document)
        for place, text in texts
        for document in yaml.safe_load_all(text)
        if isinstance(document, dict) and "apiVersion" in document
        if not document["apiVersion"].startswith(OTHERS)
    ]


def _patches() -> list[Block]:
    """JSON patches of Projects, written as YAML."""
    return [
        block
        for block in blocks("yaml")
        if any(isinstance(found, list) for found in yaml.safe_load_all(block.text))
    ]


def _helm_commands() -> list[list[str]]:
    """Arguments of every `helm` command that installs the chart of this repository."""
    found = []
    for block in blocks("console"):
        text = re.sub(r"\\\n\s*", " ", block.text)
        lines = (line.removeprefix("$ ") for line in text.splitlines())
        found += [shlex.split(line)[1:] for line in lines if line.startswith("helm upgrade")]
    # What installs the package of a release: test_offline_page.py has it.
    return [arguments for arguments in found if not arguments[3].endswith(".tgz")]


def _questions() -> list[tuple[str, list[str], str]]:
    """What pages ask of `kubectl auth can-i`: the place, its arguments, the answer that is shown;
    yes where none is."""
    found = []
    for block in blocks("console"):
        lines = block.text.splitlines()
        for line, after in zip(lines, [*lines[1:], ""], strict=True):
            if line.startswith("$ kubectl auth can-i "):
                answer = after if after in ("yes", "no") else "yes"
                found.append((str(block), shlex.split(line)[2:], answer))
    return found


OBJECTS = _objects()
QUESTIONS = _questions()


@pytest.fixture(scope="module")
def flux_kinds(tools: Tools) -> Iterator[None]:
    with tools.with_kinds(FLUX):
        yield


def test_the_pages_show_an_object_of_every_kind_that_people_write() -> None:
    shown = {document["kind"] for _, document in OBJECTS}
    assert shown >= {"Project", "Plan", "Task", "AgentRole", "Kustomization"}


@pytest.mark.parametrize(("place", "document"), OBJECTS, ids=[place for place, _ in OBJECTS])
def test_every_object_is_taken_by_the_api_server(
    tools: Tools, chart: None, flux_kinds: None, namespace: str, place: str, document: Object
) -> None:
    document = {**document, "metadata": {**document["metadata"], "namespace": namespace}}
    create = ("create", "--dry-run=server", "--validate=strict", "-f", "-")
    tools.kubectl(*create, stdin=json.dumps(document))


@pytest.mark.parametrize("block", _patches(), ids=str)
def test_every_patch_applies_to_a_project(
    tools: Tools, chart: None, namespace: str, block: Block
) -> None:
    project = next(document for _, document in OBJECTS if document["kind"] == "Project")
    project = {**project, "metadata": {"name": "default", "namespace": namespace}}
    tools.kubectl("create", "-f", "-", stdin=json.dumps(project))
    patch = json.dumps(yaml.safe_load(block.text))
    tools.kubectl(*("-n", namespace, "patch", "project", "default"), "--type=json", "-p", patch)


@pytest.mark.parametrize(
    ("arguments", "answer"), [q[1:] for q in QUESTIONS], ids=[q[0] for q in QUESTIONS]
)
def test_who_may_do_what_is_as_the_page_says(
    tools: Tools, chart: None, arguments: list[str], answer: str
) -> None:
    assert tools.run("kubectl", *arguments).stdout.split() == [answer]


@pytest.mark.parametrize("arguments", _helm_commands(), ids=lambda a: a[-1])
def test_every_installation_renders(tools: Tools, arguments: list[str]) -> None:
    assert (ROOT / arguments[3]).resolve() == CHART
    options = [a for a in arguments[4:] if a not in ("--wait", "--create-namespace")]
    rendered = tools.template(*options)
    image = next(a for a in arguments if a.startswith("image.repository=")).partition("=")[2]
    assert f"image: {image}:" in rendered
