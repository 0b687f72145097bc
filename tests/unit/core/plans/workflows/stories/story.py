"""What a story of a workflow is: who ends how, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from bernstein.api.plans.workflow import NodeState, Workflow
from bernstein.core.documents.values import Json

Kind = Literal["Whole", "Failed", "Exhausted"]
Status = Literal["done", "failed", "cancelled"]


@dataclass(frozen=True)
class Outcome:
    """How a run ends."""

    status: Status = "done"
    result: str | None = None
    output: Json = None


@dataclass(frozen=True)
class Story:
    """A workflow, played with one run ending at a time: the one that has begun first."""

    name: str
    said: str
    """The definition as its file has it: phases and nodes. A node without a role is of `backend`;
    a text among the phases is a name."""
    order: str
    """The runs in the order in which they begin; of those that begin together, the file's."""
    ends: Mapping[str, Sequence[Outcome | Status]] = field(default_factory=dict)
    """By node how its runs end; those that are not said end as done."""
    slow: Sequence[str] = ()
    """Nodes whose runs end when no other ones run any more."""
    states: Mapping[str, NodeState] = field(default_factory=dict)
    """How nodes end; those that are not said end Done."""
    kind: Kind = "Whole"
    nodes: Sequence[str] = ()
    """Those that the end names."""
    asked: Sequence[str] = ()
    """The phases that people are asked about. They answer when nothing runs any more."""

    @property
    def workflow(self) -> Workflow:
        return workflow(self.said)

    def outcome(self, name: str, run: int) -> Outcome:
        said = self.ends.get(name, ())
        found = said[run - 1] if run <= len(said) else "done"
        return found if isinstance(found, Outcome) else Outcome(found)


def workflow(said: str) -> Workflow:
    """The object that a file is of."""
    data: dict[str, Any] = yaml.safe_load(said)
    phases = [{"name": p} if isinstance(p, str) else p for p in data.get("phases", ["work"])]
    nodes = [_node(name, node or {}, phases) for name, node in data["nodes"].items()]
    return Workflow.model_validate({"phases": phases, "nodes": nodes})


def _node(name: str, said: Mapping[str, Any], phases: Sequence[Any]) -> dict[str, Any]:
    edges = said.get("depends_on", ())
    depends_on = [{"source": e} if isinstance(e, str) else e for e in edges]
    return {"phase": phases[0]["name"], **said, "name": name, "depends_on": depends_on}
