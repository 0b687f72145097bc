"""git as trusted code runs it: every rule that keeps repository content and servers harmless.

Each program in a pod has its own git directories; nothing untrusted ever writes to them, and git's
current directory is never inside a checkout. git's environment is built here from nothing, so that
no configuration of the image or the user takes effect. Our settings are passed in environment
variables (`GIT_CONFIG_COUNT`), where they outrank those of a repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bernstein.api.pod import Remote
from bernstein.api.reasons import Reason
from bernstein.core import sanitise
from bernstein.pods import bounded
from bernstein.pods.git import credential, remotes
from bernstein.pods.git.errors import GitError, from_output, unreachable
from bernstein.urls import host_of

__all__ = ["ATTRIBUTES", "Completed", "Git", "GitError", "full_ref", "init_bare", "is_sha"]

ATTRIBUTES = """\
[attr]diff
[attr]merge
* diff merge -filter -text -ident !working-tree-encoding !export-ignore
"""
"""`info/attributes` of our git directories: no content is converted, every file can be diffed and
merged.

The last line outranks what `.gitattributes` in a tree says about a path. The first two keep a tree
from defining macros called `diff` and `merge`: with `[attr]merge -diff` in the tree, the word
`merge` of the last line would turn diffs off for every file.
"""

NETWORK_SECONDS = 900.0
LOOKUP_SECONDS = 60.0
LOCAL_SECONDS = 600.0
MOST_LISTED = 8 << 20
"""Bytes of what a server lists of refs, or says of a push, beyond which it is not read."""

_SETTINGS = {
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.excludesFile": "/dev/null",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.logAllRefUpdates": "false",
    "core.symlinks": "true",
    "credential.helper": "",
    "credential.useHttpPath": "true",
    "diff.renames": "false",
    "fetch.fsckObjects": "true",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "http.userAgent": "bernstein",
    "maintenance.auto": "false",
    "merge.renames": "true",
    "pack.window": "0",
    "protocol.allow": "never",
    "protocol.version": "2",
    "push.recurseSubmodules": "no",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
    "transfer.credentialsInUrl": "die",
    "transfer.fsckObjects": "true",
}
"""git's settings for every command. A `pack.window` of 0 looks for no deltas: that would hold ten
large files in memory at a time."""
_HARMLESS = (
    "badDate",
    "badEmail",
    "badFilemode",
    "badTimezone",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
)
"""Flaws that old, ordinary histories have; none of them changes what is checked out, so fetches
accept them."""

_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_REF = re.compile(r"refs/[A-Za-z0-9._/@+-]+")
_NOTED_KINDS = {
    "refs/heads/": "branch",
    "refs/tags/": "tag",
    "refs/remotes/": "remote-tracking branch",
}
"""What FETCH_HEAD calls what was fetched, by how its ref begins; any other is there whole."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a git command left: exit code, stdout and stderr, as bytes."""

    code: int
    stdout: bytes
    stderr: bytes


def is_sha(value: str) -> bool:
    """Whether `value` is a full object id."""
    return _SHA.fullmatch(value) is not None


def full_ref(name: str) -> str:
    """`name` as a full ref; a short one is a branch. Raises GitError(InvalidConfig)."""
    ref = name if name.startswith("refs/") else f"refs/heads/{name}"
    if not _REF.fullmatch(ref) or ".." in ref or "//" in ref or ref.endswith(("/", ".lock", ".")):
        raise GitError("InvalidConfig", f"{name!r} is no name of a ref")
    return ref


def init_bare(path: Path, alternates: Sequence[Path] = ()) -> Git:
    """Make our own bare repository at `path`, or use the one that is there.

    `alternates` are git directories whose objects it can read, too, without copying them. Where
    one of them is shallow, the new repository is shallow at the same commits.
    """
    path.mkdir(parents=True, exist_ok=True)
    repository = Git(path)
    flags = ["--template=", "--initial-branch=none", "--object-format=sha1"]
    repository.run("init", "--quiet", "--bare", *flags)
    (path / "info").mkdir(exist_ok=True)
    (path / "info" / "attributes").write_text(ATTRIBUTES)
    if alternates:
        folders = "".join(f"{base / 'objects'}\n" for base in alternates)
        (path / "objects" / "info" / "alternates").write_text(folders)
    shallow = [f.read_text() for base in alternates if (f := base / "shallow").exists()]
    if shallow:
        (path / "shallow").write_text("".join(shallow))
    return repository


