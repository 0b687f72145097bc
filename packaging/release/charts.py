"""The packaged chart, the CRDs, and one manifest that installs without Helm."""

from __future__ import annotations

import re
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from release import packed
from release.errors import ReleaseError

NAMESPACE = "bernstein-system"
_REPOSITORY = re.compile(r"^(image:\n(?:  .*\n)*?  repository: )(\S+)", re.MULTILINE)

Helm = Callable[..., str]
"""Runs helm with these arguments, and gives what it prints."""


def helm(program: Path) -> Helm:
    """Raises ReleaseError HelmFailed where it fails."""

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [str(program), *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ReleaseError(
                "HelmFailed", f"helm {arguments[0]}: {done.stderr.strip()}", "see what Helm says"
            )
        return done.stdout

    return run


def package(run: Helm, chart: Path, version: str, repository: str, to: Path, epoch: int) -> Path:
    """The chart of this version, whose default image is that of the repository.

    Raises ReleaseError HelmFailed or NoRepository.
    """
    with tempfile.TemporaryDirectory() as folder:
        run("package", str(chart), "--version", version, "--app-version", version, "-d", folder)
        (made,) = Path(folder).iterdir()
        (to / made.name).write_bytes(_timeless(made, repository, epoch))
        return to / made.name


def _timeless(archive: Path, repository: str, epoch: int) -> bytes:
    """Helm writes the time of the packing into it."""
    files: dict[str, bytes] = {}
    with tarfile.open(archive) as old:
        for entry in old:
            found = old.extractfile(entry)
            content = found.read() if found else b""
            if entry.name == "bernstein/values.yaml":
                content = _from(content.decode(), repository).encode()
            files[entry.name] = content
    return packed.tar(files, epoch)


def _from(values: str, repository: str) -> str:
    changed, times = _REPOSITORY.subn(rf"\g<1>{repository}", values)
    if times != 1:
        raise ReleaseError(
            "NoRepository",
            "the chart's values name no image.repository at their beginning",
            "keep it below `image:` in values.yaml",
        )
    return changed


def crds(folder: Path) -> str:
    """All of them as one manifest."""
    return "---\n".join(path.read_text() for path in sorted(folder.glob("*.yaml")))


def manifest(run: Helm, chart: Path) -> str:
    """All that the chart makes with its defaults, and its namespace before that.

    For `kubectl apply --server-side`: CRDs are larger than what the client's side may keep.
    """
    rendered = run("template", "bernstein", str(chart), "--namespace", NAMESPACE, "--no-hooks")
    return (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n"
        f"  name: {NAMESPACE}\n"
        "  labels: {pod-security.kubernetes.io/enforce: restricted}\n"
        f"{rendered}"
    )
