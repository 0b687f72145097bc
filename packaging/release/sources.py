"""What a release is made from: the files that git knows, and the times that it keeps."""

from __future__ import annotations

import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from release.errors import ReleaseError

PUBLISHED = ("charts/bernstein", "crds", "images", "operator", "packaging", "tests/stub_llm")
"""Folders that a release is made from, besides single files."""
_NAMED = 5


@dataclass(frozen=True)
class Sources:
    """A clone of the repository."""

    root: Path

    def version(self) -> str:
        """Of all that is released. Raises ReleaseError VersionsDiffer."""
        program, gates = "pyproject.toml", "operator/bernstein_gates/pyproject.toml"
        chart, krew = "charts/bernstein/Chart.yaml", "packaging/krew/bernstein.yaml"
        found = {
            program: self._project(program),
            gates: self._project(gates),
            chart: str(self._yaml(chart)["version"]),
            krew: str(self._yaml(krew)["spec"]["version"]).removeprefix("v"),
        }
        if len(set(found.values())) > 1:
            told = ", ".join(f"{version} in {file}" for file, version in found.items())
            raise ReleaseError("VersionsDiffer", told, "write the same version in each")
        return found[program]

    def _yaml(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.root / name).read_text())
        return found

    def _project(self, name: str) -> str:
        return str(tomllib.loads((self.root / name).read_text())["project"]["version"])

    def files(self, *paths: str) -> list[str]:
        """Those below these paths that git knows and that are there."""
        names = self._git("ls-files", "-z", "--", *paths).split("\0")
        return [name for name in names if name and (self.root / name).is_file()]

    def refuse_unknown(self) -> None:
        """Helm and the builds of images take whole folders: what git does not know, too.

        Raises ReleaseError UnknownFiles.
        """
        # What only the caller's own settings of git ignore would be taken all the same.
        ignored = "--exclude-per-directory=.gitignore"
        names = self._git("ls-files", "--others", ignored, "-z", "--", *PUBLISHED).split("\0")
        if found := [name for name in names if name]:
            rest = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
            raise ReleaseError(
                "UnknownFiles",
                f"git does not know {', '.join(found[:_NAMED])}{rest}, which would be published",
                "commit them, or move them away",
            )

    def changed(self) -> bool:
        """Whether files differ from those of the commit."""
        return bool(self._git("status", "--porcelain", "--untracked-files=no").strip())

    def epoch(self, *paths: str) -> int:
        """Seconds: when the last commit was made, or the last one that touched these paths.

        SOURCE_DATE_EPOCH goes before it. Raises ReleaseError BadEpoch, ShallowClone or NoCommit.
        """
        told = os.environ.get("SOURCE_DATE_EPOCH")
        if told is not None and not (told.isascii() and told.isdecimal()):
            raise ReleaseError(
                "BadEpoch", f"SOURCE_DATE_EPOCH is '{told}'", "give seconds since 1970, or unset it"
            )
        if told:
            return int(told)
        if self._git("rev-parse", "--is-shallow-repository").strip() == "true":
            raise ReleaseError(
                "ShallowClone",
                "this clone has not all commits, so times of files are those of another one",
                "git fetch --unshallow",
            )
        found = self._git("log", "-1", "--format=%ct", "--", *paths).strip()
        if not found:
            raise ReleaseError(
                "NoCommit", f"no commit has {', '.join(paths) or 'anything'}", "commit it first"
            )
        return int(found)

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ReleaseError(
                "NoGit", done.stderr.strip(), "make a release in a clone of the repository"
            )
        return done.stdout