class Git:
    """A git directory of ours and, for the programs that talk to a server, its remote."""

    def __init__(self, git_dir: Path, remote: Remote | None = None) -> None:
        """Nothing runs yet. Raises GitError(InvalidConfig) for an address we never talk to."""
        if not git_dir.is_absolute():
            raise GitError("InvalidConfig", f"{git_dir} is not absolute")
        self.git_dir = git_dir
        self.remote = remote
        self._settings = dict(_SETTINGS)
        for flaw in _HARMLESS:
            self._settings[f"fetch.fsck.{flaw}"] = "ignore"
        if remote is not None:
            self._settings |= remotes.settings(remote, git_dir)

    # --- any command ----------------------------------------------------------------------------

    def run(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002 - subprocess calls it so
        check: bool = True,
        env: dict[str, str] | None = None,
        stdout: BinaryIO | None = None,
        timeout: float = LOCAL_SECONDS,
    ) -> bytes:
        """stdout of `git ARGS`; with `check`, an exit code other than 0 raises GitError."""
        done = self.complete(*args, input=input, env=env, stdout=stdout, timeout=timeout)
        if check and done.code != 0:
            raise self._failed(done.stderr, pushing=False)
        return done.stdout

    def complete(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002
        env: dict[str, str] | None = None,
        stdout: BinaryIO | None = None,
        timeout: float = LOCAL_SECONDS,
    ) -> Completed:
        """Run `git ARGS` whatever its exit code; of a long stderr beginning and end are kept.

        Raises GitError when it takes over `timeout` s, or a server lists refs without end.
        """
        argv, environment = ["git", *args], self._environment(env or {})
        most = MOST_LISTED if args[0] in ("ls-remote", "push") else None
        try:
            done = bounded.run(argv, environment, input or b"", stdout, seconds=timeout, most=most)
        except TimeoutError:
            text = f"git {args[0]} took over {timeout:.0f} s"
        except bounded.TooMuchError:
            text = f"git {args[0]} printed over {most} bytes"
        else:
            return Completed(*done)
        if self.remote is not None:
            raise unreachable(self._host, text)
        raise GitError("InternalError", text)

    def text(self, *args: str) -> str:
        """stdout of `git ARGS` as one stripped line of ASCII (object ids, counts)."""
        return self.run(*args).decode("ascii", "replace").strip()

    def commit_id(self, name: str) -> str:
        """Id of the commit that `name`, a ref or an object id, stands for here. Raises GitError."""
        return self.text("rev-parse", "--verify", f"{name}^{{commit}}")

    def tree_id(self, name: str) -> str:
        """Id of the tree of the commit that `name` stands for here. Raises GitError."""
        return self.text("rev-parse", "--verify", f"{name}^{{tree}}")

    def has_commit(self, sha: str) -> bool:
        """Whether the repository holds the commit."""
        return self.complete("cat-file", "-e", f"{sha}^{{commit}}").code == 0

    def expect_at(self, ref: str, sha: str) -> None:
        """Raise GitError(RefMoved) unless the fetched `ref` is at the commit `sha`."""
        actual = self.commit_id(full_ref(ref))
        if actual != sha:
            raise GitError(Reason.REF_MOVED, f"{ref} is at {actual}, expected {sha}")

    # --- the remote -----------------------------------------------------------------------------

    def fetch(self, refspecs: Sequence[str], depth: int | None = None) -> None:
        """Fetch `SOURCE:DESTINATION` refspecs; `depth` None takes the whole history."""
        for url, there in self._by_place(refspecs):
            self._fetch(url, there, depth)

    def _fetch(self, url: str, refspecs: Sequence[str], depth: int | None) -> None:
        shallow = (self.git_dir / "shallow").exists()
        history = [f"--depth={depth}"] if depth else (["--unshallow"] if shallow else [])
        flags = ["--quiet", "--no-tags", "--write-fetch-head", "--no-auto-gc", *history]
        forced = [spec if spec.startswith("+") else f"+{spec}" for spec in refspecs]
        asked = [spec.lstrip("+").partition(":")[0] for spec in refspecs]
        lacks = "the repository lacks what it was asked for: "
        try:
            self.run("fetch", *flags, "--", url, *forced, timeout=NETWORK_SECONDS)
        except GitError as error:
            if error.reason != Reason.REF_NOT_FOUND:
                raise
            quote = sanitise.quoted(error.message)
            text = sanitise.quoting(lacks + ", ".join(asked), quote, 500)
            raise GitError(error.reason, text) from error
        if others := _not_taken(self.git_dir, asked):
            text = f"{lacks}{', '.join(others)}; a branch or tag of that whole name is another one"
            raise GitError(Reason.REF_NOT_FOUND, text[:500])

    def read_ref(self, ref: str) -> str | None:
        """The object id that the remote's `ref` is at now; None when there is no such ref."""
        return self.read_refs(ref)[0]

    def read_refs(self, *refs: str) -> list[str | None]:
        """The same for several refs, by one question."""
        names = [full_ref(ref) for ref in refs]
        found: dict[str, str] = {}
        for url, there in self._by_place(names):
            found |= self._listed(url, there)
        return [found.get(name) for name in names]

    def _listed(self, url: str, names: Sequence[str]) -> dict[str, str]:
        # Else the server lists every ref there is, of which each landing adds one.
        kind = ["--heads"] if all(name.startswith("refs/heads/") for name in names) else []
        asked = ("ls-remote", "--quiet", *kind, "--", url, *names)
        listing = self.run(*asked, timeout=LOOKUP_SECONDS).decode("utf-8", "replace")
        rows = (row.partition("\t") for row in listing.splitlines())
        return {name: sha for sha, _, name in rows if is_sha(sha)}

    def push(self, ref: str, sha: str, expect: str | None) -> None:
        """Set the remote's `ref` to `sha` if it is at `expect` (None: if it does not exist).

        A return means that the ref is at `sha`, also where it was there before. Raises GitError:
        RefMoved, CredentialRefused, BranchProtected, PushRejected, RepositoryUnreachable.
        """
        self._push([_lease(ref, expect)], {ref: sha})

    def push_with(
        self, ref: str, sha: str, expect: str | None, beside: str, object_id: str
    ) -> None:
        """The same, and make the ref `beside` at `object_id`: both, or neither of them.

        Raises GitError also where that is there already at another object, and where the server
        cannot promise it: then nothing was pushed.
        """
        # By a lease: without one git would move a branch or tag of the whole name of a ref that is
        # not there.
        leases = [_lease(ref, expect), _lease(beside, None)]
        self._push(["--atomic", *leases], {ref: sha, beside: object_id})

    def overwrite(self, ref: str, object_id: str) -> None:
        """Set the remote's `ref` wherever it is, or make it. Raises GitError as `push` does, also
        where it is there and may not be listed."""
        self._push([_lease(ref, self.read_ref(ref))], {ref: object_id})

    def delete(self, refs: dict[str, str]) -> None:
        """Delete the remote's refs, each only where it is at this commit; others go all the same.

        Raises GitError as `push` does, where the server has not said that all are gone.
        """
        if not all(map(is_sha, refs.values())):
            raise GitError("InvalidConfig", "a ref is deleted at a full object id alone")
        leases = (_lease(ref, sha) for ref, sha in refs.items())
        about = full_ref(next(iter(refs))) if len(refs) == 1 else ""
        self._sent([*leases], [f":{full_ref(ref)}" for ref in refs], about)

    def _push(self, more: Sequence[str], to: dict[str, str]) -> None:
        if not all(map(is_sha, to.values())):
            raise GitError("InvalidConfig", "push takes full object ids")
        refspecs = [f"{sha}:{full_ref(ref)}" for ref, sha in to.items()]
        self._sent(more, refspecs, full_ref(next(iter(to))))

    def _sent(self, more: Sequence[str], refspecs: Sequence[str], about: str) -> None:
        """`about`: the ref that an error names; "": none of them more than others."""
        places = self._by_place(refspecs)
        if len(places) > 1:
            raise GitError(Reason.PUSH_REJECTED, "the refs are in two repositories")
        ((url, _),) = places
        flags = ["--quiet", "--porcelain", "--no-verify", "--no-signed", *more]
        pushed = ("push", *flags, "--", url, *refspecs)
        done = self.complete(*pushed, timeout=NETWORK_SECONDS)
        if done.code != 0:
            printed = done.stderr + b"\n" + done.stdout
            raise self._failed(printed, pushing=True, ref=about)

    # --- inside ---------------------------------------------------------------------------------

    def _failed(self, output: bytes, *, pushing: bool, ref: str = "") -> GitError:
        """The error for what git has written."""
        folder = self.remote.credential_dir if self.remote is not None else None
        odd = credential.oddities(folder) if folder is not None else ""
        return from_output(output, pushing, self._host, self._account, ref, oddities=odd)

    @property
    def _host(self) -> str:
        return host_of(self.remote.url) if self.remote is not None else ""

    @property
    def _account(self) -> str:
        """What the Project calls it: its files lie in a folder of that name."""
        folder = self.remote.credential_dir if self.remote is not None else None
        return Path(folder).name if folder is not None else ""

    def _by_place(self, refspecs: Sequence[str]) -> list[tuple[str, list[str]]]:
        """The refspecs, or names of refs, by the address of the repository that has them."""
        if self.remote is None:
            raise GitError("InvalidConfig", "this program was given no remote")
        places: dict[str, list[str]] = {}
        for spec in refspecs:
            places.setdefault(remotes.address_of(self.remote, _remote_ref(spec)), []).append(spec)
        return [*places.items()]

    def _environment(self, extra: dict[str, str]) -> dict[str, str]:
        settings = {
            f"GIT_CONFIG_{part}_{i}": value
            for i, item in enumerate(self._settings.items())
            for part, value in zip(("KEY", "VALUE"), item, strict=True)
        }
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),  # noqa: S108 - an emptyDir in our pods
            "GIT_DIR": str(self.git_dir),
            "GIT_ASKPASS": "",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": str(len(self._settings)),
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_TERMINAL_PROMPT": "0",
            **remotes.environment(self.remote),
            **settings,
            **extra,
        }


