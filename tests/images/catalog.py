"""The images, what each is built from, and the digest that says whether to build it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE_IMAGE = "debian:bookworm-slim"
TAG = "dev"
FORMAT = 1
"""Part of every digest: raise it when the way of building changes what comes out."""

_IGNORED_NAMES = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_IGNORED_SUFFIXES = (".pyc", ".egg-info")


@dataclass(frozen=True, slots=True)
class Image:
    """One Dockerfile; `sources` are what it copies besides its own folder."""

    name: str
    folder: str
    sources: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        return f"{self.name}:{TAG}"

    @property
    def dockerfile(self) -> str:
        return f"{self.folder}/Dockerfile"


IMAGES = (
    Image(
        "bernstein",
        "images/bernstein",
        (
            *("LICENSE", "pyproject.toml", "requirements.lock"),
            *("operator/bernstein", "operator/bernstein_gates"),
        ),
    ),
    Image("bernstein-agent-demo", "images/agent-demo"),
    Image("bernstein-agent-codex", "images/agent-codex"),
    Image("bernstein-toolchain", "images/toolchain"),
    Image(
        "bernstein-toolchain-node-go",
        "images/toolchain-node-go",
        ("images/agent-codex/npm-requirements.lock",),
    ),
    Image("bernstein-git-server", "images/git-server"),
    Image("bernstein-stub-llm", "images/stub-llm", ("tests/stub_llm",)),
)


def select(names: list[str]) -> tuple[Image, ...]:
    """The images of these names (all if none); a name may leave out the prefix `bernstein-`.

    Raises ValueError naming the known images.
    """
    known = {image.name: image for image in IMAGES}
    chosen = []
    for name in names or list(known):
        image = known.get(name) or known.get(f"bernstein-{name}")
        if image is None:
            raise ValueError(f"no image '{name}'; known: {', '.join(known)}")
        chosen.append(image)
    return tuple(chosen)


def files(image: Image, root: Path = ROOT) -> Iterator[tuple[str, Path]]:
    """Every file of the build context as (path in the context, file), sorted."""
    found: dict[str, Path] = {}
    for source in (image.folder, *image.sources):
        top = root / source
        if top.is_file():
            found[source] = top
            continue
        if not top.is_dir():
            raise FileNotFoundError(f"{source}, which {image.dockerfile} needs, does not exist")
        for path in top.rglob("*"):
            if path.is_file() and not _ignored(path.relative_to(top)):
                found[path.relative_to(root).as_posix()] = path
    yield from sorted(found.items())


def digest(image: Image, base: str, root: Path = ROOT) -> str:
    """Hex digest of all that decides the image's content; `base` identifies the base image."""
    total = hashlib.sha256(f"{FORMAT}\0{base}\0{image.reference}\0".encode())
    for name, path in files(image, root):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        executable = path.stat().st_mode & 0o100
        total.update(f"{name}\0{executable}\0{content}\0".encode())
    return total.hexdigest()


def _ignored(path: Path) -> bool:
    return any(part in _IGNORED_NAMES or part.endswith(_IGNORED_SUFFIXES) for part in path.parts)
