"""Our requests are as the providers publish them, and what they answer is understood.

In `recordings` each provider has a folder: the request for one question, answers with what is read
of them, and errors with what they mean.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.api.pod import Usage
from bernstein.llm.errors import ModelError
from bernstein.llm.providers import PROVIDERS
from tests.unit.llm.asked import KEY, QUESTION, World

FOLDER = Path(__file__).with_name("recordings")
NAMES = [provider.name for provider in PROVIDERS]


def recorded(provider: str, name: str) -> Any:
    return json.loads((FOLDER / provider / f"{name}.json").read_text())


def each(name: str) -> list[Any]:
    """(provider, case) of all providers."""
    return [
        pytest.param(provider, case, id=f"{provider}-{case.get('name') or case['status']}-{number}")
        for provider in NAMES
        for number, case in enumerate(recorded(provider, name))
    ]


def test_every_provider_is_recorded_and_no_other_is() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("provider", NAMES)
async def test_the_request_is_the_recorded_one(world: World, provider: str) -> None:
    world.at(provider=provider)
    expected = recorded(provider, "request")
    world.answers = [httpx.Response(400)]

    with pytest.raises(ModelError):
        await world.ask(model=_model(provider))

    (request,) = world.requests
    assert request.method == expected["method"]
    assert str(request.url) == expected["url"]
    assert json.loads(request.content) == expected["body"]
    ours = {"accept": "application/json", "accept-encoding": "identity"} | {
        "content-type": "application/json",
        "user-agent": "bernstein",
        "host": request.url.host,
        "content-length": str(len(request.content)),
    }
    theirs = {name: text.replace("KEY", KEY) for name, text in expected["headers"].items()}
    assert dict(request.headers) == ours | theirs


@pytest.mark.parametrize("provider", NAMES)
async def test_without_a_temperature_none_is_sent(world: World, provider: str) -> None:
    world.at(provider=provider)
    world.answers = [httpx.Response(400)]

    with pytest.raises(ModelError):
        await world.ask(question=type(QUESTION)("s", "t", temperature=None))

    assert b"temperature" not in world.requests[0].content


@pytest.mark.parametrize(("provider", "case"), each("answers"))
async def test_an_answer_is_read(world: World, provider: str, case: dict[str, Any]) -> None:
    world.at(provider=provider)
    world.limits = type(world.limits)(attempts=1)
    world.answers = [httpx.Response(200, json=case["body"])]

    if "text" in case:
        answer = await world.ask(model="m")
        assert answer.text == case["text"]
        assert answer.exact is ("usage" in case)
        assert answer.usage == world.allowance.used["m"]
    else:
        with pytest.raises(ModelError) as failed:
            await world.ask(model="m")
        assert failed.value.reason == case["reason"]

    # What it has used counts, whatever use the answer is.
    if "usage" in case:
        assert world.allowance.used == {"m": Usage(**case["usage"])}
        assert world.allowance.exact


@pytest.mark.parametrize(("provider", "case"), each("errors"))
async def test_an_error_has_its_reason(world: World, provider: str, case: dict[str, Any]) -> None:
    world.at(provider=provider)
    world.limits = type(world.limits)(attempts=1)
    world.answers = [
        httpx.Response(case["status"], json=case["body"], headers=case.get("headers", {}))
    ]

    with pytest.raises(ModelError) as failed:
        await world.ask()

    error = failed.value
    assert (error.reason, error.status) == (case["reason"], case["status"])
    assert error.retry_after == case.get("retryAfter")
    assert case["body"]["error"]["message"] in error.said
    # Nobody charges for an error.
    assert world.allowance.used == {}
    assert world.allowance.exact


def _model(provider: str) -> str:
    expected = recorded(provider, "request")
    of_path = expected["url"].rpartition("/")[2].removesuffix(":generateContent")
    return str(expected["body"].get("model", of_path))
