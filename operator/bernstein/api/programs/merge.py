"""What the operator and the programs `begin`, `prepare` and `land` say to each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from bernstein import places
from bernstein.api.pod import Changed, Remote, TreeLimits
from bernstein.api.programs.commit import CommitText


@dataclass(frozen=True, slots=True)
class BeginConfig:
    """Make `integration` at the tip of `target`."""

    remote: Remote
    target: str
    integration: str
    git_dir: str = places.OWN_GIT
    again: bool = False
    """An earlier Job of this Plan may have made it, at an earlier tip: then it is moved on."""


@dataclass(frozen=True, slots=True)
class BeginResult:
    """Where the integration ref is. Before anything has landed on it, this is the target's tip of
    the time when it was made."""

    target_sha: str
    integration_sha: str
    """The same as `target_sha`: an older operator takes no result without it."""
    integration: str = ""
    """The ref; older releases did not tell."""


@dataclass(frozen=True, slots=True)
class ResolvesConfig:
    """The conflict that the work resolves: that of `onto` with the commit `sha` of `target`."""

    target: str
    sha: str


@dataclass(frozen=True, slots=True)
class PushedConfig:
    """What holds of a commit that no program of ours has made."""

    verified: str
    """The commit that was there before, and was verified."""
    as_it_is: bool = False
    """Where it stands on the tip it is the candidate itself; else a merge commit always is."""
    limits: TreeLimits = field(default_factory=TreeLimits)


@dataclass(frozen=True, slots=True)
class PrepareConfig:
    """Make the candidate, `sha` merged with the tip of `onto`, and push it to `candidate`."""

    remote: Remote
    ref: str
    sha: str
    onto: str
    candidate: str
    commit: CommitText
    git_dir: str = places.OWN_GIT
    merge: bool = False
    """False: one commit on the tip, as a Task delivers. True: a merge commit of the tip and `sha`,
    as a Plan delivers."""
    protected: tuple[str, ...] | None = None
    marks: str | None = None
    """Where the files are pushed, with both sides between marks, if they do not merge."""
    resolves: ResolvesConfig | None = None
    """Of work that resolves a conflict."""
    pushed: PushedConfig | None = None
    """Of what people have pushed to the branch of a pull request."""


@dataclass(frozen=True, slots=True)
class PrepareResult:
    """The candidate, or why there is none."""

    base: str
    """Tip that the candidate stands on."""
    sha: str
    tree: str
    changed: Changed
    conflicts: tuple[str, ...] = ()
    """Paths in conflict (at most 20); then sha and tree are empty. Of work that resolves one: those
    in which marks are left or cannot stand, or that it had no need to change."""
    sides: str = ""
    """The places in conflict with both sides, as far as there is room."""
    marked: str = ""
    """The commit with both between marks; "": none was asked for, or there are too many paths, or
    there are such:"""
    for_people: tuple[str, ...] = ()
    """Paths in conflict of which git makes no file with marks, where those were asked for: at
    most 20, sanitised. Older programs told none."""
    refused: str = ""
    """Why what was pushed can be no candidate; then sha and tree are empty. "": it can."""
    altered: bool = False
    """Of a commit with marks: a path in conflict is not called as it is shown."""


@dataclass(frozen=True, slots=True)
class AttestConfig:
    """Push what was verified of the commit to `ref`, as a signed Statement."""

    ref: str
    predicate: str
    """JSON; the commit and its tree are put in by the program."""
    key: str | None = None
    """File with the private key; None: it is left unsigned."""
    public: str | None = None
    """File with the public half that is to prove it; None: nobody has named one."""


@dataclass(frozen=True, slots=True)
class SignConfig:
    """Sign the commit that lands, with SSH."""

    key: str
    """File with the private key."""
    public: str | None = None
    """File with its public half; None: nobody has named one."""


@dataclass(frozen=True, slots=True)
class LandConfig:
    """Bring `sha` (fetched from `ref`), whose tree must be `tree`, to `onto`, now at `expect`.

    Without `expect`: only look whether it is there. With `branch`: it is brought there, and `onto`
    is what it stands on.
    """

    remote: Remote
    ref: str
    sha: str
    tree: str
    onto: str
    expect: str | None
    git_dir: str = places.OWN_GIT
    attest: AttestConfig | None = None
    """None: nothing is said of it."""
    branch: str | None = None
    """The branch of a pull request."""
    branch_at: str | None = None
    """Where that must be; None: it must not exist."""
    sign: SignConfig | None = None
    """What lands is a signed copy of the commit; None: the commit as it is."""
    by_others: bool = False
    """It is looked for what others have merged: the same change in other commits counts as well,
    and `ref` is one that a forge keeps of a pull request."""


@dataclass(frozen=True, slots=True)
class LandResult:
    """Where the branch is, as the remote showed after the push."""

    state: str
    """Landed: the tip contains the commit. Moved: it does not; where something was to be pushed,
    others moved the branch."""
    tip: str
    attestation: str = ""
    """Where it has landed: Signed or Unsigned, as the remote shows it; OtherKey: it says the same
    and is signed, by another key than this one; Missing: the remote has none, or one that says
    something else. "": it was not looked for."""
    sha: str = ""
    """The signed copy that has landed; "": it is the commit itself."""
    refused: str = ""
    """Why the git server has not taken the attestation; "": it has, or was not asked."""
