"""What objects must say beside a field of which a limit is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.control_plane.objects import valid

LEAST: Mapping[str, Any] = {
    "completionSignals[]": {"type": "path_exists", "path": "a"},
    "steps[]": {"title": "t"},
    **{field: {"podSelector": {}} for field in ("to[]", "peers[]")},
    "pipeline[]": {"name": "lint"},
    "tolerations[]": {"operator": "Exists"},
    "knowledge[]": {"name": "rules", "path": "a"},
}
"""Smallest items of lists, where the rules want more than the schema does."""

_FILE: Mapping[str, Any] = {"type": "file_contains", "path": "a", "contains": "x"}
_TEST: Mapping[str, Any] = {"type": "test_passes", "command": "true"}
_SERVICE: Mapping[str, Any] = {"type": "api_responds", "url": "/", "command": "serve"}
_UNDECIDED: Mapping[str, Any] = valid("Approval", "")["spec"]
BESIDE: Mapping[str, Mapping[str, Any]] = {
    "approval.aboveUsd": {"plan": "AboveCost"},
    "spec.decision": {**_UNDECIDED, "decidedBy": "me"},
    "spec.decidedBy": {**_UNDECIDED, "decision": "Approve"},
    "spec.reason": {**_UNDECIDED, "decision": "Approve", "decidedBy": "me"},
    "completionSignals[].value": {"type": "glob_exists"},
    "completionSignals[].url": _SERVICE,
    "completionSignals[].status": _SERVICE,
    "completionSignals[].contains": _FILE,
    "completionSignals[].command": _TEST,
    "completionSignals[].criteria": {"type": "llm_review"},
    "completionSignals[].timeoutSeconds": _TEST,
    **{field: {} for field in ("steps[].goal", "to[].ipBlock", "peers[].ipBlock")},
    "ipBlock.except": {"cidr": "::/0"},
    "agents[].command": {"name": "demo", "adapter": "generic", "image": "agent-demo:dev"},
    "agents[].baseUrl": {"name": "demo", "adapter": "codex", "image": "agent-demo:dev"},
    "knowledge[].configMap": {"name": "rules"},
    "pipeline[].name": {"command": "true", "image": "i"},
    "pipeline[].severity": {"name": "security_scan"},
    "pipeline[].database": {"name": "dep_audit"},
    "pipeline[].tolerance": {"name": "complexity_check"},
    "pipeline[].minimumScore": {"name": "review_rubric"},
    "pipeline[].model": {"name": "review_rubric"},
    "pipeline[].plugin": {"name": "my_own"},
    "merge.pullRequest": {"strategy": "pr"},
    "signing.publicKey": {"key": {"name": "signing", "key": "key"}},
    "commit.signOff": {"author": {"name": "Ada", "email": "ada@example.com"}},
    "tolerations[].operator": {"key": "a"},
    "tolerations[].value": {"key": "a"},
    "tolerations[].tolerationSeconds": {"key": "a", "effect": "NoExecute"},
    "crossModel.quorum": {"reviewers": [f"reviewer-{n}" for n in range(8)]},
}
"""What else an object must have, or must not have, with a field in it."""
