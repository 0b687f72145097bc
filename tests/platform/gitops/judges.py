"""What Argo CD and Flux say of objects: their own code, in a program of ours."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bernstein.kube.resource import Object
from tests.cluster.binaries.programs import GITOPS
from tests.platform.gitops import customizations


@dataclass(frozen=True)
class Shown:
    """What Argo CD shows of an object."""

    status: str
    message: str
    actions: tuple[str, ...]
    """Those that can be chosen."""
    disabled: tuple[str, ...]


@dataclass(frozen=True)
class Waited:
    """How far an object is for Flux."""

    kstatus: str
    """By its conditions alone."""
    expressions: str
    """By the expressions of its kind; "": it has none."""


def shown(objects: Sequence[Object]) -> list[Shown]:
    """By the ConfigMap as Argo CD reads it."""
    said = _ask("argocd-health", config=customizations.data(), objects=objects)
    return [
        Shown(each["status"], each["message"], tuple(each["actions"]), tuple(each["disabled"]))
        for each in said["objects"]
    ]


def acted(obj: Object, action: str, **parameters: str) -> Object:
    """The object as Argo CD would write it after this action."""
    run = {"object": 0, "action": action, "parameters": parameters}
    said = _ask("argocd-health", config=customizations.data(), objects=[obj], run=[run])
    changed: Object = said["changed"][0]
    return changed


def waited(objects: Sequence[Object], expressions: Sequence[Object]) -> list[Waited]:
    said = _ask("flux-status", objects=objects, expressions=expressions)
    return [Waited(each["kstatus"], each["expressions"]) for each in said]


def _ask(judge: str, **question: Any) -> Any:
    """Raises ValueError with what it printed, where a script is at fault."""
    done = subprocess.run(
        [str(GITOPS.ensure()), judge],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise ValueError(done.stderr)
    return json.loads(done.stdout)
