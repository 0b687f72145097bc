"""The commands, in the order of the help.

A new one is a line below, a module here or in a room below (a folder, where it takes more than
one), a test module, and a row and a section in `docs/reference/cli.md`. The module of `list-tasks`
is `list_tasks`, with a function of that name: its first parameter is the Settings, the others are
the command's own options, and its docstring is the help. Of the commands of a group, such as
`plan show`, the second word names module and function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Subcommand:
    """One command, whose module is imported when it is called."""

    name: str
    """As it is typed: a word, or a group of GROUPS and a word."""
    summary: str
    """First line of its help, repeated here so that the list of commands imports none of them."""
    cluster: bool = True
    """Whether it uses a cluster, and so takes the options that name one."""
    room: str = ""
    """Folder of this package that its module lies in; "": in the package itself."""
    alias: tuple[str, str] | None = None
    """By which it is called as well: a group, which no help lists, and a command; or its own group,
    and an option of that with its value."""

    @property
    def module(self) -> str:
        return ".".join(part for part in (__name__, self.room, self._word) if part)

    @property
    def function(self) -> Callable[..., None]:
        """The command's function; imports its module."""
        function: Callable[..., None] = getattr(import_module(self.module), self._word)
        return function

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.name.split())

    @property
    def _word(self) -> str:
        return self.words[-1].replace("-", "_")


GROUPS = {
    "plan": "Drafts plan files; shows and draws plans, of files and of the cluster.",
    "roles": "Lists the roles that steps may have, and adds roles.",
}
"""Groups of commands, with what the list of commands says of them."""

COMMANDS: tuple[Subcommand, ...] = (
    Subcommand(
        "init", "Writes a Project, templates of its Secrets and a first Plan into a folder."
    ),
    Subcommand("run", "Runs a plan file in the cluster and shows its progress."),
    Subcommand("validate", "Checks plan files and objects, without a cluster.", cluster=False),
    Subcommand(
        "plan generate",
        "Drafts a plan file with a model; it runs nothing.",
        cluster=False,
        room="plan",
    ),
    Subcommand("plan show", "Shows what a plan holds, for people to read.", room="plan"),
    Subcommand(
        "plan graph",
        "Draws the steps of a plan, what each waits for, and its critical path.",
        room="plan",
        alias=("plan", "--graph PLAN_OR_FILE"),
    ),
    Subcommand(
        "schema", "Prints the JSON schema of plan files and objects, for editors.", cluster=False
    ),
    Subcommand("roles list", "Lists the roles that steps and tasks may have.", room="roles"),
    Subcommand(
        "roles apply",
        "Makes an AgentRole of the three files of a folder, or changes it to what they say.",
        room="roles",
    ),
    Subcommand(
        "add-task",
        "Adds a task without a Plan, or all tasks of a file or folder.",
        room="tasks",
        alias=("task", "compose"),
    ),
    Subcommand("status", "Shows all Plans, or one with its steps."),
    Subcommand("list-tasks", "Lists tasks.", room="tasks"),
    Subcommand(
        "logs", "Shows a task's sessions, attempts and verdicts, and what failed checks printed."
    ),
    Subcommand(
        "diff",
        "Shows what a task has changed, read from the git server with your own access.",
        room="tasks",
    ),
    Subcommand(
        "prompt",
        "Shows exactly what an agent was told, or what the first one will be told.",
        room="tasks",
    ),
    Subcommand(
        "output",
        "Shows the values that a task's agent has left for others to read.",
        room="tasks",
    ),
    Subcommand(
        "watch",
        "Tells what happens to Tasks and Plans, one line for each event.",
        room="namespace",
    ),
    Subcommand("suspend", "Lets a Plan start nothing new; what runs goes on."),
    Subcommand("resume", "Lets a suspended Plan go on."),
    Subcommand(
        "stop", "Suspends every Plan of the namespace; `start` lets them go on.", room="namespace"
    ),
    Subcommand(
        "start",
        "Checks that work can run here, and resumes the Plans that `stop` has suspended.",
        room="namespace",
    ),
    Subcommand(
        "retry", "Gives a failed task, or all failed ones of a Plan, another round of attempts."
    ),
    Subcommand("verify", "Judges the work of a task anew, and tells the verdicts."),
    Subcommand(
        "verify-attestation",
        "Proves from a clone what was verified of a commit before it landed.",
        cluster=False,
        alias=("attest", "verify"),
    ),
    Subcommand("unblock", "Lets a task go on whose agent waits for something."),
    Subcommand(
        "deliver", "Delivers what is Closed of a Plan that has ended badly, or stands still."
    ),
    Subcommand("merge", "Waits until what is done is merged, and says what is not.", room="tasks"),
    Subcommand("pending", "Lists what waits for a person to decide."),
    Subcommand("approve", "Approves the work of a task, or a Plan that waits to begin."),
    Subcommand("reject", "Rejects the work of a task, or a Plan; or sends the work back."),
    Subcommand("cancel", "Cancels a task or a whole Plan; agents get time to save their work."),
    Subcommand(
        "doctor",
        "Looks for what is wrong with the installation, and in the namespace.",
    ),
    Subcommand(
        "completion",
        "Prints a script that completes commands and options in a shell.",
        cluster=False,
    ),
)
