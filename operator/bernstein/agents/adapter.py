"""The interface to a coding-agent CLI: how it is started, and how its output is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from bernstein.agents.low_confidence import CHARACTERS
from bernstein.api.pod import FinalRecord, Usage

TEXT_LIMIT = CHARACTERS + 1
MESSAGE_LIMIT = 500
PROGRESS_LIMIT = 200
"""Characters of a FinalRecord's `text` and `message`, and of a parser's `progress`. That a text was
cut takes one, so that all is kept of it that is looked at."""
PROMPT_BYTES = 120_000
"""That a prompt may have. A CLI that takes no prompt on standard input can be given it as one
argument, which Linux lets have 131,071."""
RETRY_LIMIT = 24 * 3600
"""The most seconds that a FinalRecord's `retry_after` may be."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of one run of an agent; paths are those inside its container.

    The launcher gives the contents of `prompt_file` to the CLI on standard input.
    """

    prompt_file: str
    model: str
    """The provider's name of the model; empty for the CLI's own default."""
    effort: str | None = None
    """low, normal, high or max."""
    config_dir: str | None = None
    """Folder with the agent's own configuration files, read only."""
    base_url: str | None = None
    """Only for adapters that are TakesBaseUrl."""
    api_key_file: str | None = None
    command: tuple[str, ...] = ()
    """Only for adapters that are TakesCommand."""
    workdir: str = "/workspace"
    tmp: str = "/tmp"  # noqa: S108 - an emptyDir of the pod
    home: str = "/home/agent"


@dataclass(frozen=True, slots=True)
class Invocation:
    """The command line of a CLI, and its environment beside that of the image."""

    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


class StreamParser(Protocol):
    """Reads the standard output of one run, line by line.

    The agent may write anything there: no line may make a parser raise, take memory without bound,
    or count fewer tokens than before. Texts are not sanitised, and all but what `feed` returns are
    bounded: `text` is cut to its limit, the others to what is looked at for theirs.
    """

    @property
    def usage(self) -> Usage:
        """The tokens used so far."""

    @property
    def model(self) -> str | None:
        """The model that the output names, if it names one."""

    @property
    def progress(self) -> str:
        """What the agent does now; 200 characters of it are shown."""

    def feed(self, line: bytes) -> str:
        """Read one line; returns what of it is for people who look on while the agent works, or "".

        That is what it says and does, in plain words; and the line itself where it is no record.
        """

    def finish(self, exit_code: int | None, stderr_tail: bytes) -> FinalRecord:
        """What the output says about how the run ended; `exit_code` is None if it is not known."""


class Adapter(Protocol):
    """One CLI.

    What not every CLI can do is declared by one of the protocols below, which the validation of
    Projects reads. An agent's `models`, `apiKey` and `configMap` need no such protocol: they have
    an effect with every adapter, since a model has a price and the files are mounted.
    """

    @property
    def name(self) -> str:
        """The word for `adapter` of a Project's agent; it never changes."""

    def invocation(self, run: RunSettings) -> Invocation:
        """How the CLI is started, so that it never asks for a confirmation.

        It becomes part of the Job's spec, so it must hold nothing secret, and be the same for the
        same settings.
        """

    def parser(self) -> StreamParser:
        """A new parser; every run needs its own."""


@runtime_checkable
class TakesCommand(Protocol):
    """Optional: the Project names the command to run.

    An agent with such an adapter must have a `command`; with any other adapter it may have none.
    """

    takes_command: Literal[True]
    """Promises that `invocation` starts `RunSettings.command`."""


@runtime_checkable
class TakesBaseUrl(Protocol):
    """Optional: the CLI can use another endpoint than its default.

    An agent with any other adapter may have no `baseUrl`, because it would have no effect.
    """

    takes_base_url: Literal[True]
    """Promises that `invocation` passes on `RunSettings.base_url`."""


@runtime_checkable
class TellsTokens(Protocol):
    """Optional: the CLI's output says how many tokens a run has used.

    What an agent with any other adapter spends is not known: no budget holds for it, which Plans
    and people are told.
    """

    tells_tokens: Literal[True]
    """Promises that the parser's `usage` counts what the output tells."""
