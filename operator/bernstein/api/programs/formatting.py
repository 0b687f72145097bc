"""What the operator and the programs `collect` and `format` say to each other.

`collect` reads what formatters have left, and `format` pushes it: neither does what the other may.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bernstein import places
from bernstein.api.pod import Changed, Remote, TreeLimits
from bernstein.api.programs.commit import CommitText

FOLDER = "/changed"
"""Where `checkout` lists the files that the work has changed."""
PRINTED = "/printed"
"""Where formatters print."""
CHANGED = "changed.txt"
"""The files that may be formatted, one a line: `./` and the path."""
SETTINGS = "settings.txt"
"""Paths where a pinned file is, or none is, in place of the work's: each ends with a NUL."""
TOLD = "told.json"
"""What `collect` says of it, beside its pack: a Told."""
TOLD_BYTES = 16_000


@dataclass(frozen=True, slots=True)
class Told:
    """What came of the formatters: the verdict, and how many files differ."""

    verdict: str
    reason: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class CollectConfig:
    """Pack what formatters have changed in the worktree, on the commit of `base_git_dir`."""

    worktree: str = places.WORKSPACE
    base_git_dir: str = places.BASE_GIT
    git_dir: str = places.OWN_GIT
    changed: str = FOLDER
    printed: str = PRINTED
    """Folder with `output` and `code` of the formatters."""
    packs: str = f"{places.TMP}/{places.PACKS}"
    limits: TreeLimits = field(default_factory=TreeLimits)


@dataclass(frozen=True, slots=True)
class CollectResult:
    """What was handed over."""

    sha: str


@dataclass(frozen=True, slots=True)
class FormatConfig:
    """Push what was collected to `to`, as one commit on `base`."""

    remote: Remote
    base: str
    """The commit that the work `sha` stands on."""
    sha: str
    to: str
    commit: CommitText
    protected: tuple[str, ...] | None = None
    base_git_dir: str = places.OWN_GIT
    """That of `checkout`, whose scratch volume is this program's, too."""
    git_dir: str = f"{places.TMP}/format.git"
    packs: str = f"/collected/{places.PACKS}"
    pack_bytes: int = 500_000_000


@dataclass(frozen=True, slots=True)
class FormatResult:
    """The verdict, and the commit that is to be judged: `sha` of the work where nothing differs."""

    base: str
    sha: str
    tree: str
    told: Told
    changed: Changed | None = None
    """What that commit changes; None: it is the work's own."""
