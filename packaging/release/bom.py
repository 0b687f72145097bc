"""What an image or a wheel is made of, as a software bill of materials in the form of CycloneDX."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.parser import HeaderParser

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

_DEBIAN = "debian"
_LOCKED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Package:
    """One package, by the words of a package URL."""

    type: str
    """`deb`, `npm` or `pypi`."""
    name: str
    version: str
    namespace: str = ""
    architecture: str = ""

    @property
    def url(self) -> PackageURL:
        more = {"arch": self.architecture} if self.architecture else None
        return PackageURL(self.type, self.namespace or None, self.name, self.version, more)


def of_image(telling: Mapping[str, str]) -> Iterator[Package]:
    """Packages of Debian, Python and npm, from the files that say so, by their path."""
    for path, text in telling.items():
        if path == "var/lib/dpkg/status":
            yield from _debian(text)
        elif path.endswith("/METADATA"):
            yield from _python(text)
        else:
            yield from _npm(text)


def of_lock(requirements: str) -> Iterator[Package]:
    """Packages of a file of requirements that names each with its version."""
    for name, version in _LOCKED.findall(requirements):
        yield Package("pypi", _normal(name), version)


def bom(
    kind: str, name: str, version: str, digest: str, packages: Iterable[Package], epoch: int
) -> str:
    """The document, as JSON. `kind`: `container` or `library`; `digest`: SHA-256 of it, in hex.

    The same packages give the same bytes.
    """
    own = Component(
        name=name,
        version=version,
        type=ComponentType(kind),
        bom_ref=name,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )
    found = Bom(
        components=[
            Component(
                name=package.name,
                version=package.version,
                group=package.namespace or None,
                type=ComponentType.LIBRARY,
                purl=package.url,
                bom_ref=package.url.to_string(),
            )
            for package in sorted(set(packages))
        ],
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{name}@{version}#{digest}"),
    )
    found.metadata.component = own
    found.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    found.register_dependency(own, found.components)
    return str(JsonV1Dot6(found).output_as_string(indent=1)) + "\n"


def _debian(status: str) -> Iterator[Package]:
    for paragraph in status.split("\n\n"):
        fields = HeaderParser().parsestr(paragraph.strip())
        if str(fields["Status"]).endswith(" installed"):
            name, version = str(fields["Package"]), str(fields["Version"])
            yield Package("deb", name, version, _DEBIAN, str(fields["Architecture"]))


def _python(metadata: str) -> Iterator[Package]:
    fields = HeaderParser().parsestr(metadata)
    if fields["Name"] and fields["Version"]:
        yield Package("pypi", _normal(str(fields["Name"])), str(fields["Version"]))


def _npm(text: str) -> Iterator[Package]:
    """None where it is no package of its own, as some are that only say how to read a folder."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return
    match said:
        case {"name": str(whole), "version": str(version)} if version:
            scope, _, name = whole.rpartition("/")
            if name:
                yield Package("npm", name, version, scope)


def _normal(name: str) -> str:
    """As package indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()
