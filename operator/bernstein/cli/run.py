"""`bernstein run`"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any

import typer

from bernstein.api.plan import Plan, PlanSpec
from bernstein.api.plan import parse as parse_plan
from bernstein.api.project import Project
from bernstein.api.signals import ROLES
from bernstein.cli import details, plan_source, tables
from bernstein.cli.cluster import PLANS, Cluster, check_name, connected
from bernstein.cli.errors import FAILED, INTERRUPTED, INVALID, CliError
from bernstein.cli.follow import Scene, follow, is_over, succeeded
from bernstein.cli.plan_source import PlanFile
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal, run_async
from bernstein.cli.views import view
from bernstein.core import plan_file, projects
from bernstein.core.estimate import estimate
from bernstein.core.naming import NAME_LIMIT
from bernstein.core.plan_validation import validate_plan
from bernstein.core.records import plan_record
from bernstein.core.sanitise import line
from bernstein.kube.errors import AlreadyExists, Forbidden
from bernstein.kube.resource import Object

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_DURATION = re.compile(r"([0-9]{1,9})(s|m|h)?\Z")
_LONGEST_SHOWN = 80
_SECONDS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Options:
    path: str
    name: str | None = None
    project: str | None = None
    max_agents: int | None = None
    wait: bool = True
    timeout: str | None = None


def run(settings: Settings, options: Options) -> None:
    """Creates the Plan of a file, or finds it, and shows it until it has ended."""
    terminal = Terminal(settings)
    errand = _Errand(terminal, settings, options)
    try:
        code = run_async(terminal, errand.run())
    except KeyboardInterrupt:
        errand.interrupted()
        code = INTERRUPTED
    raise typer.Exit(code)


class _Errand:
    """One call of `bernstein run`."""

    def __init__(self, terminal: Terminal, settings: Settings, options: Options) -> None:
        self._terminal = terminal
        self._settings = settings
        self._options = options
        self._running: str | None = None

    async def run(self) -> int:
        seconds = _seconds(self._options.timeout)
        _check_names(self._options)
        file = plan_source.read(self._options.path)
        if file.report.errors:
            plan_source.refuse(self._terminal, file, file.report.errors)
            return INVALID
        async with connected(self._settings) as cluster:
            project = await _project(cluster, self._options.project)
            wanted = self._plan_object(file, cluster.namespace)
            spec = PlanSpec.model_validate(wanted["spec"])
            problems = validate_plan(spec, project.spec, ROLES) if project else ()
            if problems:
                plan_source.refuse(self._terminal, file, problems)
                return INVALID
            guess = estimate(spec, project.spec if project else None)
            plan_source.tell_warnings(self._terminal, file, guess)
            self._terminal.say(plan_source.summary(spec, guess))
            plan = await self._submit(cluster, wanted)
            self._running = plan.metadata.name
            if not self._options.wait:
                return await self._leave(cluster, plan)
            return await self._follow(cluster, plan, seconds)

    def interrupted(self) -> None:
        name = self._running
        if name is None:
            self._terminal.complain("Interrupted.")
            return
        self._terminal.complain(f"Interrupted: Plan '{name}' goes on in the cluster.", "yellow")
        self._terminal.complain(f"  see it:     bernstein status {name}")
        self._terminal.complain(f"  cancel it:  bernstein cancel {name}")

    def _plan_object(self, file: PlanFile, namespace: str) -> Object:
        return plan_file.plan_object(
            file.data,
            name=self._options.name,
            namespace=namespace,
            project=self._options.project,
            max_agents=self._options.max_agents,
        )

    async def _submit(self, cluster: Cluster, wanted: Object) -> Plan:
        name = wanted["metadata"]["name"]
        live = await cluster.plan_object(name)
        if live is None:
            try:
                created = parse_plan(await cluster.client.create(PLANS, wanted))
            except AlreadyExists:
                live = await cluster.plan_object(name)
                if live is None:
                    raise
            else:
                self._terminal.say(f"Plan '{name}' created in namespace '{cluster.namespace}'")
                return created
        _refuse_other_content(live, wanted)
        plan = parse_plan(live)
        state = "has ended" if is_over(plan) else "is running"
        self._terminal.say(f"Plan '{name}' with this content exists and {state}: nothing changed")
        return plan

    async def _leave(self, cluster: Cluster, plan: Plan) -> int:
        name = plan.metadata.name
        if self._terminal.json:
            self._terminal.answer(plan_record(plan, await cluster.tasks(name)))
        self._terminal.say(f"  see it:  bernstein status {name}")
        return 0

    async def _follow(self, cluster: Cluster, plan: Plan, seconds: float | None) -> int:
        name = plan.metadata.name
        try:
            with view(self._terminal) as shown:
                async with asyncio.timeout(seconds):
                    scene = await follow(cluster, name, shown)
        except TimeoutError as error:
            raise CliError(
                "TimedOut",
                f"Plan '{name}' has not ended after {self._options.timeout}",
                f"it goes on; see it with: bernstein status {name}",
            ) from error
        self._tell(scene)
        return 0 if succeeded(scene.plan) else FAILED

    def _tell(self, scene: Scene) -> None:
        good = succeeded(scene.plan)
        if not self._terminal.people.is_terminal:
            self._terminal.show(tables.headline(scene.plan))
            self._terminal.show(tables.steps_table(scene.plan, scene.tasks, {}))
        details.tell_ending(self._terminal, scene.plan, scene.tasks, good=good)
        if self._terminal.json:
            self._terminal.answer(plan_record(scene.plan, list(scene.tasks)))


def _check_names(options: Options) -> None:
    name = options.name
    if name is not None and (len(name) > NAME_LIMIT or not _NAME.match(name)):
        raise CliError(
            "InvalidName",
            f"'{line(name, _LONGEST_SHOWN)}' is no name for a Plan",
            f"use at most {NAME_LIMIT} lower-case letters, digits and '-'",
            INVALID,
        )
    if options.project is not None:
        check_name(options.project, "Project")


async def _project(cluster: Cluster, name: str | None) -> Project | None:
    """The Project that the Plan will belong to; None where the caller may not read Projects."""
    try:
        found = projects.resolve(name, await cluster.projects())
    except Forbidden:
        return None
    if isinstance(found, str):
        text = found.replace("this namespace", f"namespace '{cluster.namespace}'")
        raise CliError(
            "ProjectNotFound",
            text.replace("name one in projectRef", "name one with --project"),
            "a Project says which repository and agents Plans may use: "
            "apply one, or choose another --namespace",
        )
    return found


def _refuse_other_content(live: Object, wanted: Object) -> None:
    name = wanted["metadata"]["name"]
    if "deletionTimestamp" in live["metadata"]:
        raise CliError("BeingDeleted", f"Plan '{name}' is being deleted", "try again in a moment")
    recorded = live["metadata"].get("annotations", {}).get(plan_file.CONTENT_ANNOTATION)
    digest = recorded or plan_file.content_digest(live["spec"])
    if digest == wanted["metadata"]["annotations"][plan_file.CONTENT_ANNOTATION]:
        return
    fields = ", ".join(_differing(live["spec"], wanted["spec"]))
    raise CliError(
        "PlanExists",
        f"there is a Plan '{name}' with other content{f' ({fields})' if fields else ''}",
        f"run this one under another name, such as: --name {name[: NAME_LIMIT - 2]}-2",
    )


def _differing(live: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    left = PlanSpec.model_validate(live).model_dump()
    right = PlanSpec.model_validate(wanted).model_dump()
    return [key for key in left if key not in ("suspend", "cancel") and left[key] != right[key]]


def _seconds(duration: str | None) -> float | None:
    if duration is None:
        return None
    found = _DURATION.match(duration)
    if found is None:
        raise CliError(
            "InvalidTimeout", f"'{duration}' is no duration", "write 90s, 30m or 2h", INVALID
        )
    return float(int(found[1]) * _SECONDS[found[2] or "s"])
