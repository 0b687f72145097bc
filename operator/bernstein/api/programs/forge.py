"""What the operator and the programs `propose` and `watch` say to each other."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass

UNREAD = "-"
"""In place of a digest of comments: the token may not read them, or they are too much."""
LISTENED = 20
"""Comments that one Job reads at most."""
LONGEST_SAID = 3000
"""Characters of what they say."""


@dataclass(frozen=True, slots=True)
class ForgeAddress:
    """A repository on a forge, and how this container may ask about it."""

    type: str
    url: str
    """Of the repository."""
    token_file: str
    api: str | None = None
    """Address of the API; None: where the url has it."""
    ca_file: str | None = None


@dataclass(frozen=True, slots=True)
class ProposeConfig:
    """Have one pull request of the branch `head` into `base` that reads so; or have none open. Both
    are without `refs/heads/`."""

    forge: ForgeAddress
    head: str
    base: str
    title: str
    body: str
    draft: bool = False
    labels: tuple[str, ...] = ()
    close: bool = False
    """It is closed where it is open, and `body` is said there."""
    number: int = 0
    """Of the one that is meant; 0: it is found by its branches. Older operators named only one that
    is to be closed."""


@dataclass(frozen=True, slots=True)
class SeenPullRequest:
    """A pull request as the forge tells of it."""

    number: int
    state: str
    """Open, Merged, Closed; or Missing: the forge shows the token no such one."""
    sha: str
    """Where its head is, or was when it ended."""
    base: str = ""
    """The branch that it is to be merged into, or was."""
    ci: str = ""
    """What the forge's CI says of that commit: Pending, Passed, Failed; None: nothing does. "":
    nobody knows."""

    said: str = ""
    """Digest of the comments there of people who may write to the repository. "": there are none,
    or nobody has looked."""
    behind: bool = False
    """The branch that it is to be merged into has commits that it lacks."""
    unread: str = ""
    """Why it alone could not be read, so that all else is as it was before: a ForgeReason."""

    @property
    def digest(self) -> str:
        """The same for the same facts, and as an older release has it where that knows of all."""
        *told, unread = astuple(self)
        facts = [*told, unread] if unread else told
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ProposeResult:
    """The pull request that is there now; one that was merged or closed is left as it is. Missing:
    there was none to be closed."""

    pull_request: SeenPullRequest
    url: str
    """For people."""
    requests: int = 0
    unchanged: int = 0
    """As those of a WatchResult."""


@dataclass(frozen=True, slots=True)
class WatchConfig:
    """Look at these again and again, until one of them is not as it was seen last."""

    forge: ForgeAddress
    pull_requests: tuple[SeenPullRequest, ...]
    look_seconds: int
    """Between two looks at all."""
    seconds: int
    """After which it ends with what it has; 0: after one look at all."""
    comments: bool = False
    """It looks for comments, too."""


@dataclass(frozen=True, slots=True)
class WatchResult:
    """Those that have changed, as they are now."""

    changed: tuple[SeenPullRequest, ...]
    requests: int = 0
    """That were made of the forge."""
    unchanged: int = 0
    """Of them, those that cost nothing: the forge said that it was as before."""
    remaining: int | None = None
    """That it lets us make until it raises its limit again; None: it does not say."""
    known: tuple[str, ...] = ()
    """Of each that has changed, the digest of what the Job was told of it."""
    retry_after: int | None = None
    """Seconds after which the forge takes requests again, where it limited the last look."""


@dataclass(frozen=True, slots=True)
class ListenConfig:
    """Read what people who may write to the repository, and its CI, say of a pull request."""

    forge: ForgeAddress
    number: int
    known: tuple[str, ...] = ()
    """Ids of comments that are read no more."""
    comments: bool = False
    ci: bool = False


@dataclass(frozen=True, slots=True)
class ListenResult:
    """What is new there."""

    sha: str
    """Where its head is."""
    said: str
    """As in SeenPullRequest."""
    comments: tuple[str, ...] = ()
    """Ids of those in the text."""
    failed: bool = False
    """The CI of that commit is red."""
    text: str = ""
    """What they say, each line of it behind "> ": data of people and programs."""
    requests: int = 0
    unchanged: int = 0
    """As those of a WatchResult."""
