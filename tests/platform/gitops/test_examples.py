"""What the pages on Argo CD and Flux show is what lies in the examples, and does what they say."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from bernstein.api.plan import CHANGEABLE
from tests.cluster.binaries.build import ensure_binaries
from tests.platform.gitops.test_flux_status import expressions
from tests.unit.docs.pages import ROOT, blocks

EXAMPLES = ROOT / "docs" / "examples" / "gitops"
RESOURCES = ["project/project.yaml", "plans"]


def built(folder: Path) -> list[dict[str, Any]]:
    """What kustomize makes of it."""
    kubectl = str(ensure_binaries().tools / "kubectl")
    done = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, check=True)
    return list(yaml.safe_load_all(done.stdout))


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    """A copy of the folder with the Plan."""
    return Path(shutil.copytree(EXAMPLES / "plans", tmp_path / "plans"))


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_plan_is_called_by_its_text(plans: Path) -> None:
    (before,) = built(plans)
    assert before["metadata"]["name"].startswith("rate-limits-")

    replaced(plans / "rate-limits.yaml", "Add the middleware", "Add the middleware, with tests")
    (after,) = built(plans)

    assert after["metadata"]["name"].startswith("rate-limits-")
    assert after["metadata"]["name"] != before["metadata"]["name"]


def test_what_the_page_has_an_application_build_is_the_project_and_its_plans(
    tmp_path: Path,
) -> None:
    folder = shutil.copytree(EXAMPLES, tmp_path / "shop")
    page = [yaml.safe_load(b.text) for b in blocks("yaml") if b.page.name == "argo-cd.md"]
    (whole,) = (shown for shown in page if shown.get("resources") == RESOURCES)
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(whole))

    names = {found["kind"]: found["metadata"]["name"] for found in built(folder)}

    assert names.keys() == {"Project", "Plan"}
    assert names["Plan"].startswith("rate-limits-")


def test_what_may_change_is_put_on_and_makes_no_other_plan(plans: Path) -> None:
    (before,) = built(plans)
    replaced(plans / "kustomization.yaml", 'value: "5"', 'value: "9"')
    (after,) = built(plans)
    assert after["metadata"] == before["metadata"]
    assert (before["spec"]["budget"], after["spec"]["budget"]) == ("5", "9")


def test_the_page_names_what_may_change() -> None:
    page = (ROOT / "docs/how-to/argo-cd.md").read_text()
    assert all(f"`{field}`" in page for field in CHANGEABLE)


def test_the_pages_show_the_examples() -> None:
    shown = [
        document
        for block in blocks("yaml")
        if block.page.name in ("argo-cd.md", "flux.md")
        for document in yaml.safe_load_all(block.text)
    ]
    for name in ("argocd/application.yaml", "argocd/chart.yaml", "plans/kustomization.yaml"):
        assert yaml.safe_load((EXAMPLES / name).read_text()) in shown
    checks = next(found["healthCheckExprs"] for found in shown if "healthCheckExprs" in found)
    assert all(check in expressions() for check in checks)
