"""The commands and their options. What a command needs is imported when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any, Never

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from bernstein.cli.settings import (
    Context,
    Json,
    Kubeconfig,
    Namespace,
    Settings,
    settings_of,
)


class _Program(TyperGroup):
    """With `--json` a call that is wrong is answered in JSON, too."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **more: Any) -> Any:
        arguments = sys.argv[1:] if args is None else list(args)
        if "--json" not in arguments:
            return super().main(args, *others, **more)
        try:
            code = super().main(arguments, *others, **more | {"standalone_mode": False})
        except TyperException as error:
            _refuse(error)
        sys.exit(code or 0)


def _refuse(error: TyperException) -> Never:
    from bernstein.cli.errors import CliError
    from bernstein.cli.terminal import Terminal

    usage = CliError("Usage", error.format_message(), "see: bernstein --help", error.exit_code)
    Terminal(Settings(json=True)).fail(usage)
    sys.exit(usage.code)


app = typer.Typer(
    name="bernstein",
    cls=_Program,
    help="Coding agents on Kubernetes as declared, verified, budgeted work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_PLAN_FILE = typer.Argument(metavar="PLAN.yaml", help="Plan file; - is standard input.")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bernstein {version('bernstein')}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    json: Json = False,
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Version.")
    ] = False,
) -> None:
    ctx.obj = Settings(json=json, namespace=namespace, context=context, kubeconfig=kubeconfig)


@app.command()
def run(
    ctx: typer.Context,
    path: Annotated[str | None, _PLAN_FILE] = None,
    from_plan: Annotated[
        str | None, typer.Option("--from-plan", metavar="PLAN.yaml", help="The same.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the Plan object.")] = None,
    project: Annotated[
        str | None, typer.Option("--project", help="Project of the namespace to use.")
    ] = None,
    max_agents: Annotated[
        int | None, typer.Option("--max-agents", min=1, max=1000, help="Agents at the same time.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Show the Plan until it has ended.")
    ] = True,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="90s|30m|2h", help="Wait no longer.")
    ] = None,
    json: Json = False,
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Runs a plan file in the cluster and shows its progress.

    Ends with 0 when the Plan succeeded, 1 when not, 2 when the plan file or the call is wrong.
    The same file again changes nothing and shows the Plan that exists.
    """
    if (path is None) == (from_plan is None):
        raise typer.BadParameter("give one plan file", param_hint="PLAN.yaml")
    from bernstein.cli import run as command

    command.run(
        settings_of(ctx, json, namespace, context, kubeconfig),
        command.Options(
            path=path or from_plan or "",
            name=name,
            project=project,
            max_agents=max_agents,
            wait=wait,
            timeout=timeout,
        ),
    )


@app.command()
def validate(ctx: typer.Context, path: Annotated[str, _PLAN_FILE], json: Json = False) -> None:
    """Checks a plan file, without a cluster.

    Ends with 0 when it is valid and with 2 when not.
    """
    from bernstein.cli import validate as command

    command.validate(settings_of(ctx, json), path)


@app.command()
def status(
    ctx: typer.Context,
    plan: Annotated[str | None, typer.Argument(metavar="[PLAN]", help="Name of a Plan.")] = None,
    json: Json = False,
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Shows all Plans, or one with its steps."""
    from bernstein.cli import status as command

    command.status(settings_of(ctx, json, namespace, context, kubeconfig), plan)


@app.command()
def list_tasks(
    ctx: typer.Context,
    status_filter: Annotated[
        str | None,
        typer.Option("--status-filter", metavar="STATUS", help="Only open, in_progress, ..."),
    ] = None,
    role: Annotated[str | None, typer.Option("--role", help="Only tasks of this role.")] = None,
    plan: Annotated[str | None, typer.Option("--plan", help="Only tasks of this Plan.")] = None,
    json: Json = False,
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Lists tasks."""
    from bernstein.cli import list_tasks as command

    settings = settings_of(ctx, json, namespace, context, kubeconfig)
    command.list_tasks(settings, status_filter, role, plan)


@app.command()
def logs(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="TASK_SESSION_OR_PLAN", help="Name of one; or plan/NAME.")
    ],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Until it has ended.")] = False,
    json: Json = False,
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Shows a task's sessions, attempts and verdicts, and what failed checks printed."""
    from bernstein.cli import logs as command

    settings = settings_of(ctx, json, namespace, context, kubeconfig)
    command.logs(settings, name, follow=follow)


@app.command()
def cancel(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="TASK_OR_PLAN", help="Name; or task/NAME, plan/NAME.")
    ],
    reason: Annotated[
        str, typer.Option("--reason", "-r", help="Recorded with it.")
    ] = "Cancelled by user",
    json: Json = False,
    namespace: Namespace = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Cancels a task or a whole Plan; agents get time to save their work."""
    from bernstein.cli import cancel as command

    settings = settings_of(ctx, json, namespace, context, kubeconfig)
    command.cancel(settings, name, reason)


def main() -> None:
    """Console script."""
    app()
