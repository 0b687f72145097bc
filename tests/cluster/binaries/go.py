"""The Go that builds Kubernetes: the machine's own, or one in a container where Docker can pull."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.machine import docker
from tests.cluster.machine.paths import GO_MODULE, cache_root
from tests.cluster.progress import say

GO_MINIMUM = (1, 25)
GO_USUAL_PLACE = "/usr/local/go/bin/go"
GO_IMAGE = "golang:1.25-bookworm"
MACHINE_CA = Path("/etc/ssl/certs/ca-certificates.crt")
# What tells Go where modules come from, and the way there.
NETWORK_VARIABLES = (
    *("GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)

GoCommand = Callable[[Mapping[str, str]], list[str]]
"""Variables to be set -> the beginning of a command line, up to Go's own arguments."""


def toolchain(output: Path, module: Path = GO_MODULE) -> GoCommand:
    """A Go that works in `module` and can write to `output`.

    ClusterError GoMissing or GoTooOld when there is none.
    """
    try:
        go = find_go()
    except ClusterError as error:
        if not docker.usable(GO_IMAGE):
            raise
        say(f"{error.message}: taking the one of the image {GO_IMAGE}")
        return lambda variables: contained_go(output, variables, module)
    return lambda variables: ["env", *_assigned(variables), go]


def find_go() -> str:
    """Path of a Go that is new enough; ClusterError GoMissing or GoTooOld."""
    candidates = [shutil.which("go"), GO_USUAL_PLACE]
    found = [path for path in candidates if path and os.access(path, os.X_OK)]
    remedy = (
        f"install Go {GO_MINIMUM[0]}.{GO_MINIMUM[1]} or later and put it on the PATH, "
        f"or Docker that can pull {GO_IMAGE}"
    )
    if not found:
        raise ClusterError("GoMissing", "there is no Go to build Kubernetes with", remedy)
    versions = {path: go_version(path) for path in found}
    best = max(found, key=lambda path: versions[path])
    if versions[best] < GO_MINIMUM:
        version = ".".join(map(str, versions[best]))
        raise ClusterError("GoTooOld", f"{best} is Go {version}", remedy)
    return best


def go_version(go: str) -> tuple[int, int]:
    """Major and minor version of a Go tool chain; (0, 0) when it does not say."""
    # GOTOOLCHAIN=local: ask what is installed, not what it would download.
    output = subprocess.run(
        [go, "env", "GOVERSION"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GOTOOLCHAIN": "local"},
    ).stdout
    match = re.match(r"go(\d+)\.(\d+)", output)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def contained_go(output: Path, variables: Mapping[str, str], module: Path = GO_MODULE) -> list[str]:
    """Go in a container, as the caller's user; it sees the module, its caches and `output`."""
    caches = cache_root() / "go"
    caches.mkdir(parents=True, exist_ok=True)
    settings = {
        "HOME": str(caches),
        "GOCACHE": f"{caches}/build",
        "GOMODCACHE": f"{caches}/modules",
        "GOFLAGS": "-modcacherw",  # else only root could remove the modules again
        **{name: os.environ[name] for name in NETWORK_VARIABLES if name in os.environ},
        **variables,
    }
    mounts = [f"{module}:{module}:ro", f"{caches}:{caches}", f"{output}:{output}"]
    if MACHINE_CA.exists():
        mounts.append(f"{MACHINE_CA}:{MACHINE_CA}:ro")
    return [
        *(docker.client(), "run", "--rm", "--init", "--network=host"),
        *("--user", f"{os.getuid()}:{os.getgid()}", "--workdir", str(module)),
        *(part for mount in mounts for part in ("--volume", mount)),
        *(part for setting in _assigned(settings) for part in ("--env", setting)),
        *(GO_IMAGE, "go"),
    ]


def _assigned(variables: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in variables.items()]
