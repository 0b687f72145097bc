"""The nodes of a workflow in words: what each waits for, how it stands, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic.alias_generators import to_snake

from bernstein.api.plans.workflow import Edge, Node, NodeStatus, Phase, Workflow
from bernstein.core.drawing.model import Tone
from bernstein.core.plans.workflows.definition import Definition
from bernstein.core.sanitise import count
from bernstein.core.serializers import decided

TONES: dict[str, Tone] = {
    "Pending": "waiting",
    "Awaiting": "waiting",
    "Running": "running",
    "Looping": "verifying",
    "Done": "done",
    "Failed": "failed",
    "Cancelled": "cancelled",
    "Skipped": "cancelled",
}
"""By state of a node."""
_RUN = ("Running", "Looping", "Done", "Failed")
"""States of one that runs, or has run."""


def by_phase(workflow: Workflow) -> Iterator[tuple[Phase, tuple[Node, ...]]]:
    """The phases in their order, each with its nodes. Where nobody has looked at it yet, a node may
    name a phase that there is not."""
    named = {phase.name: phase for phase in workflow.phases}
    for name in dict.fromkeys((*named, *(node.phase for node in workflow.nodes))):
        its = tuple(node for node in workflow.nodes if node.phase == name)
        yield named.get(name) or Phase(name=name), its


def title(node: Node) -> str:
    """What it is called, and what is to be done where that is said."""
    return node.name if node.title is None else f"{node.name}: {node.title}"


def state(standing: NodeStatus | None) -> str:
    """How it stands: `running`, and from the second run on `running #2`. "": nothing is known."""
    if standing is None:
        return ""
    word = to_snake(standing.state)
    return f"{word} #{standing.run}" if standing.run > 1 else word


def about_phase(phase: Phase) -> str:
    """What is said of a phase beside its name; "" for nothing."""
    parts = ["asks a person before it begins"] if phase.requires_approval else []
    if phase.allowed_roles:
        parts.append(f"only {', '.join(phase.allowed_roles)}")
    return ", ".join(parts)


def sources(node: Node) -> tuple[str, ...]:
    """What must have ended before it runs, and how."""
    told = tuple(_edge(edge) for edge in node.depends_on)
    return (f"any of: {told[0]}", *told[1:]) if node.join == "any" and len(told) > 1 else told


def _edge(edge: Edge) -> str:
    return edge.source if edge.condition is None else f"{edge.source} if {edge.condition}"


def again(definition: Definition, node: Node, *, elsewhere: bool = False) -> str:
    """Until when it runs again, or has what it mends run again; "" where it runs once.

    `elsewhere`: it stands at the node that is mended, so that it says whose runs they are.
    """
    retry = definition.retry(node.name)
    if retry is None:
        return ""
    mended = definition.mends.get(node.name)
    whose = f" of {mended}" if mended is not None else ""
    own = f" of {node.name}" if elsewhere and mended is not None else ""
    return f"until {retry.until}{whose}, at most {count(retry.max_attempts, 'run')}{own}"


def decisions(node: Node, standing: NodeStatus | None) -> tuple[str, ...]:
    """What its edges came to, of those that are decided. One that holds no more since the node has
    run, as in a loop, is told as such."""
    ran = node.join != "any" and standing is not None and standing.state in _RUN
    unmet = "no more" if ran else "no"
    return tuple(
        f"{edge.source}: {'yes' if found.satisfied else unmet}, {found.on}"
        for edge, found in decided(node, standing)
        if found is not None
    )


def why(definition: Definition, node: Node, course: Mapping[str, NodeStatus]) -> str:
    """Why it stands as it does; "" where its Task says that, or its state does."""
    standing = course.get(node.name)
    if standing is None:
        return ""
    mending = [link.target for link in definition.loops.get(node.name, ())]
    if standing.exhausted:
        return f"no run of {', '.join(mending or [node.name])} is left"
    if standing.state == "Awaiting":
        return f"a person must let the phase {node.phase} begin"
    if standing.state == "Looping":
        mended = definition.mends.get(node.name)
        return f"waits for {', '.join([mended] if mended else mending or [node.name])} to decide"
    edges = [*decided(node, standing)]
    if standing.state == "Pending":
        waits = [edge.source for edge, found in edges if found is None]
        return f"waits for {', '.join(dict.fromkeys(waits))}" if waits else ""
    if standing.state == "Skipped":
        unmet = (each for each in edges if each[1] is not None and not each[1].satisfied)
        return "; ".join(f"not {_edge(edge)} ({found.on})" for edge, found in unmet if found)
    return ""
