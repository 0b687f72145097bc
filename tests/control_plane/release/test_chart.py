"""The packaged chart and the manifest of a release, by the real Helm and API server."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from release import charts
from release.errors import ReleaseError
from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools
from tests.documents import documents
from tests.unit.docs.pages import ROOT

EPOCH = 1_700_000_000
VERSION = "1.2.3"
REPOSITORY = "registry.example.com/team/bernstein"


@pytest.fixture
def packed(tools: Tools, tmp_path: Path) -> Path:
    return charts.package(
        charts.helm(tools.folder / "helm"), CHART, VERSION, REPOSITORY, tmp_path, EPOCH
    )


def rendered(tools: Tools, chart: Path, *more: str) -> list[dict[str, Any]]:
    text = tools.helm("template", "bernstein", str(chart), "-n", RELEASE_NAMESPACE, *more)
    return documents(text)


def images(objects: list[dict[str, Any]]) -> set[str]:
    """Of all its Deployments."""
    return {
        container["image"]
        for each in objects
        if each["kind"] == "Deployment"
        for container in each["spec"]["template"]["spec"]["containers"]
    }


def test_a_package_renders_what_the_chart_does_with_that_image(
    tools: Tools, packed: Path, tmp_path: Path
) -> None:
    same = tmp_path / "source"
    shutil.copytree(CHART, same)
    stated = yaml.safe_load((same / "Chart.yaml").read_text())
    stated |= {"version": VERSION, "appVersion": VERSION}
    (same / "Chart.yaml").write_text(yaml.safe_dump(stated))
    image = ("--set", f"image.repository={REPOSITORY}")

    found = rendered(tools, packed)

    assert found == rendered(tools, same, *image)
    assert images(found) == {f"{REPOSITORY}:{VERSION}"}


def test_packages_of_the_same_chart_have_the_same_bytes(
    tools: Tools, packed: Path, tmp_path: Path
) -> None:
    run = charts.helm(tools.folder / "helm")
    other, to = tmp_path / "other", tmp_path / "again"
    shutil.copytree(CHART, other / "bernstein", copy_function=shutil.copyfile)
    to.mkdir()

    again = charts.package(run, other / "bernstein", VERSION, REPOSITORY, to, EPOCH)

    assert again.name == f"bernstein-{VERSION}.tgz"
    assert again.read_bytes() == packed.read_bytes()
    assert charts.manifest(run, again) == charts.manifest(run, packed)


def test_digests_are_taken_from_a_file_beside(tools: Tools, packed: Path, tmp_path: Path) -> None:
    digest = f"sha256:{'ab' * 32}"
    (tmp_path / "values-digests.yaml").write_text(yaml.safe_dump({"image": {"digest": digest}}))

    found = rendered(tools, packed, "-f", str(tmp_path / "values-digests.yaml"))

    assert images(found) == {f"{REPOSITORY}@{digest}"}


def test_the_manifest_is_applied_as_it_is(tools: Tools, chart: None, packed: Path) -> None:
    manifest = charts.manifest(charts.helm(tools.folder / "helm"), packed)
    objects = documents(manifest)

    # Helm has installed the chart into this cluster, and owns its fields.
    done = tools.run(
        *("kubectl", "apply", "--server-side", "--dry-run=server", "--force-conflicts"),
        *("--validate=strict", "-f-"),
        stdin=manifest,
    )

    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert (objects[0]["kind"], objects[0]["metadata"]["name"]) == ("Namespace", RELEASE_NAMESPACE)
    assert objects[1:] == rendered(tools, packed, "--no-hooks")


def test_the_crds_are_those_of_the_folder(tools: Tools) -> None:
    objects = documents(charts.crds(ROOT / "crds"))

    assert {each["kind"] for each in objects} == {"CustomResourceDefinition"}
    assert len(objects) == len(list((ROOT / "crds").glob("*.yaml")))


def test_a_chart_without_a_repository_is_refused(tools: Tools, tmp_path: Path) -> None:
    shutil.copytree(CHART, tmp_path / "chart")
    values = tmp_path / "chart/values.yaml"
    values.write_text(values.read_text().replace("  repository: bernstein", "  name: bernstein"))
    run = charts.helm(tools.folder / "helm")

    with pytest.raises(ReleaseError, match="NoRepository"):
        charts.package(run, tmp_path / "chart", VERSION, REPOSITORY, tmp_path, EPOCH)


def test_what_helm_says_is_told(tools: Tools, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="HelmFailed: helm package: "):
        charts.package(
            charts.helm(tools.folder / "helm"), tmp_path, VERSION, REPOSITORY, tmp_path, EPOCH
        )
