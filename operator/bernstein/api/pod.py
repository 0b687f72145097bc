"""What the operator and the programs inside pods say to each other.

A program of ours in a pod (`python3 -m bernstein.pods ROLE`) reads its configuration as JSON from
the environment variable `BERNSTEIN_CONFIG` (nothing secret is in it; secrets are files) and leaves
its result as JSON in its termination message. Plain dataclasses, because these programs must start
fast.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

NO_CHANGE = "NO_CHANGE_NEEDED"
"""A line of its own in an agent's last message says that nothing had to be changed."""
CONFIG_VARIABLE = "BERNSTEIN_CONFIG"
TERMINATION_LOG = "/dev/termination-log"
TERMINATION_LIMIT = 4000
"""Bytes one container may leave; the kubelet cuts at 4096, and a pod's containers share 12 KiB."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Remote:
    """A git repository and how this container may reach it."""

    url: str
    credential_dir: str | None = None
    """Folder with the files `username` and `password`; None = anonymous."""
    ca_file: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program of ours could not do its work (exit code 1)."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What the commit changes against its base, as gate conditions need it."""

    files: int = 0
    python: bool = False
    tests: bool = False
    deps: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one run; `input` excludes what was read from or written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


# --- checkout -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckoutConfig:
    """Fetch `ref`; write its tree to `worktree`, its objects to the bare repository `git_dir`."""

    remote: Remote
    ref: str
    git_dir: str
    worktree: str | None = None
    """None: objects only (for programs that read blobs)."""
    sha: str | None = None
    """The ref must point here, else RefMoved."""
    worktree_git: bool = False
    """Give the worktree a `.git` of its own, without remote or credential, for what runs there."""
    history: bool = False
    """Fetch the whole history instead of the tip alone (merges need it)."""
    also: tuple[str, ...] = ()
    """More refs (or commit ids reachable from `ref`) whose objects are needed."""
    pinned_sha: str | None = None
    pinned_names: tuple[str, ...] = ()
    """Files of these base names, anywhere, are taken from `pinned_sha` (absent there = removed)."""
    resume: str | None = None
    """Ref of a checkpoint: its files are written instead, on the tip, where they merge with it."""
    launcher_from: str | None = None
    launcher_to: str | None = None


@dataclass(frozen=True, slots=True)
class CheckoutResult:
    sha: str
    tree: str


# --- recorder and pusher ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Callback:
    url: str
    """Base address of the server; the recorder appends `/v1/sessions/<namespace>/<name>/...`."""
    token_file: str
    ca_file: str | None = None
    heartbeat_seconds: int = 15


@dataclass(frozen=True, slots=True)
class CommitText:
    author: str
    email: str
    message: str
    """Whole message with trailers."""


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    total_bytes: int = 500_000_000
    file_bytes: int = 50_000_000
    files: int = 100_000
    depth: int = 64


@dataclass(frozen=True, slots=True)
class RecorderConfig:
    namespace: str
    session: str
    adapter: str
    worktree: str
    base_git_dir: str
    """Bare repository that checkout filled; read only here."""
    git_dir: str
    """The recorder's own repository."""
    stdout: str
    stderr: str
    exit_record: str
    start_file: str
    """Made by the recorder when it watches; until then the launcher does not start the agent."""
    stop_file: str
    """Made by the recorder to ask the launcher for a soft stop."""
    packs: str
    """Folder that the recorder writes and the pusher reads."""
    commit: CommitText
    callback: Callback | None = None
    checkpoint_seconds: int = 30
    stall_seconds: int = 180
    limits: SnapshotLimits = field(default_factory=SnapshotLimits)


@dataclass(frozen=True, slots=True)
class FinalRecord:
    """What the agent's own output says about its end. Not believed; it only explains a failure."""

    outcome: str
    """Succeeded, AgentFailed, RateLimited, UsageLimited, ModelAuthFailed, ProviderUnavailable,
    MaxTurns, Refused, NoFinalRecord."""
    message: str = ""
    """One sentence, at most 500 characters, sanitised."""
    text: str = ""
    """Tail of the agent's last message, at most 1,500 characters here."""
    no_change: bool = False
    """The agent says that nothing had to be changed."""
    retry_after: int | None = None
    """Seconds after which the provider takes requests again."""


@dataclass(frozen=True, slots=True)
class RecorderResult:
    base: str
    sha: str
    """Commit whose only parent is `base`; equals `base` when nothing changed."""
    tree: str
    changed: Changed
    usage: Usage
    final: FinalRecord
    model: str | None = None
    """Model the stream names, if it does."""
    stopped: str | None = None
    """Reason of a soft stop (the server's, or Stalled)."""
    skipped: int = 0
    """Files left out (not regular, vanished)."""


@dataclass(frozen=True, slots=True)
class PusherConfig:
    remote: Remote
    ref: str
    base_git_dir: str
    git_dir: str
    packs: str
    pack_bytes: int = 500_000_000


@dataclass(frozen=True, slots=True)
class PusherResult:
    base: str
    sha: str
    tree: str
    final: bool
    """False: only a checkpoint got out."""


# --- checks -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """One signal or gate that only reads."""

    name: str
    type: str
    """path_exists, glob_exists, file_contains, pii_scan, merge_conflict"""
    path: str = ""
    value: str = ""
    contains: str = ""
    regex: bool = False


@dataclass(frozen=True, slots=True)
class InspectConfig:
    git_dir: str
    sha: str
    base: str
    checks: tuple[Check, ...]
    onto_ref: str | None = None
    """Tip that merge_conflict merges with (already fetched, under this name)."""
    scan_seconds: int = 300
    """What pii_scan may take; the other checks are quick."""


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    name: str
    verdict: str
    """Passed, Failed, Skipped, Errored"""
    reason: str = ""
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class InspectResult:
    verdicts: tuple[CheckVerdict, ...]


# --- merge --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BeginConfig:
    """Make `integration` at the tip of `target`, unless it exists."""

    remote: Remote
    target: str
    integration: str
    git_dir: str


@dataclass(frozen=True, slots=True)
class BeginResult:
    target_sha: str
    """Tip of the target when the integration ref was made (on a repeat: the parent of its first
    commit of ours, or the ref itself)."""
    integration_sha: str


@dataclass(frozen=True, slots=True)
class PrepareConfig:
    """Make the candidate on the tip of `onto`: the commit `sha`, or, for a Plan, all up to it."""

    remote: Remote
    ref: str
    sha: str
    onto: str
    candidate: str
    git_dir: str
    commit: CommitText
    merge: bool = False
    """False: one commit on the tip. True: a merge commit of the tip and `sha`."""


@dataclass(frozen=True, slots=True)
class PrepareResult:
    base: str
    """Tip that the candidate stands on."""
    sha: str
    tree: str
    changed: Changed
    conflicts: tuple[str, ...] = ()
    """Paths in conflict (at most 20); then sha and tree are empty."""


@dataclass(frozen=True, slots=True)
class LandConfig:
    """Bring `sha` (fetched from `ref`), whose tree must be `tree`, to `onto`, now at `expect`."""

    remote: Remote
    ref: str
    sha: str
    tree: str
    onto: str
    expect: str
    git_dir: str


@dataclass(frozen=True, slots=True)
class LandResult:
    state: str
    """Landed, or Moved (the tip is elsewhere and does not contain the commit)."""
    tip: str


def dump(value: Any) -> str:
    """JSON of one of this module's dataclasses."""
    return json.dumps(dataclasses.asdict(value), separators=(",", ":"), sort_keys=True)


def load(kind: type[T], text: str | bytes) -> T:
    """The dataclass that `dump` wrote.

    Raises ValueError for anything else, with the field that is wrong; unknown keys are ignored.
    """
    data = json.loads(text)
    result = _build(kind, data, kind.__name__)
    if not isinstance(result, kind):
        raise _wrong(kind.__name__, "an object")
    return result


def _wrong(where: str, expected: str) -> ValueError:
    return ValueError(f"{where}: expected {expected}")


def _build(kind: Any, data: Any, where: str) -> Any:
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _build_object(kind, data, where)
    if origin is tuple:
        if not isinstance(data, list):
            raise _wrong(where, "a list")
        return tuple(
            _build(get_args(kind)[0], item, f"{where}[{i}]") for i, item in enumerate(data)
        )
    if origin is not None:  # X | None
        if data is None:
            return None
        (inner,) = (a for a in get_args(kind) if a is not type(None))
        return _build(inner, data, where)
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise _wrong(where, kind.__name__)
    return data


def _build_object(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise _wrong(where, "an object")
    hints = get_type_hints(kind)
    values = {}
    for f in dataclasses.fields(kind):
        if f.name in data:
            values[f.name] = _build(hints[f.name], data[f.name], f"{where}.{f.name}")
        elif f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise ValueError(f"{where}: '{f.name}' is missing")
    return kind(**values)
