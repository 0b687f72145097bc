"""The object that says what was verified of a commit: a commit without parents, of one file.

The same Statement and key always make the same object. So whoever makes it anew knows whether the
remote has exactly that, whoever pushes there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bernstein.api.programs.commit import CommitText
from bernstein.api.programs.merge import LandConfig
from bernstein.api.reasons import Reason
from bernstein.attestation import envelope, statement
from bernstein.pods.errors import PodError
from bernstein.pods.git.client import Git

if TYPE_CHECKING:
    from securesystemslib.signer import Key

_SEEN = "refs/attestation-seen"
_LONG_AGO = 0
"""Stands for a time that nobody has noted."""


@dataclass(frozen=True, slots=True)
class Attestation:
    """What is pushed beside a landing."""

    ref: str
    object_id: str
    state: str
    """Signed or Unsigned."""
    content: bytes
    """The envelope."""

    @property
    def is_signed(self) -> bool:
        return self.state == "Signed"


def attestation_of(repository: Git, config: LandConfig) -> Attestation | None:
    """Make the object in the repository; None: nothing is to be said.

    Raises PodError(AttestationKeyInvalid). Who only looks, without a key, gets an unsigned one.
    """
    asked = config.attest
    if asked is None:
        return None
    predicate = json.loads(asked.predicate)
    payload = statement.made(predicate, commit=config.sha, tree=config.tree)
    state, content = "Unsigned", envelope.unsigned(payload)
    if asked.key is not None:
        try:
            content = _signed(payload, asked.key, asked.public)
            state = "Signed"
        except PodError:
            if config.expect is not None:
                raise
    text = f"Attestation of {config.sha}\n"
    object_id = _stored(repository, content, text, _seconds(predicate))
    return Attestation(asked.ref, object_id, state, content)


def state_of(repository: Git, attestation: Attestation) -> str:
    """What the remote's ref has, where that is not our object: Unsigned or OtherKey, where it says
    the same; else Missing. Nobody has compared its signature."""
    repository.fetch([f"{attestation.ref}:{_SEEN}"])
    at = f"{_SEEN}:{statement.FILE}"
    size = repository.complete("cat-file", "-s", at)
    if size.code != 0 or int(size.stdout) > envelope.LARGEST:
        return "Missing"
    there = envelope.parts(repository.run("cat-file", "blob", at))
    ours = envelope.parts(attestation.content)
    if there is None or ours is None or there.payload != ours.payload:
        return "Missing"
    if not there.signers:
        return "Unsigned"
    return "Missing" if there.signers == ours.signers else "OtherKey"


def _read(key: Path) -> bytes:
    try:
        return key.read_bytes()
    except OSError as error:
        text = f"the key of attestations cannot be read: {error.strerror}"
        raise PodError(Reason.ATTESTATION_KEY_INVALID, text) from None


def _signed(payload: bytes, key: str, proved_by: str | None) -> bytes:
    """An envelope, which the key in the file `proved_by` proves. Raises
    PodError(AttestationKeyInvalid), which quotes nothing of a key."""
    try:
        content = envelope.signed(payload, envelope.private_key(_read(Path(key))))
    except envelope.KeyInvalid as error:
        raise _invalid("of attestations", str(error)) from None
    if proved_by is not None:
        try:
            envelope.opened(content, public(_read(Path(proved_by)), "that proves attestations"))
        except envelope.Refused:
            why = "the public key beside it is that of another one"
            raise _invalid("of attestations", why) from None
    return content


def public(key: bytes, called: str) -> Key:
    """What proves signatures. Raises PodError(AttestationKeyInvalid), which quotes nothing of
    it."""
    try:
        return envelope.public_key(key)
    except envelope.KeyInvalid as error:
        raise _invalid(called, str(error)) from None


def _invalid(called: str, why: str) -> PodError:
    return PodError(Reason.ATTESTATION_KEY_INVALID, f"the key {called} cannot be used: {why}")


def _seconds(predicate: statement.Object) -> int:
    """When it was verified, since 1970: no clock is read."""
    noted = predicate.get("timeVerified")
    return _LONG_AGO if noted is None else int(datetime.fromisoformat(noted).timestamp())


def _stored(repository: Git, content: bytes, message: str, seconds: int) -> str:
    blob = repository.run("hash-object", "-w", "--stdin", input=content).decode("ascii").strip()
    entry = f"100644 blob {blob}\t{statement.FILE}\n".encode("ascii")
    tree = repository.run("mktree", input=entry).decode("ascii").strip()
    text = CommitText(message)
    who = {"NAME": text.author, "EMAIL": text.email, "DATE": f"@{seconds} +0000"}
    environment = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in who.items()
    }
    made = repository.run(
        "commit-tree", tree, "-F", "-", input=message.encode("ascii"), env=environment
    )
    return made.decode("ascii").strip()
