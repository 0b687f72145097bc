"""Program `checkout`: fetches a ref into our bare repository, writes its tree to an empty folder.

It runs before anything untrusted does, so the worktree must be empty, which is checked. Files get
the bytes that are committed: no filter runs, no line end or encoding is converted, symlinks stay
symlinks, LFS pointers stay pointers unless contents are asked for, submodules become empty folders.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from bernstein.api.pod import CheckoutConfig, CheckoutResult, PromptResult
from bernstein.api.programs.plugin import PluginConfig
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.checks import tools
from bernstein.checks.time_limit import TimeLimitError
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import cached
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git, GitError, full_ref, is_sha
from bernstein.pods.git.merge import merge_trees
from bernstein.pods.git.pinned import pin
from bernstein.pods.git.trees import changed_paths
from bernstein.pods.globs import first_match
from bernstein.pods.worktree import changed_files, lfs_pointers, partial
from bernstein.pods.worktree.folders import Folders
from bernstein.pods.worktree.new_lines import new_lines

CONFIG = CheckoutConfig

_DEPTHS = (2, 50, None)
"""Depths of history that are fetched, one after another, until a commit behind the ref is there."""
_WORKTREE_ATTRIBUTES = "* -filter -text -ident !working-tree-encoding\n"
"""`info/attributes` of the worktree's own git, so that it converts nothing either."""
_WORKTREE_BRANCH = "work"
_CHECKPOINT = "refs/checkpoint"


def run(config: CheckoutConfig) -> CheckoutResult:
    """The commit that was checked out, and its tree.

    Raises PodError: RepositoryUnreachable, RepositoryAuthFailed, RefNotFound, RefMoved, ...
    """
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    sha = _fetch(repository, config)
    if config.paths and config.changed_since:
        _expect_changed(repository, config.changed_since, sha, config.paths)
    tree = repository.tree_id(sha)
    repository.run("update-ref", "--no-deref", "HEAD", sha)
    resumed = _resumed_tree(repository, config, sha) if config.resume and config.worktree else None
    if config.worktree is not None:
        _write_worktree(repository, config, sha, resumed or sha, Path(config.worktree))
    if config.changed_to is not None and config.changed_since is not None:
        _lay_out_changed(repository, config, config.changed_since, sha, Path(config.changed_to))
    if config.base is not None and config.base_worktree is not None:
        base = repository.commit_id(config.base)
        _write_worktree(repository, config, base, base, Path(config.base_worktree))
    if config.tool and config.tools and config.worktree and config.base_worktree:
        before = Path(config.base_worktree)
        lay_out(config.tool, Path(config.tools), Path(config.worktree), before)
    if config.plugin and config.tools:
        _lay_out_plugin(repository, config, config.plugin, sha, Path(config.tools))
    if config.test and config.tools:
        _lay_out_test(config.test, Path(config.tools))
    lacking = _lfs(config)
    if config.launcher_from and config.launcher_to:
        _copy_program(Path(config.launcher_from), Path(config.launcher_to))
    log.event("checked-out", ref=config.ref, sha=sha)
    had = resumed is not None if config.resume else None
    return CheckoutResult(sha, tree, _prompt(repository, config, sha, had), lacking)


def _prompt(
    repository: Git, config: CheckoutConfig, sha: str, resumed: bool | None
) -> PromptResult | None:
    """Puts the agent's prompt together; its own module is loaded only where there is an agent."""
    if config.prompt is None:
        return None
    from bernstein.pods.session.prompt import put_together

    return put_together(config.prompt, config.remote, repository, sha, resumed)


def _lfs(config: CheckoutConfig) -> int | None:
    """Last of all: what was compared or laid out before was so by pointers. Returns how many files
    lack the content that was asked for; None: none was."""
    trees = [Path(tree) for tree in (config.worktree, config.base_worktree) if tree is not None]
    if config.lfs and trees:
        from bernstein.pods import lfs  # with what asks over https

        return lfs.fill(config.remote, trees)
    lfs_pointers.tell(trees)
    return 0 if config.lfs else None


