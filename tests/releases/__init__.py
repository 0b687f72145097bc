"""What upgrades are tried from: a chart and a wheel that were packed at the version that they name.

That of 0.1.0 is of a state of development: nothing was published with that version.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Release:
    """Its chart and its wheel, in a folder that is called like its version."""

    folder: Path

    @property
    def version(self) -> str:
        return self.folder.name

    @property
    def chart(self) -> Path:
        return self.folder / f"bernstein-{self.version}.tgz"

    @property
    def wheel(self) -> Path:
        return self.folder / f"bernstein-{self.version}-py3-none-any.whl"

    def unpack(self, folder: Path) -> Path:
        """A folder for PYTHONPATH, with its modules in place of the checkout's."""
        with zipfile.ZipFile(self.wheel) as wheel:
            wheel.extractall(folder)
        return folder


def last(folder: Path = FOLDER) -> Release:
    """The one that is kept."""
    (found,) = (chart.parent for chart in folder.glob("*/*.tgz"))
    return Release(found)
