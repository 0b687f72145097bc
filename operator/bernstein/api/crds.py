"""The CustomResourceDefinitions, generated from the models.

`python -m bernstein.api.crds [DIR ...]` writes one file per kind into every folder named; without
one, into the repository's folders (run it at the root of the repository). With `--check` it writes
nothing, names the files that are not up to date, and fails if there are any.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bernstein.api.meta import GROUP, VERSION, Model
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.task import Task

FOLDERS = ("crds", "charts/bernstein/files/crds")
HEADER = (
    "# Generated from the models in operator/bernstein/api: do not edit.\n"
    "# To make it anew: python -m bernstein.api.crds\n"
)

Schema = dict[str, Any]

_KEPT = (  # and the order in which they are written
    "description",
    "type",
    "format",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "default",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
    "required",
    "properties",
    "items",
    "additionalProperties",
)


@dataclass(frozen=True)
class Column:
    """A column of `kubectl get`; a wide one shows with `-o wide` only."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False

    def schema(self) -> Schema:
        column: Schema = {"name": self.name, "type": self.type, "jsonPath": self.path}
        return column | {"priority": 1} if self.wide else column


def _condition(kind: str, field: str = "status") -> str:
    return f'.status.conditions[?(@.type=="{kind}")].{field}'


AGE = Column("Age", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True)
class Kind:
    model: type[Model]
    plural: str
    short_name: str
    columns: tuple[Column, ...]

    @property
    def name(self) -> str:
        return self.model.__name__


KINDS = (
    Kind(
        Project,
        "projects",
        "bproj",
        (
            Column("Repository", ".spec.repositories[0].name"),
            Column("Ready", _condition("Ready")),
            Column("Reason", _condition("Ready", "reason")),
            Column("Running", ".status.running", "integer"),
            Column("Max", ".spec.limits.maxAgents", "integer"),
            AGE,
            Column("URL", ".spec.repositories[0].url", wide=True),
            Column("Branch", ".spec.repositories[0].branch", wide=True),
            Column("Merge", ".spec.merge.strategy", wide=True),
        ),
    ),
    Kind(
        Plan,
        "plans",
        "bplan",
        (
            Column("Phase", ".status.phase"),
            Column("Stage", ".status.currentStage"),
            Column("Closed", ".status.counts.closed", "integer"),
            Column("Total", ".status.counts.total", "integer"),
            Column("Failed", ".status.counts.failed", "integer"),
            Column("Stalled", _condition("Stalled", "reason")),
            Column("Cost", ".status.spendUsd"),
            AGE,
            Column("Running", ".status.counts.running", "integer", wide=True),
            Column("Budget", ".spec.budget", wide=True),
            Column("Delivery", ".status.delivery.state", wide=True),
            Column("SHA", ".status.delivery.sha", wide=True),
            Column("Project", ".status.project", wide=True),
        ),
    ),
    Kind(
        Task,
        "tasks",
        "btask",
        (
            Column("State", ".status.state"),
            Column("Attempt", ".status.attempt", "integer"),
            Column("Waiting", ".status.queue.reason"),
            Column("Verified", _condition("Verified")),
            Column("Delivery", ".status.delivery.state"),
            Column("Cost", ".status.spendUsd"),
            AGE,
            Column("Role", ".spec.role", wide=True),
            Column("Agent", ".spec.cli", wide=True),
            Column("Model", ".status.model", wide=True),
            Column("SHA", ".status.delivery.sha", wide=True),
            Column("Stalled", _condition("Stalled", "reason"), wide=True),
            Column("Title", ".spec.title", wide=True),
        ),
    ),
    Kind(
        AgentSession,
        "agentsessions",
        "bsess",
        (
            Column("Task", ".spec.taskRef.name"),
            Column("State", ".status.state"),
            Column("Outcome", ".status.outcome.reason"),
            Column("Heartbeat", ".status.report.heartbeatTime", "date"),
            Column("Progress", ".status.report.progress"),
            AGE,
            Column("Agent", ".spec.agent", wide=True),
            Column("Model", ".spec.model", wide=True),
            Column("Input", ".status.report.usage.input", "integer", wide=True),
            Column("Output", ".status.report.usage.output", "integer", wide=True),
            Column("SHA", ".status.work.sha", wide=True),
            Column("Pod", ".status.pod.name", wide=True),
            Column("Node", ".status.pod.node", wide=True),
        ),
    ),
)