# --- objects ------------------------------------------------------------------------------------


def _fetch(repository: Git, config: CheckoutConfig) -> str:
    """Fetch all that the configuration names; returns the commit that its ref is at."""
    known = [config.pinned_sha, config.base, config.changed_since]
    known += [config.plugin.pinned_sha, config.plugin.since] if config.plugin else []
    more = [*config.also, *filter(None, known)]
    names = dict.fromkeys(full_ref(n) for n in (config.ref, *more) if not is_sha(n))
    specs = [f"{name}:{name}" for name in names]
    kept = cached.begin_with(repository, config.cache) if config.cache else None
    repository.fetch(specs, depth=None if config.history else 1)
    if kept is not None:
        cached.settle(repository, kept)
    if config.sha is not None:
        repository.expect_at(config.ref, config.sha)
    sha = repository.commit_id(full_ref(config.ref))
    for commit in filter(is_sha, more):
        _reach(repository, specs, commit, kept)
    return sha


def _reach(repository: Git, specs: list[str], commit: str, kept: str | None) -> None:
    """Fetch the refs deeper until they contain the commit: servers need not serve it by its id.

    That a cache has kept it says nothing: it may be in none of them.
    """
    for depth in _DEPTHS:
        if _has(repository, commit, kept):
            return
        repository.fetch(specs, depth=depth)
    if not _has(repository, commit, kept):
        raise PodError(Reason.REF_NOT_FOUND, f"no fetched ref contains the commit {commit}")


def _has(repository: Git, commit: str, kept: str | None) -> bool:
    if commit == kept:
        return cached.is_fetched(repository, commit)
    return repository.has_commit(commit)


def _resumed_tree(repository: Git, config: CheckoutConfig, sha: str) -> str | None:
    """The tree of the checkpoint merged with the tip `sha`.

    None where there is no checkpoint, it is another one than was recorded, or it conflicts with the
    tip: the session then starts afresh.
    """
    assert config.resume is not None
    try:
        # A checkpoint is one commit on the tip of its time. Where that still is the tip, its tree
        # is the answer; else the tip's whole history is needed, to merge the two.
        checkpoint = full_ref(config.resume)
        specs = [f"{checkpoint}:{_CHECKPOINT}", f"{full_ref(config.ref)}:{full_ref(config.ref)}"]
        repository.fetch(specs[:1], depth=2)
        if config.resume_sha not in (None, repository.commit_id(_CHECKPOINT)):
            log.event("not-resumed", ref=config.resume, reason=Reason.REF_MOVED)
            return None
        if repository.text("rev-parse", f"{_CHECKPOINT}^") == sha:
            return _within_folders(repository, config, sha, repository.tree_id(_CHECKPOINT))
        repository.fetch(specs, depth=None)
        merged = merge_trees(repository, sha, _CHECKPOINT)
    except GitError as error:
        log.event("not-resumed", ref=config.resume, reason=error.reason, message=error.message)
        return None
    if merged.conflicts:
        log.event("not-resumed", ref=config.resume, reason=Reason.MERGE_CONFLICT)
        return None
    return _within_folders(repository, config, sha, merged.tree)


def _within_folders(repository: Git, config: CheckoutConfig, sha: str, tree: str) -> str | None:
    """The tree; None where it differs in what is not checked out, by a session that had more."""
    held = Folders(config.folders)
    changes = changed_paths(repository, sha, tree) if held else []
    if any(not held.holds(change.path) and not change.is_new for change in changes):
        log.event("not-resumed", ref=config.resume, reason=Reason.OUTSIDE_CHECKOUT)
        return None
    return tree


def _expect_changed(repository: Git, base: str, sha: str, globs: Sequence[str]) -> None:
    """Raises PodError(ConditionNotMet) where no glob matches a changed path. One that takes too
    long to say so counts as if it did: what is slow must not be what is left out."""
    paths = [
        change.path.decode(errors="surrogateescape")
        for change in changed_paths(repository, base, sha)
    ]
    for glob in globs:
        try:
            if first_match(glob, paths) is not None:
                return
        except TimeLimitError:
            return
    text = f"no changed path matches {' or '.join(globs)}"
    raise PodError(VerdictReason.CONDITION_NOT_MET, text)


