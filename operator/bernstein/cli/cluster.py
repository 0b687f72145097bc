"""The objects of one namespace, as the command line needs them."""

from __future__ import annotations

import difflib
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from pydantic import ValidationError

from bernstein.api import plan as plans
from bernstein.api import project as projects
from bernstein.api import session as sessions
from bernstein.api import task as tasks
from bernstein.api.approvals import approval as approvals
from bernstein.api.approvals.approval import Approval
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.roles import role
from bernstein.api.roles.role import AgentRole
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.cli.errors import INVALID, CliError, explained
from bernstein.cli.settings import CliSettings
from bernstein.core import labels, names, owners
from bernstein.core.roles.known import BUILT_IN, Roles
from bernstein.core.sanitise import line
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import Forbidden, KubeError, NotFound
from bernstein.kube.resource import CONFIG_MAPS, Object, Resource
from bernstein.resources import APPROVALS, PLANS, PROJECTS, ROLES, SESSIONS, TASKS

FIELD_MANAGER = "bernstein-cli"

_TIMEOUT = 15.0
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_LONGEST_SHOWN = 80
_LISTS = {
    TASKS.kind: "bernstein list-tasks",
    SESSIONS.kind: "bernstein list-tasks",
    PLANS.kind: "bernstein status",
    APPROVALS.kind: "bernstein pending",
    ROLES.kind: "bernstein roles list",
}
"""Which command lists objects of a kind; sessions are told with their Task."""


class Cluster:
    """Plans, Tasks, sessions and Projects of one namespace. Every call may raise KubeError, and
    CliError for a name that can be none."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    async def plans(self, *, everywhere: bool = False) -> list[Plan]:
        """All Plans of the namespace or of all, by namespace and name."""
        listed = await self.client.list(PLANS, None if everywhere else self.namespace)
        found = map(plans.parse, listed.items)
        return sorted(found, key=lambda plan: (plan.metadata.namespace, plan.metadata.name))

    async def projects(self) -> list[Project]:
        listed = await self.client.list(PROJECTS, self.namespace)
        return [projects.parse(item) for item in listed.items]

    async def roles(self) -> list[AgentRole]:
        """All AgentRoles of the namespace, by name."""
        listed = await self.client.list(ROLES, self.namespace)
        return sorted(map(role.parse, listed.items), key=lambda found: found.metadata.name)

    async def known_roles(self) -> Roles:
        """The roles of the namespace; the built-in ones where the cluster has no such kind yet, or
        the caller may not read it."""
        try:
            found = await self.roles()
        except (Forbidden, NotFound):
            return BUILT_IN
        return Roles({each.metadata.name: each.spec for each in found})

    async def tasks(self, plan: str | None = None, *, everywhere: bool = False) -> list[Task]:
        """All Tasks of the namespace or of all, or those of a Plan; the oldest first."""
        listed = await self.client.list(TASKS, None if everywhere else self.namespace)
        parsed = [tasks.parse(item) for item in sorted(listed.items, key=_age)]
        return [task for task in parsed if plan in (None, _plan_of(task))]

    async def sessions(self, task: str) -> list[AgentSession]:
        """The sessions of a Task, the first one first."""
        selector = f"{labels.TASK}={names.bounded(task)}"
        listed = await self.client.list(SESSIONS, self.namespace, label_selector=selector)
        parsed = (sessions.parse(item) for item in listed.items)
        return sorted(parsed, key=lambda session: session.spec.number)

    async def progress(self, plan: str) -> dict[str, str]:
        """By name of a Task whose agent works now: what the agent says that it does."""
        selector = plan_selector(plan)
        listed = await self.client.list(SESSIONS, self.namespace, label_selector=selector)
        return progress_of(listed.items)

    async def plan_object(self, name: str) -> Object | None:
        """The Plan as the API server serves it, or None."""
        return await self._object(PLANS, name)

    async def find_plan(self, name: str) -> Plan | None:
        obj = await self._object(PLANS, name)
        return plans.parse(obj) if obj else None

    async def find_task(self, name: str) -> Task | None:
        obj = await self._object(TASKS, name)
        return tasks.parse(obj) if obj else None

    async def find_session(self, name: str) -> AgentSession | None:
        obj = await self._object(SESSIONS, name)
        return sessions.parse(obj) if obj else None

    async def find_role(self, name: str) -> AgentRole | None:
        obj = await self._object(ROLES, name)
        return role.parse(obj) if obj else None

    async def find_approval(self, name: str) -> Approval | None:
        obj = await self._object(APPROVALS, name)
        return approvals.parse(obj) if obj else None

    async def approvals(self, *, everywhere: bool = False) -> list[Approval]:
        """All Approvals of the namespace or of all; the oldest first."""
        listed = await self.client.list(APPROVALS, None if everywhere else self.namespace)
        return [approvals.parse(item) for item in sorted(listed.items, key=_age)]

    async def config_map(self, name: str) -> Object | None:
        return await self._object(CONFIG_MAPS, name)

    async def not_found(self, name: str, *resources: Resource) -> CliError:
        """The error to raise where no such object has that name; it suggests similar names."""
        known: list[str] = []
        for resource in resources:
            listed = await self.client.list(resource, self.namespace)
            known += [item["metadata"]["name"] for item in listed.items]
        kinds = " or ".join(resource.kind for resource in resources)
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        near = close or [other for other in sorted(known) if name in other][:3]
        return CliError(
            "NotFound",
            f"there is no {kinds} '{name}' in namespace '{self.namespace}'",
            f"did you mean {' or '.join(near)}?" if near else _what_there_is(known, resources),
        )

    async def _object(self, resource: Resource, name: str) -> Object | None:
        check_name(name)
        try:
            return await self.client.get(resource, name, self.namespace)
        except NotFound as error:
            if not error.details.get("name"):
                raise
            return None


@asynccontextmanager
async def connected(settings: CliSettings) -> AsyncIterator[Cluster]:
    """The namespace that settings or kubeconfig name.

    An error inside the block becomes a CliError, unless it is a bug.
    """
    server = ""
    try:
        connection = ConnectionInfo.load(settings.kubeconfig, settings.context)
        server = connection.server
        namespace = checked_namespace(settings.namespace or connection.namespace)
        async with Client(connection, timeout=_TIMEOUT, field_manager=FIELD_MANAGER) as client:
            yield Cluster(client, namespace)
    except (KubeError, ValidationError, OSError) as error:
        known = explained(error, server)
        if known is None:
            raise
        raise known from error


def check_name(name: str, kind: str = "") -> None:
    """Raises CliError for a name that would address another path of the API than an object's."""
    if name in ("", ".", "..") or "/" in name or "%" in name:
        whose = f" for a {kind}" if kind else ""
        raise no_name(name, whose, "names have lower-case letters, digits and '-'")


