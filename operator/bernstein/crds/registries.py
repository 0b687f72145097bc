"""What the registries say in the schemas: words that a field takes, and rules that go with them.

The models only name the registry (`words_of`, `rules_of`), because registries stand above them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from pydantic.alias_generators import to_camel

from bernstein import agents
from bernstein.agents import TakesBaseUrl, TakesCommand
from bernstein.api.meta import RULES, WORDS, CelRule, needs, refuses, rule
from bernstein.api.signals import Signal
from bernstein.checks import gates, signals

_VALIDATIONS = "x-kubernetes-validations"


def filled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with words and rules in the place of the registries' names."""
    found = dict(schema)
    if registry := found.pop(WORDS, None):
        found.pop("maxLength", None)
        found["enum"] = list(_WORDS[registry]())
    if registry := found.pop(RULES, None):
        # In the order of keys that pydantic gives to a model's own rules.
        added = [dict(sorted(each.items())) for each in _RULES[registry]()]
        found[_VALIDATIONS] = [*found.get(_VALIDATIONS, ()), *added]
    return found


# --- signals ------------------------------------------------------------------------------------


def _signal_rules() -> Iterator[CelRule]:
    """For each field the types that need it, and that all others refuse it."""
    for field in Signal.model_fields:
        need = [kind.type for kind in signals.SIGNALS if field in kind.needs]
        take = [kind.type for kind in signals.SIGNALS if field in kind.fields]
        name, what = to_camel(field), _object(to_camel(field))
        if need:
            told = f"{_and(need)} {_verb('need', need)} {what}"
            yield needs(name, _is("type", need), told)
        if take:
            told = f"only {_and(take)} {_verb('take', take)} {what}"
            yield refuses(name, _is_not("type", take), told)


# --- gates --------------------------------------------------------------------------------------


def _gate_rules() -> Iterator[CelRule]:
    """A command and an image are needed where nothing is built in and no class says what to do, and
    refused where nothing runs; what shares a Job shares its time."""
    own = f"!({_is('name', gates.names(), always_list=True)})"
    shares = _is("name", gates.that_execute_nothing(), always_list=True)
    bare = f"{own} && !has(self.plugin)"
    told = "a gate that is not built in needs a command, or plugin: Python"
    yield {**needs("command", bare, told), "messageExpression": _naming_gates(told)}
    # Of a name that is spelled wrong the command alone is missed: that message names what there is.
    with_command = f"{bare} && has(self.command)"
    told = "a gate that is not built in needs an image, or plugin: Python"
    yield needs("image", with_command, told)
    built_in = _is("name", gates.names(), always_list=True)
    yield refuses("plugin", built_in, "a gate in Python needs a name that no built-in gate has")
    yield refuses("command", "has(self.plugin)", "a gate in Python takes no command")
    yield refuses("command", shares, "this gate executes nothing and takes no command")
    yield refuses("image", shares, "this gate executes nothing and takes no image")
    yield refuses("paths", shares, "this gate shares a Job with others: it runs for any path")
    writes = _is("name", gates.that_write(), always_list=True)
    yield refuses("paths", writes, "the model is asked whatever has changed: it runs for any path")
    yield refuses(
        "timeoutSeconds",
        shares,
        "this gate shares a Job with others: set gates.timeoutSeconds",
    )
    own_to_them = {
        "severity": gates.of_severity(),
        "database": gates.that_ask_a_database(),
        "tolerance": gates.that_measure(),
        "minimumScore": gates.that_score(),
        "model": gates.that_need_a_model(),
        "blockOnNo": gates.that_may_only_tell(),
    }
    for field, takes in own_to_them.items():
        told = f"only {_and(takes)} {_verb('take', takes)} '{field}'"
        yield refuses(field, f"!({_is('name', takes, always_list=True)})", told)
        if not set(takes) <= {*gates.that_execute_nothing(), *gates.that_write()}:
            # The former take no command anyway, and the latter are asked whatever runs the answer.
            alone = f"'{field}' is for the gate's own command: say it in yours"
            yield refuses(field, "has(self.command)", alone)
    shared = gates.that_ask_for_a_share()
    yield rule(
        f"!({_is('name', shared, always_list=True)}) || !has(self.minimumScore) || "
        "self.minimumScore <= 1.0",
        f"'minimumScore' of {_and(shared)} is a share, from 0 to 1",
        fieldPath=".minimumScore",
    )
    advise = gates.that_advise()
    yield rule(
        f"!({_is('name', advise, always_list=True)}) || !has(self.required) || !self.required",
        f"{_and(advise)} can keep nothing back",
        fieldPath=".required",
    )


