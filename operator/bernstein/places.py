"""Where things are in our pods. What a program of ours finds at its usual place, it is not told."""

from __future__ import annotations

TMP = "/tmp"  # noqa: S108 - a scratch volume in every container
OWN_GIT = f"{TMP}/repo.git"
"""The repository of a program of ours, in its scratch volume."""
BASE_GIT = "/base/repo.git"
"""Where the recorder finds the repository that `checkout` made."""
WORKSPACE = "/workspace"
SESSION = "/session"
"""What `checkout` and the recorder leave for the agent, which may only read there."""
PROMPT = f"{SESSION}/prompt.md"
LAUNCHER = f"{SESSION}/launcher"
PARTS = "/parts"
"""The parts of a prompt, and the authority that signed the server's certificate."""
STREAM = "/stream"
"""What the agent and its launcher write, and the recorder only reads."""
ATTESTATION_KEY = "/secrets/attestation/key.pem"
"""The Project's key, by which it answers for what has landed."""
ATTESTATION_PUBLIC = "/secrets/attestation/public.pem"
"""Its public half, where the Project names one."""
PACKS = "packs"
"""Folder in the recorder's scratch volume that the pusher reads."""
