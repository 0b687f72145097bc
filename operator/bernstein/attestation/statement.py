"""What is said of a commit that lands: an in-toto Statement with a SLSA Verification Summary.

in-toto Attestation Framework v1 (Statement, DigestSet), SLSA v1.1 (`verification_summary/v1`). The
subject is a commit of git and its tree. What the format has no field for stands in our extension.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/verification_summary/v1"
PAYLOAD = "application/vnd.in-toto+json"
"""Type of what an envelope with a Statement holds."""
VERIFIER = "https://bernstein.dev/verifier/v1"
EXTENSION = "https://bernstein.dev/verification/v1"
"""Field of the predicate that is ours: whose work it was, and every check."""
POLICY_URI = "https://bernstein.dev/policy/v1"
"""The policy: every check of the Project and the Task has passed, or is excused by name."""
POLICY = "bernsteinChecks"
"""Name of the digest of a policy: the first 128 bits of a SHA-256 over all checks as asked."""
FILE = "attestation.intoto.jsonl"
"""The file in the commit at the ref of an attestation: one envelope, on one line."""

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Statement:
    """A Statement of ours, as it was read."""

    commits: frozenset[str]
    """Of its subjects."""
    trees: frozenset[str]
    predicate: Object

    @property
    def ours(self) -> Object:
        """Our extension; empty where there is none."""
        extension = self.predicate.get(EXTENSION)
        return extension if isinstance(extension, Mapping) else {}


def dump(value: Object) -> str:
    """JSON that is the same for the same value, in ASCII and on one line."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def made(predicate: Object, *, commit: str, tree: str) -> bytes:
    """The Statement that says so of this commit and tree; the same arguments, the same bytes."""
    subject = [{"digest": {"gitCommit": commit}}, {"digest": {"gitTree": tree}}]
    whole = {"_type": STATEMENT, "predicateType": PREDICATE, "subject": subject}
    return dump(whole | {"predicate": dict(predicate)}).encode("ascii")


def read(payload: bytes) -> Statement:
    """The Statement in it. Raises ValueError for anything else, in words that name the field."""
    try:
        parsed = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ValueError("it holds no JSON") from error
    if not isinstance(parsed, dict) or parsed.get("_type") != STATEMENT:
        raise ValueError(f"its _type is not {STATEMENT}")
    if parsed.get("predicateType") != PREDICATE:
        raise ValueError(f"its predicateType is not {PREDICATE}")
    predicate = parsed.get("predicate")
    if not (isinstance(predicate, dict) and predicate.get("verificationResult") == "PASSED"):
        raise ValueError("its verificationResult is not PASSED")
    verifier = predicate.get("verifier")
    if not (isinstance(verifier, dict) and verifier.get("id") == VERIFIER):
        raise ValueError(f"its verifier is not {VERIFIER}")
    subjects = parsed.get("subject")
    digests = [_digest(each) for each in subjects] if isinstance(subjects, list) else []
    return Statement(_named(digests, "gitCommit"), _named(digests, "gitTree"), predicate)


def _digest(subject: Any) -> Object:
    digest = subject.get("digest") if isinstance(subject, dict) else None
    return digest if isinstance(digest, dict) else {}


def _named(digests: list[Object], algorithm: str) -> frozenset[str]:
    values = (digest.get(algorithm) for digest in digests)
    return frozenset(sha for sha in values if isinstance(sha, str) and _SHA.fullmatch(sha))
