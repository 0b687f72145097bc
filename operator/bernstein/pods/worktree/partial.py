"""A worktree with some folders of a tree alone, and a `.git` that knows of no more of it."""

from __future__ import annotations

from pathlib import Path

from bernstein.pods.git import trees
from bernstein.pods.git.client import Git
from bernstein.pods.worktree.folders import Folders

_SETTINGS = {
    "core.repositoryFormatVersion": "1",
    "core.sparseCheckout": "true",
    "core.sparseCheckoutCone": "true",
    "extensions.partialClone": "elsewhere",
    "remote.elsewhere.promisor": "true",
}
"""The remote has no address: git takes it that objects are missing, and finds nowhere to ask."""


def leave_out(
    repository: Git, held: Folders, sha: str, files: str, work_tree: dict[str, str]
) -> None:
    """Mark what of the index, which holds `files`, is not to be written: all outside of the folders
    but what the commit `sha` does not have. `work_tree` names both index and worktree."""
    listing = repository.run("ls-files", "-z", env=work_tree)
    new = set() if files == sha else {*trees.paths_between(repository, sha, files)}
    paths = (path for path in listing.split(b"\0") if path and path not in new)
    outside = b"".join(path + b"\0" for path in paths if not held.holds(path))
    if outside:
        flags = ("update-index", "-z", "--skip-worktree", "--stdin")
        repository.run(*flags, input=outside, env=work_tree)


def give_objects(repository: Git, held: Folders, sha: str, own: Git) -> None:
    """Give `own`, a `.git` of the worktree, the commit with all its folders, and the contents that
    are checked out."""
    listing = repository.run("ls-tree", "-r", "-t", "-z", "--full-tree", sha)
    wanted = [sha, repository.tree_id(sha)]
    for record in filter(None, listing.split(b"\0")):
        head, path = record.split(b"\t", 1)
        _, kind, object_id = head.split(b" ")
        if kind == b"tree" or (kind == b"blob" and held.holds(path)):
            wanted.append(object_id.decode("ascii"))
    objects = own.git_dir / "objects"
    folder = objects / "pack"
    folder.mkdir(parents=True, exist_ok=True)
    request = "".join(f"{each}\n" for each in dict.fromkeys(wanted)).encode("ascii")
    flags = ("pack-objects", "--quiet", "--threads=1")
    # git writes a pack where its own objects are before it renames it, and ours are on another
    # volume.
    env = {
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repository.git_dir / "objects"),
    }
    name = repository.run(*flags, str(folder / "pack"), input=request, env=env)
    promised = f"pack-{name.decode('ascii').strip()}.promisor"
    (folder / promised).touch()  # else git takes what the pack does not have for lost
    for setting, value in _SETTINGS.items():
        own.run("config", setting, value)
    info = Path(own.git_dir) / "info"
    info.mkdir(exist_ok=True)
    (info / "sparse-checkout").write_text(held.patterns())
