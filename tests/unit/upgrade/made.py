"""The objects that an action makes, as they are sent to the API server."""

from __future__ import annotations

from typing import Any, cast

from bernstein.controllers import job_actions, network_policies
from bernstein.controllers.jobs.agent import agent_job, prompt_config_map
from bernstein.controllers.logs.checks import config_map
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.writer import OWNERSHIP
from bernstein.core import labels
from bernstein.core.delivery.task import commit_message
from bernstein.core.logs.checks import room
from bernstein.core.logs.packed import pack
from bernstein.core.owners import owner_reference
from bernstein.core.sessions.prompt import prompt
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.kube.resource import CONFIG_MAPS, JOBS, NETWORK_POLICIES, Key, Resource
from bernstein.kube.writes import Executor
from bernstein.resources import SESSIONS, TASKS
from tests.unit.core.objects import NAMESPACE, in_first
from tests.unit.upgrade.decisions import Object, Snapshot, action
from tests.unit.upgrade.then import (
    agent_job_then,
    asked_then,
    checkout_then,
    policies_then,
    prompt_then,
    session_then,
    spelled_out,
    with_variables,
    without_plan,
)

SETTINGS = OperatorSettings(image="bernstein:1", callback_url="https://bernstein:8052")
KEY = Key(NAMESPACE, "")
LOG = b"1 failed, 2 passed\n"


def stamped(resource: Resource, obj: Object) -> Object:
    """With the label and the hash that every object of ours gets when it is made."""
    nobody = cast("Any", None)
    executor = Executor(nobody, fence=nobody, guard=nobody, ownership=OWNERSHIP)
    return executor._stamped(resource, obj)


def objects(snapshot: Snapshot, asked: Any) -> list[Object]:
    """What one action of a decision about a Task or a Plan makes; often nothing."""
    word = action(asked)["action"]
    if word == "create session":
        return [stamped(SESSIONS, session_then(asked.session))]
    if word == "create tasks":
        return [stamped(TASKS, obj) for obj in asked.objects]
    if isinstance(snapshot, TaskSnapshot | PlanSnapshot) and snapshot.project is not None:
        mine = _owner(snapshot)
        if word == "keep logs":
            return [
                stamped(CONFIG_MAPS, config_map(job, pack(LOG, room(asked.before)), KEY, mine))
                for job in asked.jobs
            ]
        if word.startswith("run "):
            then = asked_then(asked)
            made = job_actions.build(then, in_first(snapshot.project), NAMESPACE, mine, SETTINGS)
            # None of then says what it was made with: its verdicts are not kept.
            made["metadata"]["labels"].pop(labels.MADE_WITH, None)
            return [stamped(JOBS, checkout_then(spelled_out(with_variables(made))))]
    return []


def _owner(snapshot: TaskSnapshot | PlanSnapshot) -> Object:
    if isinstance(snapshot, PlanSnapshot):
        meta = snapshot.plan.metadata
        return owner_reference("Plan", meta.name, meta.uid)
    meta = snapshot.task.metadata
    return owner_reference("Task", meta.name, meta.uid)


def launched(snapshot: TaskSnapshot) -> list[Object]:
    """What the launch of the Task's current session makes."""
    session, project = snapshot.session, snapshot.project
    assert session is not None
    assert project is not None
    agent = project.spec.agent(session.spec.agent)
    assert agent is not None
    spec, name = session.spec, session.metadata.name
    texts = prompt(snapshot.task, spec.attempt, goes_on=spec.resume_ref is not None)
    context = snapshot.task.spec.context_files
    commit = commit_message(snapshot, name, spec.attempt)
    job = spelled_out(with_variables(agent_job(session, project, agent, commit, SETTINGS)))
    return [
        *(
            stamped(NETWORK_POLICIES, each)
            for each in policies_then(network_policies.build(project, SETTINGS))
        ),
        stamped(CONFIG_MAPS, prompt_then(prompt_config_map(session, texts, context, SETTINGS))),
        stamped(JOBS, checkout_then(without_plan(agent_job_then(job)))),
    ]


def kind(obj: Object) -> str:
    """What an object is, whatever it is called."""
    meta = obj["metadata"]
    what = meta["labels"].get(labels.JOB, "")
    packed = " of a log" if "binaryData" in obj else ""
    owners = [owner["kind"] for owner in meta.get("ownerReferences", ())]
    return " ".join([obj["kind"] + packed, what, *owners])


def identity(obj: Object) -> Object:
    """What an object is found by and adopted for; the annotation is the hash of all of it."""
    kept = ("name", "labels", "annotations", "ownerReferences", "finalizers")
    meta = {key: obj["metadata"][key] for key in kept if key in obj["metadata"]}
    return {"kind": obj["kind"], "metadata": meta}


def is_whole(obj: Object) -> bool:
    """Whether it is the object, not its identity alone."""
    return obj.keys() != {"kind", "metadata"}
