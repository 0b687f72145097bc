"""What the files say that cannot be the same for everybody, and where each of it is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bernstein import agents
from bernstein.agents import TakesCommand
from bernstein.api.vocabulary import ForgeType
from bernstein.cli.cluster import checked_namespace
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.local import configuration, gates, origin
from bernstein.cli.local.configuration import Configuration
from bernstein.cli.local.gates import Note, Translation
from bernstein.cli.settings import CliSettings
from bernstein.core.plans.field_errors import did_you_mean, quoted
from bernstein.forges.forge import RepositoryPath
from bernstein.forges.registry import BY_NAME

PLACE = "registry.example.com"
"""Of images that nobody has named: no registry has such a name."""
_FORGES: Final[Mapping[str, ForgeType]] = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "codeberg.org": "gitea",
}
_FIRST_LABEL: Final[Mapping[str, ForgeType]] = {
    "github": "github",
    "gitlab": "gitlab",
    "gitea": "gitea",
    "forgejo": "gitea",
}


@dataclass(frozen=True)
class Options:
    """What the call says; None: nothing."""

    repository: str | None = None
    branch: str | None = None
    agent: str = "codex"
    agent_image: str | None = None
    agent_command: str | None = None
    model: str | None = None
    toolchain_image: str | None = None
    merge: str | None = None
    forge: str | None = None
    forge_api: str | None = None
    project: str | None = None


@dataclass(frozen=True)
class Answers:
    """All that the files are made of."""

    repository: str
    branch: str
    agent: str
    agent_image: str
    agent_command: tuple[str, ...]
    model: str | None
    toolchain_image: str
    merge: str
    forge: str | None
    forge_api: str | None
    project: str
    namespace: str | None
    context: str | None
    gates: Translation
    file: Configuration | None
    """`bernstein.yaml` of the folder; None: there is none."""
    guessed: tuple[Note, ...] = field(default=())
    """What was not said, and is to be looked at in the files."""

    @property
    def tells_tokens(self) -> bool:
        return agents.tells_tokens(self.agent)


async def answers(settings: CliSettings, folder: Path, options: Options) -> Answers:
    """Raises CliError where something is missing, or cannot be."""
    file = _configuration(folder)
    repository = await _repository(folder, options.repository)
    branch = options.branch or await origin.branch(folder) or "main"
    forge = _forge(options, repository)
    merge = options.merge or ("pr" if forge else "direct")
    if merge == "direct" and options.forge is None:
        forge = None  # nothing would be asked of it
    _check_agent(options)
    toolchain = options.toolchain_image or f"{PLACE}/toolchain:0.1.0"
    block = None if file is None else file.gates
    namespace = _chosen(settings, file, "namespace")
    return Answers(
        repository=repository,
        branch=branch,
        agent=options.agent,
        agent_image=options.agent_image or f"{PLACE}/bernstein-agent-{options.agent}:0.1.0",
        agent_command=("sh", "-c", options.agent_command) if options.agent_command else (),
        model=options.model,
        toolchain_image=toolchain,
        merge=merge,
        forge=forge,
        forge_api=_api(repository, forge, options.forge_api),
        project=options.project or (file.project if file and file.project else "default"),
        namespace=checked_namespace(namespace) if namespace else None,
        context=_chosen(settings, file, "context"),
        gates=gates.translate(block, branch=branch, image=toolchain),
        file=file,
        guessed=tuple(_guessed(options)),
    )


def _configuration(folder: Path) -> Configuration | None:
    return configuration.read(str(folder)) if folder.is_dir() else None


async def _repository(folder: Path, given: str | None) -> str:
    found = given if given is not None else await origin.url(folder)
    remedy = "say it with --repository, such as https://git.example.com/team-a/app.git"
    if found is None:
        text = f"{quoted(str(folder))} is no clone with a remote 'origin' that says the repository"
        raise CliError("Usage", text, remedy, INVALID)
    try:
        return origin.address(found)
    except origin.NoAddress as problem:
        whose = "--repository" if given is not None else "the remote 'origin'"
        raise CliError(
            "Usage", f"{whose} names no repository: {problem}", remedy, INVALID
        ) from None


def _chosen(settings: CliSettings, file: Configuration | None, name: str) -> str | None:
    """Context or namespace: what the call says, else the folder's file. What the settings have may
    be from a file of another folder, the current one."""
    given: str | None = getattr(settings, name)
    here: str | None = getattr(file, name) if file is not None else None
    current = configuration.read(settings.workdir)
    elsewhere = getattr(current, name) if current is not None else None
    return here if here is not None and given in (None, elsewhere) else given


def _check_agent(options: Options) -> None:
    known = agents.names()
    if options.agent not in known:
        text = f"there is no adapter {quoted(options.agent)}{did_you_mean(options.agent, known)}"
        raise CliError("Usage", text, f"choose with --agent among {', '.join(known)}", INVALID)
    takes = isinstance(agents.get(options.agent), TakesCommand)
    if takes and options.agent_command is None:
        text = f"the adapter {options.agent} runs a command of yours, and none was said"
        raise CliError("Usage", text, "say it with --agent-command", INVALID)
    if not takes and options.agent_command is not None:
        text = f"the adapter {options.agent} takes no command"
        raise CliError("Usage", text, "leave --agent-command out", INVALID)


def _forge(options: Options, repository: str) -> str | None:
    host = origin.host(repository)
    found = options.forge or _FORGES.get(host) or _FIRST_LABEL.get(host.partition(".")[0])
    if found is not None and found not in BY_NAME:
        text = f"there is no forge {quoted(found)}{did_you_mean(found, BY_NAME)}"
        raise CliError("Usage", text, f"choose with --forge among {', '.join(BY_NAME)}", INVALID)
    if found is None and options.merge == "pr":
        text = f"nobody can tell which forge {quoted(host)} is, on which pull requests are opened"
        remedy = f"say it with --forge: {', '.join(BY_NAME)}"
        raise CliError("Usage", text, remedy, INVALID)
    return found


def _api(repository: str, forge: str | None, given: str | None) -> str | None:
    """Address of the forge's API, where the repository's does not say it."""
    if forge is None or given is not None or repository.startswith("https://"):
        return given if forge is not None else None
    where = RepositoryPath(f"https://{origin.host(repository)}", "", "")
    return BY_NAME[forge].roots(where, None)[None]


def _guessed(options: Options) -> list[Note]:
    found = []
    mine = "build or choose yours: the page 'Set up a team' says what it holds"
    if options.agent_image is None:
        text = "the agent's image was not said: what is written is a placeholder"
        found.append(Note("spec.agents[0].image", text, f"--agent-image; {mine}"))
    if options.toolchain_image is None:
        text = "the image of the tools was not said: what is written is a placeholder"
        found.append(Note("spec.toolchain.image", text, f"--toolchain-image; {mine}"))
    if options.model is None and not isinstance(agents.get(options.agent), TakesCommand):
        text = "no model was said: a tier is called by its own name, as in 'sonnet'"
        remedy = "--model, or name the provider's model of each tier in spec.agents[0].models"
        found.append(Note("spec.agents[0].models", text, remedy))
    return found
