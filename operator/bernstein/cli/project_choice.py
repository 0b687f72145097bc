"""The Project that what is made will belong to."""

from __future__ import annotations

from bernstein.api.project import Project
from bernstein.cli.cluster import Cluster, check_name
from bernstein.cli.errors import CliError
from bernstein.cli.local import configuration
from bernstein.cli.settings import CliSettings
from bernstein.core import projects
from bernstein.kube.errors import Forbidden


def named(settings: CliSettings, given: str | None) -> str | None:
    """The name that the call says, else `bernstein.yaml`. Raises CliError for what is no name."""
    name = given if given is not None else configuration.project(settings)
    if name is not None:
        check_name(name, "Project")
    return name


async def find(cluster: Cluster, name: str | None) -> Project | None:
    """That Project, or without a name the namespace's; None where the caller may not read Projects.

    Raises CliError where there is none, or several and no name.
    """
    try:
        project, problem = projects.resolve(name, projects.named(await cluster.projects()))
    except Forbidden:
        return None
    if problem is not None:
        text = problem.message.replace("this namespace", f"namespace '{cluster.namespace}'")
        raise CliError(
            problem.reason,
            text.replace("name one in projectRef", "name one with --project"),
            "a Project says which repository and agents Plans may use: "
            "apply one, or choose another --namespace",
        )
    return project
