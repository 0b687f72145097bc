"""Signed copies of commits: the same tree, parents, author, committer and message, and a signature.

Ed25519 gives the same signature for the same commit and key, so whoever makes the copy anew makes
the same one. It is found by all but its signature, so that a key that was changed meanwhile makes
no second one.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bernstein.api.programs.merge import LandConfig, SignConfig
from bernstein.api.reasons import Reason
from bernstein.core.names import attestation_ref
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git.client import Git, GitError, full_ref

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_SEEN = "refs/signed-seen"
_KEPT = re.compile(rb"(tree|parent|author|committer|encoding) ")
_MAGIC = b"SSHSIG"
_NAMESPACE = b"git"
_HASH = b"sha512"
_ARMOUR = 70
"""Characters of a line of a signature."""


def what_lands(repository: Git, config: LandConfig, *, pushes: bool) -> LandConfig:
    """The same about the signed copy of the commit, where one is there or is to be pushed.

    `pushes`: the commit was fetched and verified, and a copy is made where there is none. Raises
    PodError(SigningKeyInvalid).
    """
    if config.sha == config.expect or (config.sign is None and config.expect is not None):
        return config
    if pushes:
        assert config.sign is not None
        key = private_key(config.sign)
        content = _unsigned(repository.run("cat-file", "commit", config.sha))
        copy = _find(repository, config, content) or _sign(repository, content, key)
        return _about(config, copy)
    there = _seen(repository, config)
    return config if there is None else _about(config, there)


def _about(config: LandConfig, sha: str) -> LandConfig:
    attest = config.attest
    if attest is not None:
        attest = replace(attest, ref=attestation_ref(sha))
    return replace(config, sha=sha, attest=attest)


def _seen(repository: Git, config: LandConfig) -> str | None:
    """The copy that has landed; None: there is none, or what it is one of is not there any more."""
    ref = full_ref(config.ref)
    try:
        repository.fetch([f"{ref}:{ref}"])
        repository.expect_at(config.ref, config.sha)
        return _find(
            repository, config, _unsigned(repository.run("cat-file", "commit", config.sha))
        )
    except PodError as error:
        log.event("no-signed-copy", reason=error.reason, message=error.message)
        return None


def _find(repository: Git, config: LandConfig, content: bytes) -> str | None:
    """The commit of this content where it is to land, whoever has signed it."""
    to = config.branch or config.onto
    if repository.read_ref(to) is None:
        return None
    repository.fetch([f"{full_ref(to)}:{_SEEN}"])
    head = content.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
    parents = [line.removeprefix("parent ") for line in head if line.startswith("parent ")]
    try:
        rows = repository.text("rev-list", "--parents", _SEEN, *(f"^{each}" for each in parents))
    except GitError:
        return None
    for row in rows.splitlines():
        sha, *of = row.split()
        raw = repository.run("cat-file", "commit", sha) if of == parents else b""
        if b"\ngpgsig " in raw and _unsigned(raw) == content:
            return sha
    return None


def _unsigned(raw: bytes) -> bytes:
    """The commit with what we vouch for alone: no other header, and no signature."""
    head, _, message = raw.partition(b"\n\n")
    kept = [line for line in head.split(b"\n") if _KEPT.match(line)]
    return b"\n".join(kept) + b"\n\n" + message


def _sign(repository: Git, content: bytes, key: Ed25519PrivateKey) -> str:
    head, _, message = content.partition(b"\n\n")
    signature = armoured(content, key).replace("\n", "\n ").encode("ascii")
    signed = b"".join((head, b"\ngpgsig ", signature, b"\n\n", message))
    made = repository.run("hash-object", "-t", "commit", "-w", "--stdin", input=signed)
    return made.decode("ascii").strip()


def armoured(content: bytes, key: Ed25519PrivateKey) -> str:
    """A signature as `ssh-keygen -Y sign -n git` writes it, without the last line break.

    Its form is that of PROTOCOL.sshsig of OpenSSH.
    """
    public = base64.b64decode(_public_half(key).split()[1])
    digest = hashlib.sha512(content).digest()
    signed = _MAGIC + b"".join(map(_string, (_NAMESPACE, b"", _HASH, digest)))
    signature = _string(b"ssh-ed25519") + _string(key.sign(signed))
    parts = (public, _NAMESPACE, b"", _HASH, signature)
    whole = _MAGIC + (1).to_bytes(4, "big") + b"".join(map(_string, parts))
    text = base64.b64encode(whole).decode("ascii")
    lines = [text[at : at + _ARMOUR] for at in range(0, len(text), _ARMOUR)]
    return "\n".join(("-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----"))


def _string(value: bytes) -> bytes:
    return len(value).to_bytes(4, "big") + value


def private_key(config: SignConfig) -> Ed25519PrivateKey:
    """What signs. Raises PodError(SigningKeyInvalid), which quotes nothing of a key."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    content = _read(config.key)
    try:
        key = serialization.load_ssh_private_key(content, password=None)
    except TypeError:
        raise _invalid("it has a passphrase, and nobody is there to type it") from None
    except (ValueError, UnsupportedAlgorithm):
        what = "a public key" if content.startswith(b"ssh-") else "no private SSH key"
        raise _invalid(f"it holds {what}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _invalid("it holds a private key, but no ed25519 one")
    if config.public is not None and public_key(_read(config.public)) != _public_half(key):
        raise _invalid("the public key beside it is that of another one")
    return key


def public_key(content: bytes) -> bytes:
    """Type and key of a .pub file, without the comment. Raises PodError(SigningKeyInvalid)."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = serialization.load_ssh_public_key(content.strip())
    except (ValueError, UnsupportedAlgorithm):
        what = "a private key" if b"PRIVATE KEY" in content else "no public SSH key"
        raise _invalid(f"what is to be its public half holds {what}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise _invalid("what is to be its public half is a public key, but no ed25519 one")
    return key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)


def _public_half(key: Ed25519PrivateKey) -> bytes:
    from cryptography.hazmat.primitives import serialization

    encoding, form = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    return key.public_key().public_bytes(encoding, form)


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise _invalid(f"it cannot be read: {error.strerror}") from None


def _invalid(why: str) -> PodError:
    text = f"the key that signs commits cannot be used: {why}"
    return PodError(Reason.SIGNING_KEY_INVALID, text)