def no_name(given: str, whose: str, remedy: str) -> CliError:
    """The error for a word that can be no name; `whose` ends its message, such as " for a Plan"."""
    message = f"'{line(given, _LONGEST_SHOWN)}' is no name{whose}"
    return CliError("InvalidName", message, remedy, INVALID)


def progress_of(items: Iterable[Object]) -> dict[str, str]:
    """What the agents of these sessions say that they do now, by name of the Task.

    The words are the agents': neither checked nor sanitised.
    """
    by_task: dict[str, str] = {}
    for session in map(sessions.parse, items):
        report = session.status.report
        if session.status.state is not SessionState.DEAD and report and report.progress:
            by_task[session.spec.task_ref.name] = report.progress
    return by_task


def where(obj: Approval | Plan | Task, everywhere: bool) -> dict[str, str]:
    """What a record says besides where objects of all namespaces are listed."""
    return {"namespace": obj.metadata.namespace} if everywhere else {}


def plan_selector(plan: str) -> str:
    """Finds the sessions that work for a Plan."""
    return f"{labels.PLAN}={names.label_value(plan)}"


def _plan_of(task: Task) -> str | None:
    plan = owners.plan_of(task)
    return None if plan is None else plan.name


def checked_namespace(name: str) -> str:
    """The name of a namespace. Raises CliError for what can be none."""
    if not _NAMESPACE.match(name):
        remedy = "give at most 63 lower-case letters, digits and '-' with --namespace"
        raise no_name(name, " of a namespace", remedy)
    return name


def _what_there_is(known: list[str], resources: Iterable[Resource]) -> str:
    if not known:
        return "the namespace has none: name another one with --namespace"
    lists = dict.fromkeys(
        _LISTS[resource.kind] for resource in resources if resource.kind in _LISTS
    )
    return f"what there is: {' and '.join(f'`{command}`' for command in lists)}" if lists else ""


def _age(item: Object) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("creationTimestamp", ""), metadata["name"]
