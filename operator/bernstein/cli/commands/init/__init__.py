"""`bernstein init`"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bernstein import agents
from bernstein.cli import objects
from bernstein.cli.commands.init.answers import Answers, Options, answers
from bernstein.cli.commands.init.files import (
    CONFIG_MAPS,
    PLAN,
    PROJECT,
    SECRETS_FILE,
    files,
    project_object,
)
from bernstein.cli.commands.run import Strategy
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.local.gates import Note
from bernstein.cli.local.writing import File, write
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.cli.shell import program
from bernstein.core.sanitise import count, line
from bernstein.forges.registry import BY_NAME

_STDOUT = "-"
_LONGEST = 400


def _text(flag: str, metavar: str, words: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=words)


Said = str | None
Folder = Annotated[
    Said, typer.Argument(metavar="[FOLDER]", help="Where to write (default: .); - prints.")
]
Repository = Annotated[
    Said, _text("--repository", "URL", "Default: the remote 'origin' of the folder.")
]
Branch = Annotated[
    Said, _text("--branch", "NAME", "Default: the server's own, as the clone knows it.")
]
Agent = Annotated[str, _text("--agent", "|".join(agents.names()), "Adapter of the agent.")]
AgentImage = Annotated[Said, _text("--agent-image", "IMAGE", "Image with the agent's CLI.")]
AgentCommand = Annotated[
    Said, _text("--agent-command", "COMMAND", "Shell command of the adapter generic.")
]
ModelName = Annotated[Said, _text("--model", "NAME", "The provider's name of the agent's model.")]
ToolchainImage = Annotated[
    Said, _text("--toolchain-image", "IMAGE", "Image with the tools that judge.")
]
Merging = Annotated[
    Strategy | None,
    _text("--merge", "pr|direct", "How verified work is delivered (pr where a forge is known)."),
]
Forge = Annotated[Said, _text("--forge", "|".join(BY_NAME), "Where pull requests are opened.")]
ForgeApi = Annotated[Said, _text("--forge-api", "URL", "Address of the forge's API.")]
ProjectName = Annotated[Said, _text("--project", "NAME", "Name of the Project.")]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite files that are there; never bernstein.yaml.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the files, and write nothing.")]


def init(
    settings: CliSettings,
    folder: Folder = None,
    repository: Repository = None,
    branch: Branch = None,
    agent: Agent = Options.agent,
    agent_image: AgentImage = None,
    agent_command: AgentCommand = None,
    model: ModelName = None,
    toolchain_image: ToolchainImage = None,
    merge: Merging = None,
    forge: Forge = None,
    forge_api: ForgeApi = None,
    project: ProjectName = None,
    force: Force = False,
    dry_run: DryRun = False,
) -> None:
    """Writes a Project, templates of its Secrets and a first Plan into a folder.

    It asks no cluster. Gates of a bernstein.yaml in the folder are translated, and what cannot be
    is told.
    """
    options = Options(
        repository=repository,
        branch=branch,
        agent=agent,
        agent_image=agent_image,
        agent_command=agent_command,
        model=model,
        toolchain_image=toolchain_image,
        merge=merge.value if merge else None,
        forge=forge,
        forge_api=forge_api,
        project=project,
    )
    prints = dry_run or folder == _STDOUT
    where = settings.workdir if folder in (None, _STDOUT) else folder
    terminal = Terminal(settings)
    run_command(terminal, _init(terminal, Path(where or "."), options, prints, force))


async def _init(
    terminal: Terminal, folder: Path, options: Options, prints: bool, force: bool
) -> None:
    found = await answers(terminal.settings, folder, options)
    made = project_object(found)
    _check(made)
    written = files(found, made)
    if not prints:
        write(folder, written, force=force)
    notes = [
        *found.guessed,
        *_of_config_map(found),
        *found.gates.notes,
        *_warnings(made),
        *_of_configuration(found),
    ]
    following = _next(terminal.settings, folder, found)
    if terminal.json:
        record = _record(folder, written, notes, following, prints)
        terminal.answer({"repository": found.repository, "branch": found.branch, **record})
        return
    tell = terminal.complain if prints else terminal.say
    tell(f"{found.repository}, branch {found.branch}, agent {found.agent}", "dim")
    if prints:
        whole = "---\n".join(f"# {file.name}\n{file.text}" for file in written)
        terminal.out.out(whole.rstrip("\n"), highlight=False)
    else:
        for file in written:
            terminal.say(f"✓ {folder / file.name}", "green")
    for note in notes:
        tell(f"! {line(f'{note.path}: {note.message}', _LONGEST)}", "yellow")
        tell(f"  → {line(note.remedy, _LONGEST)}")
    tell(f"{count(len(notes), 'thing')} to look at. Next:" if notes else "Next:")
    for command in following:
        tell(f"  {command}")


def _check(project: dict[str, Any]) -> None:
    """What is written must be taken: an option may say what is no branch, or no image."""
    problems = objects.problems(project)
    if problems:
        text = "; ".join(problem.located for problem in problems[:5])
        remedy = "correct the option that says it"
        raise CliError("Invalid", f"the Project would be refused: {text}", remedy, INVALID)


def _warnings(project: dict[str, Any]) -> list[Note]:
    """What is allowed, and keeps Plans from their work."""
    remedy = "say the agent's model with --model, or correct the field"
    return [Note(each.path, each.message, remedy) for each in objects.warnings(project)]


def _of_config_map(found: Answers) -> list[Note]:
    """What the agent reads, and nobody has written yet."""
    name = CONFIG_MAPS.get(found.agent)
    if name is None:
        return []
    where = ["-n", found.namespace] if found.namespace else []
    words = ["kubectl", *where, "create", "configmap", name, "--from-file=scenario.yaml"]
    text = f"the {found.agent} agent plays the script of this ConfigMap, and has none without it"
    remedy = f"write one, as the page 'Scenarios of the demo agent' says: {shlex.join(words)}"
    return [Note("spec.agents[0].configMap", text, remedy)]


def _of_configuration(found: Answers) -> list[Note]:
    """What a `bernstein.yaml` lacks that is there: it is not written to."""
    if found.file is None:
        return []
    here = {"context": found.context, "namespace": found.namespace, "project": found.project}
    lacks = [
        f"{name}: {value}"
        for name, value in here.items()
        if value and getattr(found.file, name) != value
    ]
    if not lacks or lacks == ["project: default"]:
        return []
    text = "it is left as it is, and does not say all that these files do"
    return [Note(found.file.name, text, f"write into it: {', '.join(lacks)}")]


def _next(settings: CliSettings, folder: Path, found: Answers) -> list[str]:
    def at(name: str) -> str:
        return shlex.quote(str(folder / name))

    file = [] if settings.kubeconfig is None else ["--kubeconfig", settings.kubeconfig]
    elsewhere = [*([] if folder == Path() else ["--workdir", str(folder)]), *file]
    if found.file is not None:  # it stays as it is, and may say something else
        said = {"-n": found.namespace, "--context": found.context}
        kept = {"-n": found.file.namespace, "--context": found.file.context}
        for option, value in said.items():
            elsewhere += [option, value] if value and value != kept[option] else []
    kubectl = ["kubectl", *(["--context", found.context] if found.context else []), *file]
    apply = f"{shlex.join(kubectl)} apply -f"
    return [
        f"{apply} {at(SECRETS_FILE)}   # once its values are in place; then delete it",
        f"{apply} {at(PROJECT)}",
        shlex.join([*program.words(), "doctor", *elsewhere]),
        shlex.join([*program.words(), "run", *elsewhere, str(folder / PLAN)]),
    ]


def _record(
    folder: Path, written: Sequence[File], notes: Sequence[Note], following: list[str], prints: bool
) -> dict[str, object]:
    """For scripts."""
    return {
        "folder": str(folder),
        "written": not prints,
        "files": [
            {"name": file.name, "path": str(folder / file.name)}
            | ({"content": file.text} if prints else {})
            for file in written
        ],
        "notes": [note.record() for note in notes],
        "next": following,
    }
