"""The files of the CRDs: written, and compared with what the models and registries say now."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from bernstein.crds.kinds import KINDS
from bernstein.crds.schema import Schema, definition

FOLDERS = ("crds", "charts/bernstein/files/crds")
HEADER = (
    "# Generated from the models in operator/bernstein/api: do not edit.\n"
    "# To make it anew: python -m bernstein.crds\n"
)


@cache
def files() -> Mapping[str, str]:
    """File name -> content of every CRD."""
    return MappingProxyType({f"{kind.plural}.yaml": _text(definition(kind)) for kind in KINDS})


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(crd: Schema) -> str:
    body = yaml.dump(crd, Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True)
    return HEADER + body


def write(folders: Iterable[Path]) -> list[Path]:
    """Write every CRD into every folder; files of kinds that are gone are removed."""
    written = []
    wanted = files()
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.yaml"):
            if old.name not in wanted:
                old.unlink()
        for name, content in wanted.items():
            (folder / name).write_text(content)
            written.append(folder / name)
    return written


def outdated(folders: Collection[Path]) -> list[Path]:
    """Files that are missing, not what the models say, or of kinds that are gone."""
    contents = files()
    wanted = {folder / name: contents[name] for folder in folders for name in contents}
    present = {path for folder in folders for path in folder.glob("*.yaml")}
    kept = {path for path in present if wanted.get(path) == path.read_text()}
    return sorted((wanted.keys() | present) - kept)


def main(arguments: Sequence[str]) -> int:
    """Writes the files into the folders named, by default both; `--check` writes nothing."""
    folders = [Path(folder) for folder in arguments if folder != "--check"]
    folders = folders or [Path(folder) for folder in FOLDERS]
    checking = "--check" in arguments
    paths = outdated(folders) if checking else write(folders)
    for path in paths:
        sys.stdout.write(f"{path} is not up to date: make generate\n" if checking else f"{path}\n")
    return int(checking and bool(paths))
