"""What the project needs to know of a coding-agent CLI: its command line and its output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from bernstein.api.pod import FinalRecord, Usage

TEXT_LIMIT = 1500
MESSAGE_LIMIT = 500
PROGRESS_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of an agent gets; paths are those inside its container.

    The prompt arrives on standard input from `prompt_file`; the launcher sees to that.
    """

    prompt_file: str
    model: str
    """The provider's name of the model; empty: the CLI's own default."""
    effort: str | None = None
    """low, normal, high or max."""
    config_dir: str | None = None
    """Folder with the agent's own configuration files, read only."""
    base_url: str | None = None
    api_key_file: str | None = None
    command: tuple[str, ...] = ()
    """For the generic adapter only."""
    workdir: str = "/workspace"
    tmp: str = "/tmp"  # noqa: S108 - an emptyDir of the pod
    home: str = "/home/agent"


@dataclass(frozen=True, slots=True)
class Invocation:
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


class StreamParser(Protocol):
    """Reads the standard output of one run, line by line.

    The output is the agent's to write: nothing in it makes a parser raise, grow without bound, or
    count fewer tokens than before. Texts are not sanitised; all but a message are cut to limits.
    """

    @property
    def usage(self) -> Usage:
        """Tokens so far."""

    @property
    def model(self) -> str | None:
        """Model that the stream names."""

    @property
    def progress(self) -> str:
        """What the agent does now, in at most 200 characters."""

    def feed(self, line: bytes) -> str:
        """Read one line; returns the message of the agent that is in it, or nothing.

        A message is what the agent itself says to whoever reads along, never a command's output.
        """

    def finish(self, exit_code: int | None, stderr_tail: bytes) -> FinalRecord:
        """What the output says about the end; `exit_code` is None when it is not known."""


class Adapter(Protocol):
    """One CLI."""

    @property
    def name(self) -> str: ...

    def invocation(self, run: Run) -> Invocation: ...

    def parser(self) -> StreamParser: ...
