"""Keys of a Project, as `openssl genpkey` makes them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class KeyPair:
    private: Path
    public: Path


def key_pair(folder: Path, algorithm: str = "ed25519") -> KeyPair:
    """A new pair of keys, as the page on attestations has them made."""
    pair = KeyPair(folder / f"{algorithm}.pem", folder / f"{algorithm}.public.pem")
    folder.mkdir(exist_ok=True)
    _openssl("genpkey", "-algorithm", algorithm, "-out", str(pair.private))
    _openssl("pkey", "-in", str(pair.private), "-pubout", "-out", str(pair.public))
    return pair


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
