"""Program `checkout`: a ref's objects into our bare repository, its tree into an empty folder.

It runs before anything untrusted does, so the worktree holds nothing yet; that is verified. Content
arrives as the bytes that are committed: no filter, no line-end or encoding conversion, symlinks as
symlinks, LFS pointers as pointers, submodules as empty folders.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bernstein.api.pod import CheckoutConfig, CheckoutResult
from bernstein.pods import git, log
from bernstein.pods.errors import PodError
from bernstein.pods.git import Git, GitError, full_ref, is_sha
from bernstein.pods.merging import merge_trees

CONFIG = CheckoutConfig

_DEPTHS = (2, 50, None)
"""How deep to look, one after another, for a commit that must be reachable from the ref."""
_WORKTREE_ATTRIBUTES = "* -filter -text -ident !working-tree-encoding\n"
"""git converts nothing there either: what runs there sees the bytes that are committed."""
_WORKTREE_BRANCH = "work"
_CHECKPOINT = "refs/checkpoint"


def run(config: CheckoutConfig) -> CheckoutResult:
    """Raises PodError: RepositoryUnreachable, RepositoryAuthFailed, RefNotFound, RefMoved, ..."""
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    sha = _fetch(repository, config)
    tree = repository.text("rev-parse", "--verify", f"{sha}^{{tree}}")
    repository.run("update-ref", "--no-deref", "HEAD", sha)
    if config.worktree is not None:
        files = _resumed(repository, config, sha) if config.resume else None
        _write_worktree(repository, config, sha, files or sha, Path(config.worktree))
    if config.launcher_from and config.launcher_to:
        _copy_program(Path(config.launcher_from), Path(config.launcher_to))
    log.event("checked-out", ref=config.ref, sha=sha)
    return CheckoutResult(sha, tree)


# --- objects ------------------------------------------------------------------------------------


def _fetch(repository: Git, config: CheckoutConfig) -> str:
    wanted = [*config.also, *([config.pinned_sha] if config.pinned_sha else [])]
    names = dict.fromkeys(full_ref(n) for n in (config.ref, *wanted) if not is_sha(n))
    specs = [f"{name}:{name}" for name in names]
    repository.fetch(specs, depth=None if config.history else 1)
    sha = repository.text("rev-parse", "--verify", f"{full_ref(config.ref)}^{{commit}}")
    if config.sha is not None and sha != config.sha:
        raise PodError("RefMoved", f"{config.ref} is at {sha}, expected {config.sha}")
    for commit in filter(is_sha, wanted):
        _reach(repository, specs, commit)
    return sha


def _reach(repository: Git, specs: list[str], commit: str) -> None:
    depths = iter(_DEPTHS)
    while repository.complete("cat-file", "-e", f"{commit}^{{commit}}").code != 0:
        try:
            repository.fetch(specs, depth=next(depths))
        except StopIteration:
            raise PodError("RefNotFound", f"no fetched ref contains the commit {commit}") from None


def _resumed(repository: Git, config: CheckoutConfig, sha: str) -> str | None:
    """The tree of the checkpoint on the tip; None where that cannot be had: start afresh then."""
    assert config.resume is not None
    try:
        # One commit on the tip of then: with the tip's whole history it merges with any later tip.
        checkpoint = full_ref(config.resume)
        specs = [f"{checkpoint}:{_CHECKPOINT}", f"{full_ref(config.ref)}:{full_ref(config.ref)}"]
        repository.fetch(specs[:1], depth=2)
        if repository.text("rev-parse", f"{_CHECKPOINT}^") == sha:
            return repository.text("rev-parse", f"{_CHECKPOINT}^{{tree}}")
        repository.fetch(specs, depth=None)
        merged = merge_trees(repository, sha, _CHECKPOINT)
    except GitError as error:
        log.event("not-resumed", ref=config.resume, reason=error.reason, message=error.message)
        return None
    if merged.conflicts:
        log.event("not-resumed", ref=config.resume, reason="MergeConflict")
        return None
    return merged.tree


# --- files --------------------------------------------------------------------------------------


def _write_worktree(
    repository: Git, config: CheckoutConfig, sha: str, files: str, worktree: Path
) -> None:
    """The tree of `files` into the worktree; its own `.git`, if any, is at `sha`."""
    worktree.mkdir(parents=True, exist_ok=True)
    if any(worktree.iterdir()):
        raise PodError("InvalidConfig", f"{worktree} is not empty: it must be a fresh volume")
    index = {"GIT_INDEX_FILE": str(repository.git_dir / "index")}
    repository.run("read-tree", files, env=index)
    if config.pinned_sha:
        _pin(repository, config.pinned_sha, set(config.pinned_names), index)
    here = index | {"GIT_WORK_TREE": str(worktree)}
    repository.run("checkout-index", "--all", "--force", "--index", env=here)
    if config.worktree_git:
        if files != sha:
            repository.run("read-tree", sha, env=index)
        _give_git(repository, sha, worktree)


def _pin(repository: Git, pinned: str, names: set[str], index: dict[str, str]) -> None:
    """Take files of these base names from `pinned` instead, wherever their folder still exists."""
    wanted = {os.fsencode(name) for name in names}
    present = _entries(repository.run("ls-files", "--stage", "-z", env=index))
    listed = _entries(repository.run("ls-tree", "-r", "-z", pinned))
    changes = [
        b"0 %s\t%s" % (b"0" * len(pinned), path) for path in present if _base_name(path) in wanted
    ]
    changes += [
        b"%s %s\t%s" % (mode, sha, path)
        for path, (mode, sha) in listed.items()
        if _base_name(path) in wanted and not _file_above(path, present)
    ]
    if changes:
        data = b"\0".join(changes) + b"\0"
        repository.run("update-index", "--replace", "-z", "--index-info", input=data, env=index)


def _entries(listing: bytes) -> dict[bytes, tuple[bytes, bytes]]:
    """Path to (mode, object id), of `ls-tree -z` or `ls-files --stage -z`."""
    entries = {}
    for entry in filter(None, listing.split(b"\0")):
        head, path = entry.split(b"\t", 1)
        words = head.split(b" ")
        entries[path] = (words[0], words[2] if words[1] in {b"blob", b"commit"} else words[1])
    return entries


def _base_name(path: bytes) -> bytes:
    return path.rsplit(b"/", 1)[-1]


def _file_above(path: bytes, present: dict[bytes, tuple[bytes, bytes]]) -> bool:
    parts = path.split(b"/")
    return any(b"/".join(parts[:i]) in present for i in range(1, len(parts)))


def _give_git(repository: Git, sha: str, worktree: Path) -> None:
    """A `.git` for the code that runs in the worktree: its own objects, no remote, no credential.

    Copies, never links: what runs there may write to it, and our repository must not notice.
    """
    folder = worktree / ".git"
    own = Git(folder)
    here = {"GIT_WORK_TREE": str(worktree)}
    own.run("init", "--quiet", "--template=", f"--initial-branch={_WORKTREE_BRANCH}", env=here)
    shutil.copytree(repository.git_dir / "objects", folder / "objects", dirs_exist_ok=True)
    for name in ("shallow", "index"):
        if (repository.git_dir / name).exists():
            shutil.copy2(repository.git_dir / name, folder / name)
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "attributes").write_text(_WORKTREE_ATTRIBUTES)
    own.run("update-ref", f"refs/heads/{_WORKTREE_BRANCH}", sha)


def _copy_program(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o755)
