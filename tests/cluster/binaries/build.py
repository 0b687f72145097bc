"""Kubernetes, etcd, CoreDNS, helm and pause, built from their Go modules and kept by content."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.binaries.go import toolchain
from tests.cluster.errors import ClusterError
from tests.cluster.machine.lock import locked
from tests.cluster.machine.paths import GO_MODULE, binaries_root, cache_root, clusters_root
from tests.cluster.processes import record as records
from tests.cluster.processes.process import log_tail
from tests.cluster.progress import say, step

KUBERNETES_VERSION = "v1.34.4"
HELM_VERSION = "v3.19.5"
KEPT_BUILDS = 3

COMMANDS = ("./cmd/kube", "./cmd/coredns", "helm.sh/helm/v3/cmd/helm")
# These run in images of their own: they must be static.
STATIC_COMMANDS = ("./cmd/pause", "./cmd/probe")
KUBE_NAMES = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
)
TOOLS = ("kubectl", "helm")


@dataclass(frozen=True)
class Binaries:
    """One finished build."""

    folder: Path

    @property
    def tools(self) -> Path:
        """Folder with only kubectl and helm, fit for a PATH."""
        return self.folder / "tools"

    def path(self, name: str) -> Path:
        """Path of a component by the name under which it is known, such as kube-apiserver."""
        return self.folder / name


COMPILER = ("-gcflags=all=-dwarf=false",)
"""What debuggers read is left out of the programs: without it they compile in less time."""
COLLECTOR = {"GOGC": "400"}
"""Of the compiler: an eighth less time, for more memory."""


def build_flags() -> list[str]:
    """Flags of `go build`. Without the version numbers the server reports v0.0.0 and clients
    refuse it; -trimpath lets checkouts in different folders share Go's cache."""
    major, minor = KUBERNETES_VERSION.removeprefix("v").split(".")[:2]
    values = {
        "k8s.io/component-base/version.gitVersion": KUBERNETES_VERSION,
        "k8s.io/component-base/version.gitMajor": major,
        "k8s.io/component-base/version.gitMinor": minor,
        "helm.sh/helm/v3/internal/version.version": HELM_VERSION,
        "helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor": major,
        "helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor": minor,
        "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor": major,
        "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor": minor,
    }
    linker = " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in values.items())])
    return ["-buildvcs=false", "-trimpath", *COMPILER, "-ldflags", linker]


def build_key(module: Path, flags: list[str]) -> str:
    """Sixteen hex digits over the module's files, the commands, the flags and the architecture."""
    digest = hashlib.sha256()
    files = [module / "go.mod", module / "go.sum", *sorted(module.glob("cmd/**/*.go"))]
    for file in files:
        digest.update(str(file.relative_to(module)).encode() + b"\0" + file.read_bytes() + b"\0")
    digest.update("\0".join([*flags, *COMMANDS, *STATIC_COMMANDS]).encode())
    digest.update(platform.machine().encode())
    return digest.hexdigest()[:16]


def build_folder() -> Path:
    """Where the build of this checkout's module is, or will be."""
    return binaries_root() / build_key(GO_MODULE, build_flags())


def ensure_binaries() -> Binaries:
    """Build what is not in the cache yet. Safe to call from several processes.

    ClusterError GoMissing, GoTooOld or BuildFailed.
    """
    folder = build_folder()
    if not folder.is_dir():
        with locked(binaries_root() / "build.lock", "the build of Kubernetes"):
            if not folder.is_dir():
                _build(folder)
    return Binaries(folder)


def tools_folder() -> Path:
    """Folder with kubectl and helm: of our build if it is there, else links to the machine's own,
    else of a build made now.

    ClusterError ToolsMissing when the machine has not both and they cannot be built either.
    """
    built = Binaries(build_folder())
    if built.folder.is_dir():
        return built.tools
    found = {name: shutil.which(name) for name in TOOLS}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        return _built_tools(missing)
    folder = cache_root() / "tools"
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in found.items():
        _link(folder / name, os.path.realpath(str(path)))
    return folder


def _link(link: Path, target: str) -> None:
    """Make or change a link in one step: other processes may be using it."""
    if not link.is_symlink() or str(link.readlink()) != target:
        partial = link.with_name(f"{link.name}.{os.getpid()}")
        partial.symlink_to(target)
        partial.replace(link)


def _built_tools(missing: list[str]) -> Path:
    try:
        return ensure_binaries().tools
    except ClusterError as error:
        if error.reason not in ("GoMissing", "GoTooOld"):
            raise
        names = " and ".join(missing)
        raise ClusterError(
            "ToolsMissing",
            f"{names} cannot be found on the PATH, nor be built: {error.message}",
            f"install {names}; or {error.remedy}",
        ) from error


def _build(folder: Path) -> None:
    partial = folder.with_name(folder.name + ".partial")
    go = toolchain(partial)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    log = binaries_root() / "build.log"
    with step(f"building Kubernetes {KUBERNETES_VERSION}, etcd, CoreDNS and helm (log: {log})"):
        log.unlink(missing_ok=True)
        build = ["build", "-v", *build_flags(), "-o", f"{partial}/"]
        run_build([*go(COLLECTOR), *build, *COMMANDS], log, GO_MODULE)
        static = go({**COLLECTOR, "CGO_ENABLED": "0"})
        run_build([*static, *build, *STATIC_COMMANDS], log, GO_MODULE)
    for name in KUBE_NAMES:
        (partial / name).symlink_to("kube")
    (partial / "tools").mkdir()
    for name in TOOLS:
        (partial / "tools" / name).symlink_to(Path("..") / name)
    partial.rename(folder)
    _remove_old_builds()


def _remove_old_builds() -> None:
    """Keep the newest builds, and those that a cluster runs."""
    clusters = [records.load(file) for file in clusters_root().glob("*/state/record.json")]
    used = {cluster.build for cluster in clusters if cluster is not None}
    builds = [folder for folder in binaries_root().iterdir() if folder.is_dir()]
    builds.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
    for build in builds[KEPT_BUILDS:]:
        if build.name not in used:
            shutil.rmtree(build)


def run_build(command: list[str], log: Path, module: Path) -> None:
    """Run one build in a module; count its output lines into a line of progress every ten seconds.

    ClusterError BuildFailed.
    """
    # A build takes minutes: it must not make the rest of the machine slow.
    if nice := shutil.which("nice"):
        command = [nice, "-n", "5", *command]
    downloaded = compiled = 0
    said = time.monotonic()
    with (
        log.open("a") as file,
        subprocess.Popen(
            command,
            cwd=module,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as build,
    ):
        assert build.stdout is not None
        for line in build.stdout:
            file.write(line)
            if line.startswith("go: downloading"):
                downloaded += 1
            else:
                compiled += 1
            if time.monotonic() - said >= 10:
                said = time.monotonic()
                say(f"  {downloaded} modules downloaded, {compiled} packages compiled")
    if build.returncode != 0:
        raise ClusterError(
            "BuildFailed",
            f"go build failed:\n{log_tail(log, 15)}",
            f"see {log}; modules that cannot be downloaded point to the network or to GOPROXY",
        )
