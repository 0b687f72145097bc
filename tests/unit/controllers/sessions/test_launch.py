"""A session whose prompt was written before a crash is launched with that."""

from __future__ import annotations

from typing import Any

from bernstein.api.roles.role import AgentRoleSpec
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.jobs.agent import prompt_config_map
from bernstein.controllers.sessions.controller import SessionController
from bernstein.core import names
from bernstein.core.prompts.parts import ROLE
from bernstein.core.roles.known import Roles
from bernstein.core.sessions.prompt import digest_of_roles, of_snapshot
from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Resource
from bernstein.resources import PROJECTS, ROLES, SESSIONS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, at
from tests.unit.kube.apiserver import ApiServer

PROMPT = names.prompt("work-s1")
BEFORE = Roles({"qa": AgentRoleSpec(prompt="As it was.")})


def put(api: ApiServer, resource: Resource, obj: Any) -> None:
    meta = {"uid": obj.metadata.uid, "creationTimestamp": at(-60).isoformat(), "generation": 1}
    dumped = obj.dump()
    more = {key: dumped[key] for key in ("spec", "status") if key in dumped}
    api.put(resource, obj.metadata.name, NAMESPACE, metadata=meta, **more)


def session(**spec: Any) -> AgentSession:
    found = objects.session().dump()
    fields = {key: value for key, value in found["spec"].items() if key != "planRef"}
    return AgentSession.model_validate(found | {"spec": fields | spec})


async def test_of_a_role_that_is_another_by_now_the_word_of_then_counts(
    api: ApiServer, client: Client, background: Background
) -> None:
    rig = Rig(api, client, background)
    rig.controller = SessionController(rig.context)
    status = objects.with_session(TaskState.CLAIMED, project="default", project_uid="uid-default")
    task: Task = objects.task(plan=None, stage=None, role="qa", status=status)
    texts = of_snapshot(objects.snapshot(task, roles=BEFORE), 1)
    its = session(roleDigest=digest_of_roles(texts))
    written = prompt_config_map(its, texts, (), rig.context.settings, ())
    api.put(CONFIG_MAPS, PROMPT, NAMESPACE, **{k: written[k] for k in ("metadata", "data")})
    api.put(ROLES, "qa", NAMESPACE, spec={"prompt": "As it is now."})
    for resource, obj in ((PROJECTS, objects.project().whole), (TASKS, task), (SESSIONS, its)):
        put(api, resource, obj)

    await rig.start()
    rig.run()

    await eventually(lambda: api.names(JOBS) == ["work-s1"])
    assert api.get(CONFIG_MAPS, PROMPT, NAMESPACE)["data"][ROLE.key] == "As it was."
