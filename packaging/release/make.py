"""Makes the folder of a release, part by part."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from release import archives, bom, charts, folder, krew, layers, others, sums, wheels
from release.charts import Helm
from release.errors import ReleaseError
from release.notes import notes
from release.sources import Sources
from tests.cluster.machine.lock import locked

_PART = r"[a-z0-9]+([._-]+[a-z0-9]+)*"
REGISTRY = re.compile(rf"{_PART}(:[0-9]+)?(/{_PART})*")
IMAGE_OF_CHART = "bernstein"


@dataclass(frozen=True)
class Order:
    """What a publisher wants."""

    to: Path
    registry: str = ""
    """What names of images begin with, without a slash at the end; "": nothing."""
    address: str = ""
    """Where files will be found; "": no manifest for krew is made, which names it."""
    also: tuple[Path, ...] = ()
    """Folders of the same release, made on machines of other architectures."""

    def reference(self, name: str, version: str) -> str:
        return f"{self.repository(name)}:{version}"

    def repository(self, name: str) -> str:
        return f"{self.registry}/{name}" if self.registry else name


@dataclass
class Release:
    """A release as it grows. `say` tells what has been made."""

    order: Order
    sources: Sources
    say: Callable[[str], None]
    version: str = field(init=False)
    epoch: int = field(init=False)
    _used: list[Path] = field(init=False, default_factory=list)
    """Files of the layers that images are made of."""

    def __post_init__(self) -> None:
        if self.order.registry and not REGISTRY.fullmatch(self.order.registry):
            raise ReleaseError(
                "BadRegistry",
                f"no name of an image begins with '{self.order.registry}'",
                "give a host and a path in small letters, such as registry.example.com/team",
            )
        self.version, self.epoch = self.sources.version(), self.sources.epoch()
        if self.sources.changed():
            self.say("files differ from those of the commit: nobody else can make these bytes")

    def begin(self) -> None:
        """Empty the folder; write the notes, which a release without any ends with."""
        self.sources.refuse_unknown()
        published = bool(self.order.registry or self.order.address)
        changelog = (self.sources.root / "CHANGELOG.md").read_text()
        text = notes(changelog, self.version, published=published)
        folder.take(self.order.to, self.sources.root, self.order.also)
        (self.order.to / "sbom").mkdir()
        (self.order.to / "RELEASE_NOTES.md").write_text(text)

    def wheels(self) -> None:
        """The wheels, what they need, and the plugin of kubectl."""
        to, root = self.order.to, self.sources.root
        made = wheels.build(root, self.sources.files(*wheels.SOURCES), to, self.epoch)
        for wheel in made:
            name = wheel.name.partition("-")[0]
            needs = (root / "requirements.lock").read_text() if name == "bernstein" else ""
            self._bom("library", name, sums.of(wheel), bom.of_lock(needs), wheel.stem)
        (program,) = [wheel for wheel in made if wheel.name.startswith("bernstein-")]
        krew.write(root, program, self.order.address, to)
        self.say(f"wheels: {', '.join(wheel.name for wheel in made)}")

    def chart(self, run: Helm) -> None:
        """The chart, its CRDs, and one manifest."""
        to, root = self.order.to, self.sources.root
        repository = self.order.repository(IMAGE_OF_CHART)
        source = root / "charts/bernstein"
        packed = charts.package(run, source, self.version, repository, to, self.epoch)
        (to / "crds.yaml").write_text(charts.crds(root / "crds"))
        (to / "install.yaml").write_text(charts.manifest(run, packed))
        self.say(f"chart: {packed.name}, crds.yaml, install.yaml")

    def images(self, saved: Sequence[tuple[str, Path]], kept: Path) -> None:
        """Archives of the images, of which each is told as its name and what `docker save` wrote.

        `kept`: a folder for layers, which the next release reads again.
        """
        for other in self.order.also:
            others.compare(self.order.to, other)
        with _held(kept):
            self._images(saved, kept)

    def _images(self, saved: Sequence[tuple[str, Path]], kept: Path) -> None:
        epoch = self.sources.epoch("images")
        digests: dict[str, str] = {}
        for name, source in saved:
            reference = self.order.reference(name, self.version)
            archive = self.order.to / "images" / f"{name}-{self.version}.tar"
            image = archives.convert(source, archive, reference, epoch, kept)
            self._used += image.layers
            digests[name] = self._joined(archive, reference) or image.digest
            packages = bom.of_image(image.telling)
            digest = image.digest.removeprefix("sha256:")
            stem = f"{name}-{self.version}-{image.architectures[0]}"
            self._bom("container", name, digest, packages, stem)
            self.say(f"image: {reference} ({image.architectures[0]})")
        listed = [f"{self.order.reference(n, self.version)}@{d}\n" for n, d in digests.items()]
        (self.order.to / "images.txt").write_text("".join(listed))
        if IMAGE_OF_CHART in digests:
            values = {"image": {"digest": digests[IMAGE_OF_CHART]}}
            (self.order.to / "values-digests.yaml").write_text(yaml.safe_dump(values))

    def end(self) -> None:
        """The checksums, last of all: a folder without them is not finished."""
        sums.write(self.order.to)

    def forget(self, kept: Path) -> None:
        """Remove the layers that this release has not used, which has all images."""
        with _held(kept):
            layers.forget(kept, self._used)

    def _joined(self, archive: Path, reference: str) -> str:
        """Digest of the image with the architectures of other machines; "" where there are none."""
        also = self.order.also
        if not also:
            return ""
        own = archive.rename(archive.with_suffix(".own"))
        parts = [own, *(each / "images" / archive.name for each in also)]
        joined = archives.join(parts, archive, reference)
        own.unlink()
        for each, architecture in zip(also, joined.architectures[1:], strict=True):
            name = f"sbom/{archive.stem}-{architecture}.cdx.json"
            shutil.copyfile(each / name, self.order.to / name)
        return joined.digest

    def _bom(
        self, kind: str, name: str, digest: str, packages: Iterable[bom.Package], stem: str
    ) -> None:
        text = bom.bom(kind, name, self.version, digest, packages, self.epoch)
        (self.order.to / "sbom" / f"{stem}.cdx.json").write_text(text)


def _held(kept: Path) -> AbstractContextManager[None]:
    """Every release of this machine, and the tests of one, share the folder."""
    return locked(kept / "lock", "layers of images")
