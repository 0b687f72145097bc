"""Every field that a spec can have, at the model that declares it: what several share is one."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic.fields import FieldInfo


@dataclass(frozen=True)
class Field:
    """A field of a model, in the two spellings: as Python has it and as objects are written."""

    model: type[BaseModel]
    name: str
    alias: str

    def __str__(self) -> str:
        return f"{self.model.__name__}.{self.name}"

    @property
    def spellings(self) -> frozenset[str]:
        return frozenset({self.name, self.alias})


def spec_fields(kinds: Iterable[type[BaseModel]]) -> Mapping[str, Field]:
    """The fields of all models that can be reached from the specs of these kinds."""
    found: dict[str, Field] = {}
    for model in _reachable(kinds):
        for name, info in model.model_fields.items():
            field = Field(_declarer(model, name), name, _alias(name, info))
            known = found.setdefault(str(field), field)
            if known.model is not field.model:
                raise ValueError(f"two models with fields in specs are named {field}")
    return found


def _reachable(kinds: Iterable[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """Each model once."""
    seen: set[type[BaseModel]] = set()
    waiting = [m for kind in kinds for m in _models(kind.model_fields["spec"].annotation)]
    while waiting:
        model = waiting.pop()
        if model not in seen:
            seen.add(model)
            yield model
            for info in model.model_fields.values():
                waiting.extend(_models(info.annotation))


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """The models in a type, in lists, maps and unions too."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from _models(inner)


def _declarer(model: type[BaseModel], name: str) -> type[BaseModel]:
    """The class that has the field in its own body."""
    return next(
        base
        for base in model.__mro__
        if issubclass(base, BaseModel) and name in inspect.get_annotations(base)
    )


def _alias(name: str, info: FieldInfo) -> str:
    return info.alias or name
