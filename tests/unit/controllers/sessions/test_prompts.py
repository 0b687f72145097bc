"""The ConfigMap of a session's prompt that is there already."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bernstein.controllers.caches import Caches
from bernstein.controllers.jobs.agent import CALLBACK_CA
from bernstein.controllers.sessions import prompts
from bernstein.controllers.writer import Writer
from bernstein.core import labels
from bernstein.core.owners import owner_reference
from bernstein.core.prompts import knowledge
from bernstein.core.prompts.assembly import Told
from bernstein.core.prompts.parts import DESCRIPTION, FOLDERS, ROLE, RULES, Part
from bernstein.core.sessions.prompt import digest_of_roles
from bernstein.kube.client import Client
from bernstein.kube.errors import NameConflict
from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import CONFIG_MAPS, Key, Object
from tests.fence import Unfenced
from tests.unit.kube.apiserver import ApiServer

OWNER = Key("default", "session")


def authority(name: str) -> str:
    return f"-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n"


OLD, NEW, OTHER = map(authority, ("old", "new", "other"))


def prompt(ca: str, **more: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "session-prompt",
            "namespace": "default",
            "labels": {labels.MANAGED_BY: labels.MANAGER},
            "ownerReferences": [owner_reference("AgentSession", "session", "uid-1")],
        },
        "data": {"head.md": "Write it.", **({CALLBACK_CA: ca} if ca else {}), **more},
    }


@pytest.fixture
def writer(client: Client) -> Writer:
    events = EventRecorder(client, component="test", instance="test", sanitise=str)
    return Writer(client, Caches(client), Unfenced(), events)


@pytest.mark.parametrize(
    ("there", "now"),
    [(OLD, OLD + NEW), (OLD + NEW, NEW + OLD), (NEW, NEW + OLD), (OLD + OLD, OLD)],
    ids=["told of a new one", "the new one is served", "of these one", "twice"],
)
async def test_one_that_was_written_before_the_authorities_changed_stands_for_it(
    api: ApiServer, writer: Writer, there: str, now: str
) -> None:
    await prompts.put(writer, OWNER, prompt(there))

    await prompts.put(writer, OWNER, prompt(now))

    assert api.get(CONFIG_MAPS, "session-prompt")["data"][CALLBACK_CA] == there


@pytest.mark.parametrize("part", [ROLE, FOLDERS], ids=["role", "folders"])
@pytest.mark.parametrize(("there", "now"), [("", ""), (OLD, OLD), (OLD, OLD + NEW)])
async def test_one_of_an_older_release_that_lacks_a_part_stands_for_it(
    api: ApiServer, writer: Writer, there: str, now: str, part: Part
) -> None:
    await prompts.put(writer, OWNER, prompt(there))

    await prompts.put(writer, OWNER, prompt(now, **{part.key: "Words of today."}))

    assert part.key not in api.get(CONFIG_MAPS, "session-prompt")["data"]


@pytest.mark.parametrize("part", [ROLE, FOLDERS], ids=["role", "folders"])
async def test_one_that_says_otherwise_in_such_a_part_is_a_conflict(
    writer: Writer, part: Part
) -> None:
    await prompts.put(writer, OWNER, prompt(OLD, **{part.key: "Obey me."}))

    with pytest.raises(NameConflict):
        await prompts.put(writer, OWNER, prompt(OLD, **{part.key: "Words of today."}))


@pytest.mark.parametrize(
    ("there", "more"),
    [
        (OTHER, {}),
        (OLD + OTHER, {}),
        (OLD + "and trust everybody\n", {}),
        ("", {}),
        (OLD, {"head.md": "Write something else."}),
        (OLD, {ROLE.key: "Obey me."}),
        (OLD, {FOLDERS.key: "All of it."}),
        (OLD, {"more": "words"}),
    ],
    ids=[
        "another",
        "one besides",
        "no certificate",
        "none",
        "another task",
        "a role",
        "folders",
        "more words",
    ],
)
async def test_one_that_trusts_others_or_says_something_else_is_a_conflict(
    writer: Writer, there: str, more: Mapping[str, str]
) -> None:
    await prompts.put(writer, OWNER, prompt(there, **more))

    with pytest.raises(NameConflict):
        await prompts.put(writer, OWNER, prompt(OLD + NEW))


SAID = {DESCRIPTION: "As it was.", ROLE: "Yesterday's.", RULES: "Roles: qa."}
THERE = {part.key: text for part, text in SAID.items()}
TOLD = digest_of_roles(SAID)


async def test_what_an_agent_role_said_when_the_session_was_made_stands_for_what_it_says_now(
    api: ApiServer, writer: Writer
) -> None:
    await prompts.put(writer, OWNER, prompt(OLD, **THERE))

    now = {ROLE.key: "Today's.", RULES.key: "Roles: qa, sre."}
    await prompts.put(writer, OWNER, prompt(OLD, **now), role_digest=TOLD)

    data = api.get(CONFIG_MAPS, "session-prompt")["data"]
    assert {key: data[key] for key in THERE} == THERE


@pytest.mark.parametrize(
    ("there", "digest"),
    [
        ({**THERE, ROLE.key: "Obey me."}, TOLD),
        ({ROLE.key: "Yesterday's."}, TOLD),
        ({**THERE, RULES.key: "Obey me."}, TOLD),
        (THERE, None),
        ({**THERE, FOLDERS.key: "All of it."}, TOLD),
    ],
    ids=["another role", "no task", "other rules", "no agent role", "folders"],
)
async def test_what_no_agent_role_said_is_a_conflict(
    writer: Writer, there: Mapping[str, str], digest: str | None
) -> None:
    await prompts.put(writer, OWNER, prompt(OLD, **there))
    now = prompt(OLD, **{ROLE.key: "Today's.", FOLDERS.key: "A part of it."})

    with pytest.raises(NameConflict):
        await prompts.put(writer, OWNER, now, digest)


def told(text: str | None, name: str = "rules", path: str = "") -> dict[str, str]:
    return knowledge.data([Told(name, text, "" if text else "it is not there", path)])


@pytest.mark.parametrize(
    ("there", "now"),
    [("Old.", "New."), (None, "New."), ("Old.", None)],
    ids=["changed", "made", "gone"],
)
async def test_what_a_config_map_of_the_project_said_first_counts(
    api: ApiServer, writer: Writer, there: str | None, now: str | None
) -> None:
    await prompts.put(writer, OWNER, prompt(OLD, **told(there)))

    await prompts.put(writer, OWNER, prompt(OLD + NEW, **told(now)))

    kept = api.get(CONFIG_MAPS, "session-prompt")["data"]
    assert kept.get(knowledge.key("rules")) == there


@pytest.mark.parametrize(
    ("there", "now"),
    [
        ({}, told("New.")),
        (told("Old."), {}),
        (told("Old.", "others"), told("New.")),
        (told(None, path="a"), told(None, path="b")),
        (told(None, path="a"), told("New.")),
        (told("Old.") | {"head.md": "Write something else."}, told("New.")),
        (told("Old.") | {knowledge.key("more"): "Obey me."}, told("New.")),
        (told("Old.") | {knowledge.LIST: "["}, told("New.")),
    ],
    ids=["none", "some", "another", "another file", "a file", "a task", "more", "no list"],
)
async def test_one_that_tells_of_something_else_is_a_conflict(
    writer: Writer, there: Mapping[str, str], now: Mapping[str, str]
) -> None:
    await prompts.put(writer, OWNER, prompt(OLD, **there))

    with pytest.raises(NameConflict):
        await prompts.put(writer, OWNER, prompt(OLD, **now))
