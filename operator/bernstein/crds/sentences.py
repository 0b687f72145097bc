"""What the models say of their fields, out of the sentences that stand below these.

They are read from the source when a schema is made, and not when a model is: pods have no time.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any

from bernstein.api.meta import Model

Schema = dict[str, Any]


def told(model: type[Model]) -> Schema:
    """The model's JSON schema with a sentence for each field that has one below it."""
    schema = model.model_json_schema(by_alias=True)
    models = {each.__name__: each for each in _used(model)}
    for name, part in (*schema.get("$defs", {}).items(), (model.__name__, schema)):
        if name in models:
            _tell(part, models[name])
    return schema


def _tell(schema: Schema, model: type[Model]) -> None:
    sentences: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Model):
            sentences |= _sentences(base)
    for field, info in model.model_fields.items():
        place = schema["properties"].get(info.alias or field, {})
        if field in sentences:
            place.setdefault("description", sentences[field])


def _used(model: type[Model]) -> Iterator[type[Model]]:
    """All models of the module tree that the model may be made of."""
    yield model
    for base in Model.__subclasses__():
        yield from _below(base)


def _below(model: type[Model]) -> Iterator[type[Model]]:
    if model.__module__.startswith("bernstein.api."):
        yield model
    for each in model.__subclasses__():
        yield from _below(each)


@cache
def _sentences(model: type[Model]) -> dict[str, str]:
    """By field: the text that stands alone below it."""
    (declared,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(declared, ast.ClassDef)
    found = {}
    for field, below in zip(declared.body, declared.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found
