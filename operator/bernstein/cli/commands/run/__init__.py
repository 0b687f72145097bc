"""`bernstein run`"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from bernstein.api.plan import Plan, PlanSpec
from bernstein.api.project import Project
from bernstein.cli import kept_work, plan_source, project_choice
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.run.goal import Goal, GoalRun
from bernstein.cli.duration import Timeout, seconds_of
from bernstein.cli.errors import FAILED, INTERRUPTED, INVALID, CliError
from bernstein.cli.follow import NotOverError, Scene, follow, succeeded
from bernstein.cli.local import configuration
from bernstein.cli.naming import check_new_name
from bernstein.cli.output import asked, details, plan_files, tables, work
from bernstein.cli.output.terminal import Terminal, run_async
from bernstein.cli.output.views import view
from bernstein.cli.plan_source import PLAN_FILE, PlanFile
from bernstein.cli.settings import CliSettings
from bernstein.cli.submission import submit
from bernstein.core.outlines.words import summary
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.estimate import estimate
from bernstein.core.plans.validation import validate_plan
from bernstein.core.serializers import plan_record
from bernstein.kube.resource import Object

_OTHER_PRICES = (
    "Models are looked up in this program's prices: one that only those of the chart know is "
    "named in the Project's budget.prices, too."
)


class Approval(StrEnum):
    """Whom a run asks before verified work lands."""

    REVIEW = "review"
    NONE = "none"

    @property
    def result(self) -> str:
        """What the policy of the Plan says of results then."""
        return {"review": "Always", "none": "Never"}[self.value]


class Strategy(StrEnum):
    """How verified work is delivered."""

    DIRECT = "direct"
    PR = "pr"


MaxAgents = Annotated[
    int | None,
    typer.Option(
        "--max-agents", metavar="NUMBER", min=1, max=1000, help="Agents at the same time."
    ),
]
Approving = Annotated[
    Approval | None,
    typer.Option(
        "--approval",
        metavar="review|none",
        help="Whether a person must approve verified work before it lands.",
    ),
]


def run(
    settings: CliSettings,
    path: Annotated[str | None, PLAN_FILE] = None,
    from_plan: Annotated[
        str | None, typer.Option("--from-plan", metavar="PLAN.yaml", help="The same.")
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option("--goal", metavar="TEXT", help="Has an agent plan it, in place of a file."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the Plan object.")
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="NAME", help="Project of the namespace to use."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="DOLLARS", help="What a planned goal may cost at most."),
    ] = None,
    max_agents: MaxAgents = None,
    approval: Approving = None,
    merge: Annotated[
        Strategy | None,
        typer.Option("--merge", metavar="pr|direct", help="How verified work is delivered."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Show the Plan until it has ended.")
    ] = True,
    timeout: Timeout = None,
) -> None:
    """Runs a plan file in the cluster and shows its progress.

    With --goal an agent writes the plan: it becomes a Plan, of which nothing begins before somebody
    has approved it.

    Ends with 0 when the Plan succeeded, 1 when it did not or stands still, 2 when the plan file or
    the call is wrong.

    The same file again shows the Plan that exists; a changed budget or max_agents is applied.
    """
    if sum(each is not None for each in (path, from_plan, goal)) != 1:
        raise typer.BadParameter("give one plan file, or a --goal", param_hint="PLAN.yaml")
    if budget is not None and goal is None:
        raise typer.BadParameter("a plan file says its own budget", param_hint="--budget")
    options = _Options(
        path=path or from_plan or "",
        name=name,
        project=project,
        max_agents=max_agents,
        approval=approval,
        merge=merge,
        wait=wait,
        timeout=timeout,
    )
    terminal = Terminal(settings)
    this_run: _Run | GoalRun = _Run(terminal, settings, options)
    if goal is not None:
        this_run = GoalRun(terminal, options.of_goal(goal, budget))
    try:
        code = run_async(terminal, this_run.run())
    except KeyboardInterrupt:
        this_run.interrupted()
        code = INTERRUPTED
    raise typer.Exit(code)


@dataclass(frozen=True)
class _Options:
    path: str
    name: str | None
    project: str | None
    max_agents: int | None
    approval: Approval | None
    merge: Strategy | None
    wait: bool
    timeout: str | None

    def of_goal(self, text: str, budget: str | None) -> Goal:
        """The same of a goal in place of a file."""
        return Goal(
            text=text,
            name=self.name,
            project=self.project,
            budget=budget,
            max_agents=self.max_agents,
            result=self.approval.result if self.approval else None,
            merge=self.merge.value if self.merge else None,
            wait=self.wait,
            timeout=self.timeout,
        )


class _Run:
    """One call of `bernstein run`."""

    def __init__(self, terminal: Terminal, settings: CliSettings, options: _Options) -> None:
        self._terminal = terminal
        self._settings = settings
        self._options = options
        self._running: str | None = None

    async def run(self) -> int:
        seconds = seconds_of(self._options.timeout)
        if self._options.name is not None:
            check_new_name(self._options.name, "Plan")
        chosen = project_choice.named(self._settings, self._options.project)
        workdir = self._settings.workdir
        file = plan_source.read(plan_source.located(self._options.path, workdir), workdir)
        if file.field_errors.errors:
            plan_files.refuse(self._terminal, file, file.field_errors.errors)
            return INVALID
        async with connected(self._settings) as cluster:
            project = await project_choice.find(cluster, chosen)
            configuration.tell_gates(self._terminal, project)
            plan_object = self._plan_object(file, cluster.namespace, chosen)
            spec = PlanSpec.model_validate(plan_object["spec"])
            roles = await cluster.known_roles()
            file = file.among(roles)
            field_errors = validate_plan(spec, project.spec, roles) if project else ()
            if field_errors:
                plan_files.refuse(self._terminal, file, field_errors)
                if any(each.path.endswith("model") for each in field_errors):
                    self._terminal.complain(_OTHER_PRICES, "yellow")
                return INVALID
            if self._options.merge is Strategy.DIRECT and "pr" in _strategies(spec, project):
                raise _merged_by_people()
            if self._options.approval is Approval.NONE and project is not None:
                self._tell_asked(project)
            if project is not None:
                details.tell_project(self._terminal, project)
            guess = estimate(spec, project.spec if project else None, roles)
            plan_files.tell_warnings(self._terminal, file, guess, project.spec if project else None)
            self._terminal.say(summary(spec, guess))
            plan = await submit(self._terminal, cluster, plan_object)
            self._running = plan.metadata.name
            if not self._options.wait:
                return await self._leave(cluster, plan)
            return await self._follow(cluster, plan, seconds)

    def _tell_asked(self, project: Project) -> None:
        """Says that people are asked although the call asks for nobody: the stricter of both
        policies counts."""
        policy = project.spec.approval
        asks = [f"{f}: {w}" for f in ("plan", "result") if (w := getattr(policy, f)) != "Never"]
        if asks:
            whose = f"Project '{project.metadata.name}' ({', '.join(asks)})"
            self._terminal.complain(f"! people are asked all the same, by {whose}", "yellow")

    def interrupted(self) -> None:
        """Says, after Ctrl-C, that the Plan goes on, and how to see or cancel it."""
        name = self._running
        if name is None:
            self._terminal.complain("Interrupted.")
            return
        self._terminal.complain(f"Interrupted: Plan '{name}' goes on in the cluster.", "yellow")
        self._terminal.complain(f"  see it:     {self._settings.command_line('status', name)}")
        self._terminal.complain(f"  cancel it:  {self._settings.command_line('cancel', name)}")

    def _plan_object(self, file: PlanFile, namespace: str, project: str | None) -> Object:
        return plan_file.plan_object(
            file.data,
            name=self._options.name,
            namespace=namespace,
            project=project,
            max_agents=self._options.max_agents,
            result=self._options.approval.result if self._options.approval else None,
            merge="pr" if self._options.merge is Strategy.PR else None,
        )

    async def _leave(self, cluster: Cluster, plan: Plan) -> int:
        """Ends without waiting for the Plan."""
        name = plan.metadata.name
        if self._terminal.json:
            self._terminal.answer(plan_record(plan, await cluster.tasks(name)))
        self._terminal.quote(f"  see it:  {self._settings.command_line('status', name)}")
        return 0

    async def _follow(self, cluster: Cluster, plan: Plan, seconds: float | None) -> int:
        name = plan.metadata.name
        try:
            with view(self._terminal) as shown:
                scene = await follow(cluster, plan, shown, seconds)
        except NotOverError as error:
            last = error.scene
            state = asked.or_goes_on((last.plan, *last.tasks))
            raise CliError(
                "TimedOut",
                f"Plan '{name}' has not ended after {self._options.timeout}",
                f"{state}; see it with: `bernstein status {name}`",
            ) from error
        self._tell(scene, await kept_work.of_plan(cluster, scene.plan, scene.tasks))
        return 0 if succeeded(scene.plan) else FAILED

    def _tell(self, scene: Scene, left: list[str]) -> None:
        good = succeeded(scene.plan)
        if not self._terminal.people.is_terminal:
            self._terminal.show(tables.headline(scene.plan, scene.tasks))
            self._terminal.show(work.table(scene.plan, scene.tasks, {}))
        details.tell_ending(self._terminal, scene.plan, scene.tasks, left, good=good)
        if self._terminal.json:
            self._terminal.answer(plan_record(scene.plan, list(scene.tasks)))


def _strategies(spec: PlanSpec, project: Project | None) -> tuple[str | None, str | None]:
    """Who may ask for pull requests: each of both may, and none may do without one that the other
    asks for."""
    return spec.merge, project.spec.merge.strategy if project is not None else None


def _merged_by_people() -> CliError:
    text = "--merge direct: the Project, or the plan file, says that people merge pull requests"
    helps = "leave the option out, or ask an administrator for merge.strategy direct"
    return CliError("MergeStrategy", text, helps, INVALID)