def _naming_gates(told: str) -> str:
    """CEL: the message with the name that nobody knows, and those that there are."""
    return f"'\"' + self.name + '\" is not built in, as are {', '.join(gates.names())}: {told}'"


def _model_rules() -> Iterator[CelRule]:
    """Of a Project: what its gates ask is there."""
    # What once was a Project's own gate of such a name goes on with its command; where the test is
    # written by a model that is what runs it.
    asks, own = gates.that_need_a_model(), list(gates.that_ask())
    yield rule(
        "!self.gates.enabled || size(self.models) > 0 || !self.gates.pipeline.exists(g, "
        f"g.name in {list(asks)} && !(g.name in {own} && has(g.command)) && "
        "(!has(g.enabled) || g.enabled))",
        f"{_and(asks)} {_verb('ask', asks)} a model: the Project needs one in models",
        fieldPath=".models",
    )
    yield rule(
        "self.gates.pipeline.all(g, !has(g.model) || self.models.exists(m, m.name == g.model))",
        "a gate's 'model' is the name of one of models",
        fieldPath=".gates.pipeline",
    )
    yield rule(
        "!self.gates.enabled || !self.gates.crossModel.enabled || size(self.models) > 0",
        "gates.crossModel asks a model: the Project needs one in models",
        fieldPath=".models",
    )
    yield rule(
        "self.gates.crossModel.reviewers.all(r, self.models.exists(m, m.name == r))",
        "'reviewers' are names of models",
        fieldPath=".gates.crossModel.reviewers",
    )


# --- adapters -----------------------------------------------------------------------------------


def _adapter_rules() -> Iterator[CelRule]:
    """A field that not every adapter makes something of is refused for the others."""
    runs = [adapter.name for adapter in agents.ADAPTERS if isinstance(adapter, TakesCommand)]
    yield rule(
        f"{_is_not('adapter', runs)} || (has(self.command) && size(self.command) > 0)",
        f"{_adapters(runs)} {_verb('need', runs)} a command",
        fieldPath=".command",
        reason="FieldValueRequired",
    )
    yield rule(
        f"{_is('adapter', runs)} || !has(self.command) || size(self.command) == 0",
        f"only {_adapters(runs)} {_verb('take', runs)} a command",
        fieldPath=".command",
        reason="FieldValueForbidden",
    )
    leads = [adapter.name for adapter in agents.ADAPTERS if isinstance(adapter, TakesBaseUrl)]
    yield refuses(
        "baseUrl",
        _is_not("adapter", leads),
        f"only {_adapters(leads)} {_verb('take', leads)} 'baseUrl'",
    )


def _adapters(names: Collection[str]) -> str:
    return f"{'adapter' if len(names) == 1 else 'adapters'} {_and(names)}"


_WORDS: Final[Mapping[str, Callable[[], Collection[str]]]] = {
    "signals": signals.types,
    "adapters": agents.names,
}
_RULES: Final[Mapping[str, Callable[[], Iterator[CelRule]]]] = {
    "signals": _signal_rules,
    "gates": _gate_rules,
    "models": _model_rules,
    "adapters": _adapter_rules,
}


# --- CEL and its messages -----------------------------------------------------------------------


def _is(field: str, words: Collection[str], *, always_list: bool = False) -> str:
    """CEL: the field is one of the words."""
    if len(words) == 1 and not always_list:
        return f"self.{field} == '{next(iter(words))}'"
    return f"self.{field} in {list(words)}"


def _is_not(field: str, words: Collection[str]) -> str:
    if len(words) == 1:
        return f"self.{field} != '{next(iter(words))}'"
    return f"!({_is(field, words)})"


def _and(words: Collection[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _verb(verb: str, subjects: Collection[str]) -> str:
    return f"{verb}s" if len(subjects) == 1 else verb


def _object(field: str) -> str:
    """What a message calls the field: words of everyday language go without quotes."""
    return f"a {field}" if field in ("path", "value", "command") else f"'{field}'"
