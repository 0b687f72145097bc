"""The objects of one namespace, as the command line needs them."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import structlog
from pydantic import ValidationError

from bernstein.api import plan as plans
from bernstein.api import project as projects
from bernstein.api import session as sessions
from bernstein.api import task as tasks
from bernstein.api.meta import GROUP, VERSION
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.cli.errors import INVALID, CliError, explained
from bernstein.cli.settings import Settings
from bernstein.core import names, naming
from bernstein.core.sanitise import line
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import KubeError, NotFound
from bernstein.kube.resource import Object, Resource

PLANS = Resource(GROUP, VERSION, "plans", "Plan")
TASKS = Resource(GROUP, VERSION, "tasks", "Task")
SESSIONS = Resource(GROUP, VERSION, "agentsessions", "AgentSession")
PROJECTS = Resource(GROUP, VERSION, "projects", "Project")

_TIMEOUT = 15.0
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_LONGEST_SHOWN = 80


class Cluster:
    """Plans, Tasks, sessions and Projects of one namespace. Errors are KubeErrors and CliErrors."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    async def plans(self) -> list[Plan]:
        found = await self.client.list(PLANS, self.namespace)
        return sorted(map(plans.parse, found.items), key=lambda plan: plan.metadata.name)

    async def projects(self) -> list[Project]:
        found = await self.client.list(PROJECTS, self.namespace)
        return [projects.parse(item) for item in found.items]

    async def tasks(self, plan: str | None = None) -> list[Task]:
        """All, or those of a Plan; the oldest first."""
        selector = plan_selector(plan) if plan else None
        found = await self.client.list(TASKS, self.namespace, label_selector=selector)
        ordered = sorted(found.items, key=_age)
        return [tasks.parse(item) for item in ordered]

    async def sessions(self, task: str) -> list[AgentSession]:
        """A Task's, the first one first."""
        ours = f"{names.LABEL_TASK}={names.bounded(task)}"
        found = await self.client.list(SESSIONS, self.namespace, label_selector=ours)
        parsed = (sessions.parse(item) for item in found.items)
        return sorted(parsed, key=lambda session: session.spec.number)

    async def progress(self, plan: str) -> dict[str, str]:
        """For the Tasks whose agents work now, what the agents say that they do."""
        found = await self.client.list(SESSIONS, self.namespace, label_selector=plan_selector(plan))
        return progress_of(found.items)

    async def plan_object(self, name: str) -> Object | None:
        return await self._object(PLANS, name)

    async def find_plan(self, name: str) -> Plan | None:
        found = await self._object(PLANS, name)
        return plans.parse(found) if found else None

    async def find_task(self, name: str) -> Task | None:
        found = await self._object(TASKS, name)
        return tasks.parse(found) if found else None

    async def find_session(self, name: str) -> AgentSession | None:
        found = await self._object(SESSIONS, name)
        return sessions.parse(found) if found else None

    async def not_found(self, name: str, *resources: Resource) -> CliError:
        """There is nothing of that name; says what is called nearly so."""
        known: list[str] = []
        for resource in resources:
            found = await self.client.list(resource, self.namespace)
            known += [item["metadata"]["name"] for item in found.items]
        kinds = " or ".join(resource.kind for resource in resources)
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        near = close or [other for other in sorted(known) if name in other][:3]
        return CliError(
            "NotFound",
            f"there is no {kinds} '{name}' in namespace '{self.namespace}'",
            f"did you mean {' or '.join(near)}?" if near else _other_namespace(known),
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
async def connected(settings: Settings) -> AsyncIterator[Cluster]:
    """The namespace that settings and kubeconfig name; whatever fails becomes a CliError."""
    _no_logs()
    server = ""
    try:
        connection = ConnectionInfo.load(settings.kubeconfig, settings.context)
        server = connection.server
        namespace = _checked_namespace(settings.namespace or connection.namespace)
        async with Client(connection, timeout=_TIMEOUT, field_manager="bernstein-cli") as client:
            yield Cluster(client, namespace)
    except (KubeError, ValidationError, OSError) as error:
        known = explained(error, server)
        if known is None:
            raise
        raise known from error


def check_name(name: str, kind: str = "") -> None:
    """Raises CliError for what would address another path than that of an object of this name."""
    if name in ("", ".", "..") or "/" in name or "%" in name:
        whose = f" for a {kind}" if kind else ""
        raise CliError(
            "InvalidName",
            f"'{line(name, _LONGEST_SHOWN)}' is no name{whose}",
            "names have lower-case letters, digits and '-'",
            INVALID,
        )


def progress_of(items: Iterable[Object]) -> dict[str, str]:
    """By Task; not believed and not sanitised."""
    said: dict[str, str] = {}
    for session in map(sessions.parse, items):
        report = session.status.report
        if session.status.state is not SessionState.DEAD and report and report.progress:
            said[session.spec.task_ref.name] = report.progress
    return said


def plan_selector(plan: str) -> str:
    return f"{names.LABEL_PLAN}={naming.label_value(plan)}"


def _checked_namespace(name: str) -> str:
    if not _NAMESPACE.match(name):
        raise CliError(
            "InvalidName",
            f"'{line(name, _LONGEST_SHOWN)}' is no name of a namespace",
            "give at most 63 lower-case letters, digits and '-' with --namespace",
            INVALID,
        )
    return name


def _no_logs() -> None:
    """The engine logs lost watches and the like; the command line tells them itself."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


def _other_namespace(known: list[str]) -> str:
    return "" if known else "the namespace has none: name another one with --namespace"


def _age(item: Object) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("creationTimestamp", ""), metadata["name"]
