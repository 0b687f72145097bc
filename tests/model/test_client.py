"""The model's client is called as the real one is."""

from __future__ import annotations

import inspect

import pytest

from bernstein.kube.client import Client
from tests.model.client import ModelClient

INHERITED = ("list",)
"""Made of other public methods."""
PUBLIC = [name for name in vars(Client) if not name.startswith("_") and name not in INHERITED]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_method_of_the_client_is_there_with_the_same_signature(name: str) -> None:
    real, model = inspect.getattr_static(Client, name), vars(ModelClient)[name]

    assert type(real) is type(model)
    if inspect.isfunction(real):
        assert _parameters(model) == _parameters(real)


def _parameters(method: object) -> list[tuple[str, object, object]]:
    assert callable(method)
    found = inspect.signature(method).parameters.values()
    return [(p.name, p.kind, p.default) for p in found]