def definition(kind: Kind) -> Schema:
    """The CustomResourceDefinition of one kind."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{kind.plural}.{GROUP}",
            # Uninstalling the chart must not delete every Plan of the cluster.
            "annotations": {"helm.sh/resource-policy": "keep"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "singular": kind.name.lower(),
                "shortNames": [kind.short_name],
                "categories": ["bernstein"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [c.schema() for c in kind.columns],
                    "schema": {"openAPIV3Schema": object_schema(kind.model)},
                }
            ],
        },
    }


def object_schema(model: type[Model]) -> Schema:
    """Structural schema of a kind's objects.

    Defaults of the spec stay, so that the API server applies them and an object that spells them
    out equals one that does not. Of the status only `observedGeneration: -1` stays: it keeps a new
    object from counting as reconciled, everything else is the controllers' to write.
    """
    raw = model.model_json_schema(by_alias=True)
    definitions = raw.get("$defs", {})
    parts = raw["properties"]
    status = _structural(parts["status"], definitions, defaults=False)
    status["properties"]["observedGeneration"]["default"] = -1
    status = {"type": "object", "default": {"observedGeneration": -1}, **status}
    schema: Schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": _structural(parts["spec"], definitions, defaults=True),
            "status": status,
        },
    }
    if rules := raw.get("x-kubernetes-validations"):
        schema["x-kubernetes-validations"] = rules
    return schema


def _structural(node: Mapping[str, Any], definitions: Mapping[str, Any], defaults: bool) -> Schema:
    """What pydantic wrote, with references inlined and everything gone that a CRD may not have."""
    flat = _inline(node, definitions)
    flat.pop("title", None)
    if flat.get("default") is None or not defaults:
        flat.pop("default", None)
    if "const" in flat:
        flat["enum"] = [flat.pop("const")]
    if unknown := flat.keys() - set(_KEPT):
        raise ValueError(f"a CRD cannot say {sorted(unknown)}: {dict(node)}")
    if "description" in flat:
        flat["description"] = " ".join(flat["description"].split())
    if flat["type"] == "integer":
        flat["format"] = "int64"
    for key in ("items", "additionalProperties"):
        if key in flat:
            flat[key] = _structural(flat[key], definitions, defaults)
    if "properties" in flat:
        required = flat.get("required", ())
        flat["properties"] = {
            name: _property(child, definitions, defaults, optional=name not in required)
            for name, child in flat["properties"].items()
        }
    return {key: flat[key] for key in _KEPT if key in flat}


def _property(
    node: Mapping[str, Any], definitions: Mapping[str, Any], defaults: bool, optional: bool
) -> Schema:
    schema = _structural(node, definitions, defaults)
    # Pydantic does not write out the default of a default_factory. `{}` lets the API server fill in
    # the defaults of the fields below; a field that may be null has an anyOf and gets none.
    if defaults and optional and "$ref" in node and schema["type"] == "object":
        schema["default"] = {}
    return schema


def _inline(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """Resolve `$ref` and `X | None`; what stands beside them wins."""
    beside = {k: v for k, v in node.items() if k not in ("$ref", "anyOf")}
    if "$ref" in node:
        target = definitions[node["$ref"].removeprefix("#/$defs/")]
        return {**_inline(target, definitions), **beside}
    if "anyOf" in node:
        choices = [c for c in node["anyOf"] if c.get("type") != "null"]
        if len(choices) != 1:
            raise ValueError(f"a CRD's field has one type: {dict(node)}")
        return {**_inline(choices[0], definitions), **beside}
    return beside


def files() -> dict[str, str]:
    """File name -> content of every CRD."""
    return {f"{kind.plural}.yaml": _text(definition(kind)) for kind in KINDS}


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(crd: Schema) -> str:
    body = yaml.dump(crd, Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True)
    return HEADER + body


def write(folders: Iterable[Path]) -> list[Path]:
    """Write every CRD into every folder; files of kinds that are gone are removed."""
    written = []
    wanted = files()
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.yaml"):
            if old.name not in wanted:
                old.unlink()
        for name, content in wanted.items():
            (folder / name).write_text(content)
            written.append(folder / name)
    return written


def outdated(folders: Collection[Path]) -> list[Path]:
    """Files that are missing, not what the models say, or of kinds that are gone."""
    contents = files()
    wanted = {folder / name: contents[name] for folder in folders for name in contents}
    present = {path for folder in folders for path in folder.glob("*.yaml")}
    kept = {path for path in present if wanted.get(path) == path.read_text()}
    return sorted((wanted.keys() | present) - kept)


def main(arguments: Sequence[str]) -> int:
    """Writes the files into the folders named, by default both; `--check` writes nothing."""
    folders = [Path(folder) for folder in arguments if folder != "--check"]
    folders = folders or [Path(folder) for folder in FOLDERS]
    checking = "--check" in arguments
    paths = outdated(folders) if checking else write(folders)
    for path in paths:
        sys.stdout.write(f"{path} is not up to date: make generate\n" if checking else f"{path}\n")
    return int(checking and bool(paths))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