# --- files --------------------------------------------------------------------------------------


def _write_worktree(
    repository: Git, config: CheckoutConfig, sha: str, files: str, worktree: Path
) -> None:
    """Write the tree of `files`, a commit or tree, into the worktree.

    The worktree's own `.git`, if the configuration asks for one, is at the commit `sha`.
    """
    worktree.mkdir(parents=True, exist_ok=True)
    if any(worktree.iterdir()):
        raise PodError("InvalidConfig", f"{worktree} is not empty: it must be a fresh volume")
    index = _index(repository)
    repository.run("read-tree", files, env=index)
    if config.pinned_sha:
        pin(repository, config.pinned_sha, set(config.pinned_names), index)
    held = Folders(config.folders)
    work_tree = index | {"GIT_WORK_TREE": str(worktree)}
    if held:
        partial.leave_out(repository, held, sha, files, work_tree)
    repository.run("checkout-index", "--all", "--force", "--index", env=work_tree)
    if config.worktree_git:
        if files != sha:
            repository.run("read-tree", sha, env=index)
            if held:
                partial.leave_out(repository, held, sha, sha, work_tree)
        _give_git(repository, held, sha, worktree)


def _index(repository: Git) -> dict[str, str]:
    return {"GIT_INDEX_FILE": str(repository.git_dir / "index")}


def _lay_out_changed(
    repository: Git, config: CheckoutConfig, base: str, sha: str, folder: Path
) -> None:
    """The index is still that of the worktree."""
    changed_files.lay_out(repository, base, sha, _index(repository), config.only_new, folder)


def _give_git(repository: Git, held: Folders, sha: str, worktree: Path) -> None:
    """A `.git` for the code that runs in the worktree: its own objects, no remote, no credential.

    Files are copied, never linked: that code may write to them, and our repository must not change.
    """
    folder = worktree / ".git"
    own = Git(folder)
    work_tree = {"GIT_WORK_TREE": str(worktree)}
    own.run("init", "--quiet", "--template=", f"--initial-branch={_WORKTREE_BRANCH}", env=work_tree)
    if held:
        partial.give_objects(repository, held, sha, own)
    else:
        objects = repository.git_dir / "objects"
        shutil.copytree(objects, folder / "objects", dirs_exist_ok=True)
    for name in ("shallow", "index"):
        if (repository.git_dir / name).exists():
            shutil.copy2(repository.git_dir / name, folder / name)
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info" / "attributes").write_text(_WORKTREE_ATTRIBUTES)
    own.run("update-ref", f"refs/heads/{_WORKTREE_BRANCH}", sha)


def lay_out(tool: str, folder: Path, work: Path, base: Path) -> None:
    """Puts the program into the folder, and what it is to know of the change, while nothing of
    either tree has run."""
    shutil.copyfile(tools.file(tool), folder / f"{tool}.py")
    (folder / "changed.json").write_text(json.dumps(new_lines(work, base)))


def _lay_out_plugin(
    repository: Git, config: CheckoutConfig, plugin: PluginConfig, sha: str, folder: Path
) -> None:
    """Its own module is loaded only where a gate of a Project's own runs."""
    from bernstein.pods.plugins import lay_out as lay_out_plugin

    tree = sha if config.worktree is not None else config.base or sha
    lay_out_plugin(repository, plugin, sha, tree, folder)


def _lay_out_test(test: str, folder: Path) -> None:
    """Its own module is loaded only where a model has written one."""
    from bernstein.core.judging import written

    try:
        (folder / written.FILE).write_text(written.unpacked(test))
    except ValueError as error:
        raise PodError("InvalidConfig", f"the test cannot be unpacked: {error}") from None


def _copy_program(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o755)
