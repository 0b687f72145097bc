"""What the operator's command line says about the pods that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class OperatorSettings:
    """The same for all pods."""

    image: str
    """Image with everything of ours that runs in pods."""
    callback_url: str | None = None
    """Where recorders reach the server; None: they report by termination message alone."""
    callback_ca: Path | None = None
    """PEM file of the authority that signed the server's certificate. It may change at any time and
    is read anew for every session."""
    image_pull_policy: str = "IfNotPresent"
    heartbeat_seconds: int = 15
    checkpoint_seconds: int = 30
