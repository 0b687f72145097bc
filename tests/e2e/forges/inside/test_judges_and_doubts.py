"""In real pods the key of a model is found where that is asked, and nowhere else; and what only
looks whether work has landed finds nothing that could push."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bernstein.core import labels
from tests.background import wait_for
from tests.e2e.conftest import EXISTS, Object, does, writing
from tests.e2e.forges.conftest import MakeTeam, Team
from tests.e2e.forges.inside.container import ENVIRONMENT, needs_root
from tests.e2e.forges.inside.looks import Looks, looking
from tests.e2e.forges.inside.table import ASKING, TABLE
from tests.e2e.forges.inside.test_every_pod import give_keys
from tests.e2e.gates.endpoint import KEY, MODEL, Endpoint, serving
from tests.e2e.gates.judging import judges, model
from tests.gitea import Gitea
from tests.stack import Stack
from tests.unit.controllers.jobs.credentials import held

ASKED: Object = {"type": "llm_judge", "criteria": "[sure] X is one."}
STAGES: list[Object] = [
    {"name": "build", "steps": [{"title": "new", "completionSignals": [ASKED, EXISTS]}]}
]


@pytest.fixture
def endpoint(stack: Stack) -> Iterator[Endpoint]:
    turn = {"text": judges("accept", 0.9)}
    with serving(stack, [{"name": "sure", "match": "[sure]", "turns": [turn]}]) as served:
        yield served


@pytest.fixture
def looks(forge: Gitea) -> Iterator[tuple[Looks, int]]:
    needs_root()
    with looking(forge.host, forge.port) as (made, (port,)):
        yield made, port


def probe_of(here: Team) -> Any:
    """The pod of its probe, which waits for the forge."""
    found: list[Any] = []

    def look() -> bool:
        pods = here.all("pods")
        found[:] = [each for each in pods if each["metadata"]["labels"].get(labels.JOB) == "probe"]
        return bool(found)

    wait_for(look, 90)
    return found[0]["spec"]


def test_a_model_s_key_and_what_delivers_are_where_they_are_needed_alone(
    team: MakeTeam, forge: Gitea, endpoint: Endpoint, looks: tuple[Looks, int], tmp_path: Path
) -> None:
    saw, port = looks

    def change(spec: Object) -> None:
        (app,) = spec["repositories"]
        app["url"] = app["url"].replace(f":{forge.port}/", f":{port}/")
        spec["models"] = [model(MODEL, "anthropic", endpoint.url)]
        spec["attestation"] = {"key": {"name": "keys", "key": "pem"}}

    here = team([does("new", writing("new.py", "X = 1\n"))], change)
    give_keys(here, tmp_path)
    where = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "judge-key"}}
    ca = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "models-ca"}}
    given = {**where, "stringData": {"api-key": KEY}}
    here.apply(given, {**ca, "data": {"ca.crt": endpoint.certificate.ca}})
    here.secrets["model"] = KEY
    # What tries the key of a model may be over before somebody looks: its pod is read as admitted.
    probe = probe_of(here)
    told = {each["name"]: {*held(probe, each)} for each in probe["containers"]}
    keys = {name for name, its in told.items() if any("judge-key" in each for each in its)}
    assert {name: told[name] for name in keys} == {"key-0": {"variable judge-key/api-key"}}

    saw.kills.add("land")
    saw.begin(here)
    here.plan("shop", STAGES)
    here.await_(
        "plan", "shop", lambda p: p["status"]["delivery"]["state"] == "PullRequestOpen", 360
    )

    assert not saw.faults
    assert not saw.kills
    expected = {(kind, name): its for kind, names in ASKING.items() for name, its in names.items()}
    found = saw.held()
    assert {who: found.get(who) for who in expected} == {
        who: [its] for who, its in expected.items()
    }
    others = {who: its for who, its in found.items() if who not in expected}
    assert others.keys() >= {("agent", "agent"), ("agent", "pusher"), ("propose", "propose")}
    elsewhere = {
        who: each["model"] for who, its in others.items() for each in its if "model" in each
    }
    assert elsewhere in ({}, {("probe", "key-0"): {ENVIRONMENT}}), "it may be over before"
    usual = {(kind, name): its for kind, names in TABLE.items() for name, its in names.items()}
    for who in others.keys() & usual.keys() - {("land a plan", "land")}:
        assert others[who] == [usual[who]], who
