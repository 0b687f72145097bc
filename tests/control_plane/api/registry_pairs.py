"""Values for the CEL rules that come from registries: what each takes and refuses.

They are made of the examples in the test folders, so that a new signal, gate or adapter is tried
without a word here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic.alias_generators import to_camel, to_snake

from bernstein import agents, crds
from bernstein.agents import TakesBaseUrl, TakesCommand
from bernstein.api.project import Project
from bernstein.api.task import Task
from bernstein.checks import gates, signals
from bernstein.checks.signal import SignalKind
from tests.control_plane.objects import JUDGE
from tests.unit.checks import examples

Object = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """Values for the place where a rule stands: one it takes, and all these it refuses."""

    good: Any
    bad: tuple[Any, ...]


def pairs() -> dict[str, Pair]:
    """By the rule's message."""
    return {**dict(_of_signals()), **dict(_of_adapters()), **_of_gates()}


def _rules(model: Any, *path: str) -> list[tuple[str, str, bool]]:
    """(message, field, whether it demands the field) of the items of a list in a spec."""
    place: Object = crds.object_schema(model)["properties"]["spec"]
    for name in path:
        place = place["properties"][name]
    found = place["items"]["x-kubernetes-validations"]
    return [
        (r["message"], r["fieldPath"].lstrip("."), r.get("reason") == "FieldValueRequired")
        for r in found
    ]


def _signal(kind: SignalKind) -> Object:
    return {to_camel(key): value for key, value in examples.of_signal(kind.type).accepted.items()}


def _of_signals() -> Iterable[tuple[str, Pair]]:
    for message, field, demanded in _rules(Task, "completionSignals"):
        name = to_snake(field)
        able = [_signal(kind) for kind in signals.SIGNALS if name in kind.fields]
        if demanded:
            needing = [_signal(kind) for kind in signals.SIGNALS if name in kind.needs]
            yield message, Pair(able[0], tuple(_without(each, field) for each in needing))
        else:
            others = [_signal(kind) for kind in signals.SIGNALS if name not in kind.fields]
            yield message, Pair(able[-1], tuple(e | {field: able[0][field]} for e in others))


def _of_adapters() -> Iterable[tuple[str, Pair]]:
    takes = {"command": (TakesCommand, ["agent"]), "baseUrl": (TakesBaseUrl, "http://llm.example")}
    for message, field, demanded in _rules(Project, "agents"):
        capability, value = takes[field]
        able = [_agent(a) for a in agents.ADAPTERS if isinstance(a, capability)]
        if demanded:
            bad = [each for a in able for each in (_without(a, field), a | {field: []})]
        else:
            others = [_agent(a) for a in agents.ADAPTERS if not isinstance(a, capability)]
            bad = [each | {field: value} for each in others]
        yield message, Pair(able[0] | {field: value}, tuple(bad))


def _agent(adapter: agents.Adapter) -> Object:
    command = {"command": ["agent"]} if isinstance(adapter, TakesCommand) else {}
    return {"name": "a", "image": "i", "adapter": adapter.name, **command}


def _of_gates() -> dict[str, Pair]:
    silent = gates.that_execute_nothing()
    executing = next(name for name in gates.names() if name not in silent)
    built_in, own = {"name": gates.names()[0]}, {"name": "my_own", "command": "true", "image": "i"}
    plugin = {"name": "my_own", "plugin": "Python"}
    refused = {
        "command": "this gate executes nothing and takes no command",
        "image": "this gate executes nothing and takes no image",
        "paths": "this gate shares a Job with others: it runs for any path",
        "timeoutSeconds": "this gate shares a Job with others: set gates.timeoutSeconds",
    }
    values: Object = {"command": "true", "image": "i", "timeoutSeconds": 5, "paths": ["a"]}
    return (
        {
            "a gate that is not built in needs a command, or plugin: Python": Pair(
                plugin, (_without(own, "command"),)
            ),
            "a gate that is not built in needs an image, or plugin: Python": Pair(
                built_in, (_without(own, "image"),)
            ),
            "a gate in Python needs a name that no built-in gate has": Pair(
                plugin | {"image": "i"}, tuple(plugin | {"name": name} for name in gates.names())
            ),
            "a gate in Python takes no command": Pair(own, (plugin | {"command": "true"},)),
            "the model is asked whatever has changed: it runs for any path": Pair(
                {"name": executing, "paths": ["a"]},
                tuple({"name": name, "paths": ["a"]} for name in gates.that_write()),
            ),
        }
        | {
            message: Pair(
                {"name": executing, field: values[field]},
                tuple({"name": name, field: values[field]} for name in silent),
            )
            for field, message in refused.items()
        }
        | dict(_of_settings())
        | _of_demands()
    )


def _of_demands() -> dict[str, Pair]:
    """What is not the same for all gates that take a field."""
    return {
        "'minimumScore' of mutation_testing and agent_test_mutation is a share, from 0 to 1": Pair(
            {"name": "mutation_testing", "minimumScore": 1},
            tuple({"name": n, "minimumScore": 1.01} for n in gates.that_ask_for_a_share()),
        ),
        "auto_format and test_expansion can keep nothing back": Pair(
            {"name": "test_expansion", "required": False},
            tuple({"name": n, "required": True} for n in gates.that_advise()),
        ),
    }


def _of_settings() -> Iterable[tuple[str, Pair]]:
    """Settings that only some gates have, each for the command of the gate itself."""
    settings = {
        "severity": ("low", gates.of_severity()),
        "database": ({"url": "https://osv.example/v1/query"}, gates.that_ask_a_database()),
        "tolerance": (1.5, gates.that_measure()),
        "minimumScore": (0.5, gates.that_score()),
        "model": (JUDGE["name"], gates.that_need_a_model()),
        "blockOnNo": (False, gates.that_may_only_tell()),
    }
    for message, field, _ in _rules(Project, "gates", "pipeline"):
        if field not in settings or message in _of_demands():
            continue
        value, takes = settings[field]
        good = {"name": takes[0], field: value}
        others = [name for name in gates.names() if name not in takes]
        bad = [{"name": name, field: value} for name in others]
        if not message.startswith("only"):
            bad = [good | {"command": "true"}]
        yield message, Pair(good, tuple(bad))


def _without(value: Object, field: str) -> Object:
    return {key: item for key, item in value.items() if key != field}
