"""Programs that are built from Go modules of their own when a test or bench first wants them."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.binaries import build
from tests.cluster.binaries.build import COMPILER, run_build
from tests.cluster.binaries.go import GoCommand, toolchain
from tests.cluster.machine.lock import locked
from tests.cluster.machine.paths import (
    COLLECTOR_MODULE,
    GITEA_MODULE,
    GITOPS_MODULE,
    KWOK_MODULE,
    cache_root,
)
from tests.cluster.progress import step


@dataclass(frozen=True)
class Program:
    """One that a module names as its tool, or has in a folder of its own."""

    name: str
    """Of its file, and of the folder of its builds."""
    title: str
    module: Path
    command: str
    tags: tuple[str, ...] = ()
    linker: str = "-s -w"
    beside: tuple[str, ...] = ()
    """Folders of its own module that it reads when it runs: they are copied beside it."""
    beside_of: str = ""
    """Package of another module that has these folders."""

    @property
    def flags(self) -> tuple[str, ...]:
        tags = ("-tags", ",".join(self.tags)) if self.tags else ()
        return ("-buildvcs=false", "-trimpath", *COMPILER, *tags, "-ldflags", self.linker)

    @property
    def builds(self) -> Path:
        """Folder with one subfolder for the newest build."""
        return cache_root() / self.name

    def key(self) -> str:
        """Sixteen hex digits over the module's files, what is built how, and the architecture."""
        digest = hashlib.sha256()
        own = sorted(self.module.glob("cmd/**/*.go"))
        for file in (self.module / "go.mod", self.module / "go.sum", *own):
            digest.update(file.read_bytes() + b"\0")
        parts = [*self.flags, self.command, *self.beside, self.beside_of, platform.machine()]
        digest.update("\0".join(parts).encode())
        return digest.hexdigest()[:16]

    def ensure(self) -> Path:
        """The program, built unless it is in the cache. Safe to call from several processes.

        ClusterError GoMissing, GoTooOld or BuildFailed.
        """
        folder = self.builds / self.key()
        if not folder.is_dir():
            with locked(self.builds / "build.lock", f"the build of {self.title}"):
                if not folder.is_dir():
                    self._build(folder)
        return folder / self.name

    def _build(self, folder: Path) -> None:
        partial = folder.with_name(folder.name + ".partial")
        go = toolchain(partial, self.module)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        log = self.builds / "build.log"
        log.unlink(missing_ok=True)
        with step(f"building {self.title} (log: {log})"):
            command = [*go(build.COLLECTOR), "build", "-v", *self.flags]
            run_build([*command, "-o", f"{partial}/", self.command], log, self.module)
        self._copy_beside(go, partial)
        for old in self.builds.iterdir():
            if old.is_dir() and old != partial:
                shutil.rmtree(old)
        partial.rename(folder)

    def _copy_beside(self, go: GoCommand, partial: Path) -> None:
        if not self.beside:
            return
        source = Path(module_folder(go, self.beside_of or self.command, self.module))
        for name in self.beside:
            shutil.copytree(source / name, partial / name, copy_function=shutil.copyfile)


def module_folder(go: GoCommand, command: str, module: Path) -> str:
    """Where Go keeps the source of the command's module."""
    asked = [*go({}), "list", "-f", "{{.Module.Dir}}", command]
    done = subprocess.run(asked, cwd=module, capture_output=True, text=True, check=True)
    return done.stdout.strip()


KWOK = Program("kwok", "KWOK", KWOK_MODULE, "sigs.k8s.io/kwok/cmd/kwok")
"""It plays nodes and pods."""
GITEA = Program(
    "gitea",
    "Gitea",
    GITEA_MODULE,
    "code.gitea.io/gitea",
    tags=("sqlite", "sqlite_unlock_notify"),
    linker="-s -w -X main.Version=1.26.0",
    beside=("options", "public", "templates"),
)
"""A forge: a git server with pull requests."""
GITOPS = Program(
    "gitops",
    "Argo CD",
    GITOPS_MODULE,
    "./cmd/gitops",
    linker="-s -w -X github.com/argoproj/argo-cd/v3/common.version=3.2.6",
    beside=("manifests/crds",),
    beside_of="github.com/argoproj/argo-cd/v3/common",
)
"""Argo CD's application controller and repo server, and what judges objects for it and for Flux."""
COLLECTOR = Program("collector", "an OpenTelemetry collector", COLLECTOR_MODULE, "./cmd/collector")
"""It takes traces by OTLP, and prints them."""

BY_NAME = {program.name: program for program in (KWOK, GITEA, GITOPS, COLLECTOR)}
