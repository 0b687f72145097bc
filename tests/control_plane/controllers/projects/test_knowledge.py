"""What a Project tells all its agents, on a real API server with the operator's own rights."""

from __future__ import annotations

from typing import Any

from bernstein.api.encoding import dump
from bernstein.api.pod import CheckoutResult, PromptResult
from bernstein.core.prompts import knowledge
from bernstein.core.prompts.assembly import Told
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.controllers.kubelet import Pod, exited
from tests.control_plane.controllers.remote import tree_of
from tests.control_plane.controllers.world import World, condition
from tests.control_plane.objects import AGENT_SESSIONS


def config_map(world: World, name: str, **data: str) -> Object:
    meta = {"name": name, "namespace": world.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def of_map(name: str, config_map: str, key: str) -> dict[str, Any]:
    return {"name": name, "configMap": {"name": config_map, "key": key}}


async def test_texts_of_config_maps_are_copied_when_the_session_begins(world: World) -> None:
    await world.admin.create(CONFIG_MAPS, config_map(world, "house", **{"rules.md": "Be kind.\n"}))
    await world.project(
        knowledge=[
            of_map("rules", "house", "rules.md"),
            {"name": "layers", "path": "docs/layers.md"},
            of_map("terms", "house", "terms.md"),
            of_map("lost", "nowhere", "a"),
        ]
    )
    await world.start()
    await world.task("one")
    await world.task_in("one", "Closed")

    data = (await world.get(CONFIG_MAPS, "one-s1-prompt"))["data"]
    assert data[knowledge.key("rules")] == "Be kind.\n"
    assert knowledge.told_in(data) == (
        Told("rules", "Be kind.\n"),
        Told("layers", None, path="docs/layers.md"),
        Told("terms", None, "it could not be read: ConfigMap 'house' has no key 'terms.md'"),
        Told("lost", None, "it could not be read: there is no ConfigMap 'nowhere'"),
    )

    # What another agent was told is no knowledge, and what is told anew is told to the next.
    kinder = {"data": {"rules.md": "Be kinder.\n"}}
    await world.admin.patch(CONFIG_MAPS, "house", world.namespace, kinder)
    await world.project(
        knowledge=[of_map("rules", "house", "rules.md"), of_map("a", "one-s1-prompt", "head.md")]
    )
    await world.task("two")
    await world.task_in("two", "Closed")

    data = (await world.get(CONFIG_MAPS, "two-s1-prompt"))["data"]
    ours = "it could not be read: ConfigMap 'one-s1-prompt' is one of Bernstein's own"
    assert knowledge.told_in(data) == (Told("rules", "Be kinder.\n"), Told("a", None, ours))


async def test_what_could_not_be_read_is_a_warning_of_the_session_and_costs_nothing(
    world: World,
) -> None:
    why = "lost: it could not be read: there is no ConfigMap 'nowhere'"

    async def told(pod: Pod) -> None:
        base = pod.remote.refs[pod.config("checkout")["ref"]]
        prompt = PromptResult("f" * 64, 1, untold=(why,))
        said = exited(message=dump(CheckoutResult(base, tree_of(base), prompt)))
        await pod.start()
        await pod.end("Succeeded", {**await pod.deliver(), "checkout": said})

    world.kubelet.on("one-s1", told)
    await world.project(knowledge=[of_map("lost", "nowhere", "a")])
    await world.start()
    await world.task("one")
    task = await world.task_in("one", "Closed")

    session = await world.get(AGENT_SESSIONS, "one-s1")
    warning = condition(session, "KnowledgeMissing")
    assert (warning["status"], warning["reason"]) == ("True", "NotRead")
    assert warning["message"].startswith(f"its agent was not told: {why}. Remedy: ")
    assert session["status"]["prompt"]["knowledgeMissing"] == [why]
    assert task["status"]["attempt"] == 1
