"""The images that the Projects name: none is pulled for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bernstein.api.project import Project
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor.finding import Finding, Outcome, listed, unreadable
from bernstein.core import labels
from bernstein.core.sanitise import line, some
from bernstein.kube.resource import PODS, Object

CHECK = "images"
_NOT_PULLED = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
_PLACEHOLDER = ("example.com", "example.org", "example.net")
"""Hosts that are nobody's: what is written there stands for a name of yours."""
_LONGEST = 300


async def look(cluster: Cluster, projects: Sequence[Project]) -> list[Finding]:
    findings = [*placeholders(projects)]
    pods = await listed(cluster.client, PODS, cluster.namespace)
    if pods is None:
        what = f"pods in namespace '{cluster.namespace}', which tell whether images were pulled"
        return [*findings, unreadable(CHECK, what)]
    findings += not_pulled(pods)
    if findings:
        return findings
    text = f"no pod of ours waits for an image in namespace '{cluster.namespace}'"
    return [Finding(CHECK, Outcome.GOOD, text)]


def placeholders(projects: Iterable[Project]) -> Iterator[Finding]:
    """Those that were never filled in."""
    for project in projects:
        name = project.metadata.name
        fields = [field for field, image in _named(project) if _is_placeholder(image)]
        if fields:
            text = f"'{name}' names an image that stands for yours: {', '.join(fields)}"
            remedy = "name the image in your registry; the page 'Set up a team' says what it holds"
            yield Finding(CHECK, Outcome.BAD, text, remedy, name)


def _named(project: Project) -> Iterator[tuple[str, str]]:
    spec = project.spec
    for number, agent in enumerate(spec.agents):
        yield f"spec.agents[{number}].image", agent.image
    yield "spec.toolchain.image", spec.toolchain.image
    for number, gate in enumerate(spec.gates.pipeline):
        if gate.image is not None:
            yield f"spec.gates.pipeline[{number}].image", gate.image


def _is_placeholder(image: str) -> bool:
    host = image.partition("/")[0].partition(":")[0]
    return any(host == each or host.endswith(f".{each}") for each in _PLACEHOLDER)


def not_pulled(pods: Iterable[Object]) -> Iterator[Finding]:
    """One for each image that a pod of ours waits for, with what the node said of it."""
    waiting: dict[str, list[str]] = {}
    said: dict[str, str] = {}
    for pod in pods:
        if (pod["metadata"].get("labels") or {}).get(labels.MANAGED_BY) != labels.MANAGER:
            continue
        status = pod.get("status") or {}
        for each in (
            *(status.get("initContainerStatuses") or ()),
            *(status.get("containerStatuses") or ()),
        ):
            held = (each.get("state") or {}).get("waiting") or {}
            if held.get("reason") in _NOT_PULLED:
                image = str(each.get("image"))
                waiting.setdefault(image, []).append(pod["metadata"]["name"])
                said.setdefault(image, f"{held['reason']}: {held.get('message') or ''}")
    for image, names in sorted(waiting.items()):
        cause = line(said[image], _LONGEST).removesuffix(":")
        text = f"'{image}' is not pulled for {some(names, len(names))} ({cause})"
        remedy = "correct the image in the Project, or name a Secret in spec.pods.imagePullSecrets"
        yield Finding(CHECK, Outcome.BAD, text, remedy, image)
