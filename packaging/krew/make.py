"""Makes the archive of the plugin and its manifest for krew, from a wheel of the program.

`python3 packaging/krew/make.py WHEEL ADDRESS FOLDER`: ADDRESS is where both will be published. The
same wheel gives the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ARCHIVE, MANIFEST = "kubectl-bernstein.tar.gz", "bernstein.yaml"


def archive(wheel: Path) -> bytes:
    """The launcher, the wheel and the licence; of nobody, and of no time."""
    files = {
        "LICENSE": (ROOT / "LICENSE", 0o644),
        wheel.name: (wheel, 0o644),
        "kubectl-bernstein": (HERE / "kubectl-bernstein", 0o755),
    }
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (path, mode) in sorted(files.items()):
            content = path.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    packed = io.BytesIO()
    # `gzip.compress` would name the system.
    with gzip.GzipFile("", "wb", fileobj=packed, mtime=0) as file:
        file.write(plain.getvalue())
    return packed.getvalue()


def manifest(address: str, packed: bytes) -> str:
    text = (HERE / MANIFEST).read_text()
    digest = hashlib.sha256(packed).hexdigest()
    kept = [row for row in text.splitlines(keepends=True) if not row.startswith("#")]
    return "".join(kept).replace("ADDRESS", address.rstrip("/")).replace("SHA256", digest)


def main(wheel: str, address: str, folder: str) -> None:
    packed, to = archive(Path(wheel)), Path(folder)
    to.mkdir(parents=True, exist_ok=True)
    (to / ARCHIVE).write_bytes(packed)
    (to / MANIFEST).write_text(manifest(address, packed))


if __name__ == "__main__":
    main(*sys.argv[1:])