def _not_taken(git_dir: Path, asked: Iterable[str]) -> list[str]:
    """Those of the refs for which the last fetch has taken something else: where a ref is not
    there git looks for one whose own name is the whole one, such as refs/heads/refs/heads/main."""
    rows = (row.split(b"\t", 2) for row in (git_dir / "FETCH_HEAD").read_bytes().splitlines())
    taken = {source.partition(b" of ")[0] for _, _, source in rows}
    exact = (ref for ref in asked if ref.startswith("refs/") and "*" not in ref)
    return [ref for ref in exact if _as_noted(ref) not in taken]


def _as_noted(ref: str) -> bytes:
    for prefix, kind in _NOTED_KINDS.items():
        if ref.startswith(prefix):
            return f"{kind} '{ref.removeprefix(prefix)}'".encode()
    return f"'{ref}'".encode()


def _remote_ref(refspec: str) -> str:
    """The remote's ref in a refspec of ours: what a fetch takes, or what a push moves."""
    source, _, destination = refspec.lstrip("+").partition(":")
    return source if source.startswith("refs/") else destination


def _lease(ref: str, expect: str | None) -> str:
    """The flag by which a push fails where `ref` is not at `expect` (None: where it is there)."""
    if expect and not is_sha(expect):
        raise GitError("InvalidConfig", "push takes full object ids")
    return f"--force-with-lease={full_ref(ref)}:{expect or ''}"
