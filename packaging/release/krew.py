"""The archive of kubectl's plugin and its manifest for krew, from a wheel of the program.

`python -m release.krew WHEEL ADDRESS FOLDER`, in the folder above: ADDRESS is where both will be
published. The same wheel gives the same bytes.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from release import packed

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE, MANIFEST = "kubectl-bernstein.tar.gz", "krew-bernstein.yaml"
_LAUNCHER = "kubectl-bernstein"
_FOLDER = Path("packaging/krew")


def archive(root: Path, wheel: Path) -> bytes:
    """The launcher and the licence of this checkout, and the wheel; of no time."""
    paths = [root / "LICENSE", wheel, root / _FOLDER / _LAUNCHER]
    return packed.tar({path.name: path.read_bytes() for path in paths}, 0, [_LAUNCHER])


def manifest(root: Path, address: str, archived: bytes) -> str:
    """`address`: where the archive will be found."""
    rows = (root / _FOLDER / "bernstein.yaml").read_text().splitlines(keepends=True)
    text = "".join(row for row in rows if not row.startswith("#"))
    digest = hashlib.sha256(archived).hexdigest()
    return text.replace("ADDRESS", address.rstrip("/")).replace("SHA256", digest)


def write(root: Path, wheel: Path, address: str, to: Path) -> None:
    """Without an address there is no manifest."""
    to.mkdir(parents=True, exist_ok=True)
    archived = archive(root, wheel)
    (to / ARCHIVE).write_bytes(archived)
    if address:
        (to / MANIFEST).write_text(manifest(root, address, archived))


if __name__ == "__main__":
    _, own_wheel, own_address, own_folder = sys.argv
    write(ROOT, Path(own_wheel), own_address, Path(own_folder))
