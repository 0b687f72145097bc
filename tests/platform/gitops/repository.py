"""A git repository on this machine, of which Argo CD syncs a folder."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import yaml

from bernstein.kube.resource import Object


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("config", "user.name", "platform")
        self._git("config", "user.email", "platform@example.com")

    def commit(self, **files: Object | str | None) -> str:
        """The commit with these files below `shop`, by their names without `.yaml`; None: gone."""
        for name, content in files.items():
            path = self.folder / "shop" / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            if content is None:
                path.unlink()
            else:
                path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self._git("rev-parse", "HEAD").strip()

    def copy(self, folder: Path) -> str:
        """The commit with the files of this folder in `shop`, and no others."""
        shutil.rmtree(self.folder / "shop", ignore_errors=True)
        shutil.copytree(folder, self.folder / "shop")
        return self.commit()

    def _git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout
