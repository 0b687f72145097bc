"""What the operator and the programs inside pods say to each other.

A program of ours in a pod is called with its configuration as JSON: `python3 -m bernstein.pods
PROGRAM CONFIGURATION`. Nothing in that is secret: secrets are files. It leaves its result as JSON
in its termination message. All are plain dataclasses, because these programs must start fast.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bernstein import places
from bernstein.api.programs.cached import CACHE, CacheSource
from bernstein.api.programs.commit import CommitText
from bernstein.api.programs.forge_jobs import FORGE_JOBS, AskedForge
from bernstein.api.programs.plugin import PluginConfig

AGENT = "agent"
CHECK = "check"
CHECKOUT = "checkout"
RECORDER = "recorder"
PUSHER = "pusher"
INSPECT = "inspect"
JUDGE = "judge"
FORMAT = "format"
FORMATTER = "formatter"
COLLECT = "collect"
BEGIN = "begin"
PREPARE = "prepare"
LAND = "land"
COMPARE = "compare"
PROBE = "probe"
PROBE_KEY = "probe_key"
PRUNE = "prune"
"""Containers of our pods. The label `bernstein.dev/job` of a Job and of its pod is the name of the
main container: all but `checkout`, `recorder`, `pusher`, `formatter` and `collect`, which run
beside one or before it, and `compare`."""
FENCE = "fence"
"""That label of a Job which never runs: it only takes the name of one that must not be made."""
LISTERS = ("list-before", "list-head")
"""Containers that run a tool in either tree, before `compare`: the base, then the work."""
PROGRAMS = (
    *(CHECKOUT, RECORDER, PUSHER, INSPECT, JUDGE, COLLECT, FORMAT),
    *(BEGIN, PREPARE, LAND, COMPARE, PROBE, PROBE_KEY, PRUNE, CACHE, *FORGE_JOBS),
)
"""The containers that run a program of ours; the program is called like its container. But
`compare` runs in one called `check`, which it ends, `probe` in one for each account, and
`probe_key` in one called `probe-attestation`."""
MINT = "mint"
"""One more program of ours, which no Job of the operator runs: an administrator's CronJob does."""
OUR_JOBS = (BEGIN, INSPECT, LAND, PREPARE)
"""The Jobs in which programs of ours run alone: nothing in them comes from a repository or image of
a user's. A Project's own Jobs `probe`, `prune` and `cache` are more, and `judge`, `propose` and
`watch`, which reach others than the git server: their names can be no gate's, or have a hyphen."""

NO_CHANGE = "NO_CHANGE_NEEDED"
"""With a line of this alone in its last message, an agent says that nothing had to be changed."""
AUDIENCE = "bernstein.dev/callback"
"""Audience of the token by which a recorder authenticates itself to the server."""
SESSION_OVER = "SessionOver"
"""The server's answer to a callback for a session that has ended, and why its agent is stopped."""
SESSION_PATH = "/v1/sessions/{namespace}/{name}"
"""Path on the server below which it takes the calls of a session's recorder."""
PROGRAM = ("python3", "-m", "bernstein.pods")
TERMINATION_LOG = "/dev/termination-log"
TERMINATION_LIMIT = 4000
"""Bytes one container may leave; the kubelet cuts at 4096."""
TERMINATION_SHARE = 2400
"""The same of an agent's pod: the kubelet gives every container the same part of 12 KiB, also to a
fifth one: a Project's setup, or one that somebody else puts into the pod."""
TERMINATION_FEW = 2000
"""What its programs keep to where they can: with both there are six."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A git repository and how this container may reach it."""

    url: str
    credential_dir: str | None = None
    """Folder with the files `username` and `password`; None = anonymous."""
    ca_file: str | None = None
    work_url: str | None = None
    """Where refs below `refs/bernstein/` are, if elsewhere on the same server."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program of ours could not do its work (exit code 1)."""

    reason: str
    message: str
    asked: AskedForge | None = None
    """None: it asks no forge."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """How many lines of a file are new, and how many are gone. None: nobody has counted them."""

    path: str
    added: int | None = None
    deleted: int | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """What a commit changes against its base: how many files; whether Python, tests or lists of
    dependencies; of protected paths the first, a few more and their number; the largest changes; a
    test that is weakened; a file that configures checks otherwise."""

    files: int = 0
    python: bool = False
    tests: bool = False
    deps: bool = False
    protected: str = ""
    protected_by: str = ""
    most: tuple[ChangedFile, ...] = ()
    weakened: str = ""
    configured: str = ""
    protected_more: tuple[str, ...] = ()
    protected_files: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one run; `input` does not count those read from or written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


# --- checkout -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromptConfig:
    """Put the files of the folder `parts` together with the repository's into the file `to`."""

    parts: str = places.PARTS
    to: str = places.PROMPT
    git_dir: str = f"{places.TMP}/rejected.git"
    """Where rejected work is fetched to."""
    rejected_ref: str | None = None
    rejected_sha: str | None = None
    """The commit whose change is shown, if the ref is at it."""


@dataclass(frozen=True, slots=True)
class PartSize:
    """How many bytes of a prompt one of its parts takes."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class PromptResult:
    """The prompt as the agent gets it: its SHA-256, bytes, and what was cut."""

    digest: str
    size: int
    cut: tuple[str, ...] = ()
    resumed: bool | None = None
    """Whether the files are those of the checkpoint that it was to go on from; None: of none."""
    mark: str = ""
    """The word of its marks, by which it can be put together again."""
    parts: tuple[PartSize, ...] = ()
    """What is left of each part, without its marks."""
    unshown: str = ""
    """Reason why the rejected change is not in it; "": it is, or there is none."""
    untold: tuple[str, ...] = ()
    """What of the Project's knowledge could not be read, and why."""


@dataclass(frozen=True, slots=True)
class CheckoutConfig:
    """Fetch `ref`; write its tree to `worktree`, its objects to the bare repository `git_dir`."""

    remote: Remote
    ref: str
    git_dir: str = places.OWN_GIT
    worktree: str | None = None
    """None: objects only (for programs that read blobs)."""
    sha: str | None = None
    """The commit that the ref must be at, else RefMoved; None: any."""
    worktree_git: bool = False
    """Give the worktree a `.git` of its own, without remote or credential, for code that runs."""
    history: bool = False
    """Fetch the whole history instead of the tip alone (merges need it)."""
    also: tuple[str, ...] = ()
    """More refs (or commit ids reachable from `ref`) whose objects are needed."""
    pinned_sha: str | None = None
    pinned_names: tuple[str, ...] = ()
    """Files of these base names, in any folder, are taken from `pinned_sha`; those that it does not
    have are removed. `*` stands for any characters."""
    base: str | None = None
    """A commit behind the ref."""
    base_worktree: str | None = None
    """Folder for the tree of `base`, which gets a `.git` and pinned files as `worktree` does."""
    resume: str | None = None
    """Ref of a checkpoint, whose files are written merged with the tip; else the tip's alone."""
    resume_sha: str | None = None
    """The commit that this ref must be at; None: any."""
    paths: tuple[str, ...] = ()
    """Globs: where none matches a path that has changed since then, ConditionNotMet."""
    changed_since: str | None = None
    changed_to: str | None = None
    """Folder for the list of the files that have changed since `changed_since`."""
    only_new: tuple[str, ...] = ()
    """Paths and globs of what is in that list only where it is new."""
    tool: str | None = None
    """Program of `bernstein.checks.tools` for code that runs in the worktree, put into `tools` with
    the numbers of the lines of Python that `base` does not have."""
    tools: str | None = None
    plugin: PluginConfig | None = None
    """A gate of a Project's own in Python, laid out in `tools`."""
    test: str | None = None
    """A test that a model has written, packed; it is put into `tools`, beside the worktree."""
    lfs: bool = False
    """Files that Git LFS stores get their contents, in both worktrees."""
    launcher_from: str = "/usr/local/lib/bernstein/launcher"
    launcher_to: str | None = None
    prompt: PromptConfig | None = None
    folders: tuple[str, ...] = ()
    """Only these are written to worktrees, with the files beside and above each; (): all."""
    cache: CacheSource | None = None
    """What need not be fetched, if it is there."""


@dataclass(frozen=True, slots=True)
class CheckoutResult:
    """The commit that was checked out."""

    sha: str
    tree: str
    prompt: PromptResult | None = None
    lacking: int | None = None
    """Files that stayed pointers of Git LFS though contents were asked for; None: they were not."""


# --- recorder and pusher ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Callback:
    """How the recorder reaches the server."""

    url: str
    """Base address of the server; the recorder appends SESSION_PATH and the name of the call."""
    token_file: str
    ca_file: str | None = None
    heartbeat_seconds: int = 15


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """What a tree may hold at most. All but `depth` count only what differs from the base."""

    total_bytes: int = 500_000_000
    file_bytes: int = 50_000_000
    files: int = 100_000
    depth: int = 64


@dataclass(frozen=True, slots=True)
class RecorderConfig:
    """Watch one agent. All paths are those inside the recorder's container."""

    namespace: str
    session: str
    adapter: str
    commit: CommitText
    worktree: str = places.WORKSPACE
    base_git_dir: str = places.BASE_GIT
    """Bare repository that `checkout` filled; only read here."""
    git_dir: str = places.OWN_GIT
    """The recorder's own bare repository."""
    stdout: str = f"{places.STREAM}/stdout.log"
    stderr: str = f"{places.STREAM}/stderr.log"
    exit_record: str = f"{places.STREAM}/exit.json"
    start_file: str = f"{places.SESSION}/start"
    """Made by the recorder when it watches; until then the launcher does not start the agent."""
    stop_file: str = f"{places.SESSION}/stop"
    """Made by the recorder to ask the launcher for a soft stop."""
    output: str = f"{places.SESSION}/output.log"
    """Made by the recorder: what of the agent's output people may see, which the launcher copies
    into the log of the agent's container."""
    output_end: str = f"{places.SESSION}/output-end"
    """Made by the recorder once all that an agent that has ended wrote is in `output`."""
    packs: str = f"{places.TMP}/{places.PACKS}"
    """Folder that the recorder makes and writes, and the pusher reads."""
    callback: Callback | None = None
    checkpoint_seconds: int = 30
    stall_seconds: int = 180
    limits: TreeLimits = field(default_factory=TreeLimits)
    protected: tuple[str, ...] | None = None
    folders: tuple[str, ...] = ()
    """Those that `checkout` has written; what the base has elsewhere stays as it is."""
    documents: tuple[str, ...] = ()
    """Names of those that the agent may leave beside what every one may; another is refused."""


@dataclass(frozen=True, slots=True)
class FinalRecord:
    """What the agent's own output says about its end. It is never proof of success: it only
    explains a failure."""

    outcome: str
    """Succeeded, or one of the Reasons AgentFailed, RateLimited, UsageLimited, ModelAuthFailed,
    ProviderUnavailable, MaxTurns, Refused, NoFinalRecord, Blocked, BlockRefused,
    DocumentRefused."""
    message: str = ""
    """One sentence, at most 500 characters, sanitised."""
    text: str = ""
    """Tail of the agent's last message, at most 2,000 characters here."""
    no_change: bool = False
    """The agent says that nothing had to be changed."""
    retry_after: int | None = None
    """Seconds after which the provider takes requests again."""
    low_confidence: str = ""
    """In our words, how it says that it is not sure."""
    waits_for: tuple[str, ...] = ()
    """Where it is Blocked: names of Tasks that it says it waits for."""


@dataclass(frozen=True, slots=True)
class LeftDocument:
    """A document that the agent left beside its code, which the recorder's log has."""

    name: str
    size: int
    """In bytes."""
    sha256: str


@dataclass(frozen=True, slots=True)
class RecorderResult:
    """The agent's work and end, as the recorder saw them."""

    base: str
    sha: str
    """The commit whose only parent is `base`; `base` itself when nothing changed."""
    tree: str
    changed: Changed
    usage: Usage
    final: FinalRecord
    model: str | None = None
    """The model that the stream names, if it names one."""
    stopped: str | None = None
    """Reason of a soft stop (the server's, or Stalled); None: it was not stopped."""
    skipped: int = 0
    """Files that are not in the commit although no rule ignores them: not regular, unreadable,
    refused by git."""
    ignored: str = ""
    """Where nothing changed: which new paths rules ignore, and which rules."""
    let_go: float | None = None
    """When the agent's command was let start (Unix, in seconds); older recorders did not say."""
    documents: tuple[LeftDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class PusherConfig:
    """Push the recorder's commits to `ref`."""

    remote: Remote
    ref: str
    base_git_dir: str = places.OWN_GIT
    """That of `checkout`, whose scratch volume is the pusher's, too."""
    git_dir: str = f"{places.TMP}/pusher.git"
    packs: str = f"/recorder/{places.PACKS}"
    pack_bytes: int = 500_000_000


@dataclass(frozen=True, slots=True)
class PusherResult:
    """The commit that the session's ref is at; `base` where nothing was pushed."""

    base: str
    sha: str
    tree: str
    final: bool
    """False: the ref holds only a checkpoint, not the final state."""
    outcome: str = ""
    """What the trailers of the final commit say of the agent's end; "": it has none, or is the base
    itself."""
    unsure: str = ""
    """In our words, how the agent said that it is not sure, by the same trailers."""


# --- checks -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """One signal or gate that only reads."""

    name: str
    type: str
    """A signal's type, or the name of a gate or rule."""
    path: str = ""
    value: str = ""
    contains: str = ""
    regex: bool = False
    files: tuple[str, ...] = ()
    append_only: tuple[str, ...] = ()
    """Paths and globs of what the work may only add to."""


@dataclass(frozen=True, slots=True)
class InspectConfig:
    """Judge the commit `sha`, which stands on `base`, by checks that only read."""

    sha: str
    base: str
    checks: tuple[Check, ...]
    onto_ref: str | None = None
    """Ref that the work will land on, for checks that merge; it is fetched under this name, with
    its whole history."""
    scan_seconds: int = 300
    """What a scan of the whole change may take; other checks are quick."""
    git_dir: str = places.OWN_GIT
    pinned: str | None = None
    """The commit that the Plan started from; None: `base`."""


EXCERPT_CHARACTERS = 1500
"""Of what a check found or printed, in its verdict."""


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The verdict on one check."""

    name: str
    verdict: str
    """Passed, Failed, Skipped or Errored."""
    reason: str = ""
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class InspectResult:
    """One verdict for each check, in the order of the configuration."""

    verdicts: tuple[CheckVerdict, ...]
