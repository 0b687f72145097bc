"""Values made from a CRD's schema."""

from __future__ import annotations

import re
from typing import Any

from tests.patterns import in_python

_TEXTS = (
    "one",
    "One",
    "0.5",
    "1Gi",
    "https://example.com/",
    "http://proxy.example:3128",
    "a@example.com",
    "0" * 40,
    f"sha256:{'0' * 64}",
    "0" * 64,
    f"pack-{'0' * 40}.pack",
)
_GONE = object()
# Where the rules allow less than the schema does.
_CHOSEN: dict[str, Any] = {
    "steps[].goal": _GONE,
    "steps[].changes": _GONE,
    "agents[].adapter": "generic",
    "to[].ipBlock": _GONE,
    "peers[].ipBlock": _GONE,
    "knowledge[].path": _GONE,
    "pipeline[].severity": _GONE,
    "pipeline[].database": _GONE,
    "pipeline[].tolerance": _GONE,
    "pipeline[].minimumScore": _GONE,
    "pipeline[].model": _GONE,
    "pipeline[].plugin": _GONE,
    "pipeline[].blockOnNo": _GONE,
    ".approval.aboveUsd": _GONE,
    ".attestation.publicKey": "other",
    ".signing.publicKey": "other",
    "tolerations[].operator": "Equal",
    "tolerations[].effect": "NoExecute",
    ".merge.strategy": "pr",
    ".taskPrompt": "{{TASK_DESCRIPTION}}",
    ".merge.per": _GONE,
    ".workRepository.url": "https://example.com/work",
    "completionSignals[]": {"type": "file_contains", "path": "a", "contains": "x", "regex": True},
}


def largest(schema: dict[str, Any], path: str = "") -> Any:
    """A value with every field that the schema knows, and with one item in every list."""
    for end, chosen in _CHOSEN.items():
        if path.endswith(end):
            return chosen
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type", "string"):
        case "string":
            return _text(schema)
        case "integer" | "number" as kind:
            return max(schema.get("minimum", 0), 1 if kind == "integer" else 1.5)
        case "boolean":
            return True
        case "array":
            return [largest(schema["items"], f"{path}[]")]
        case "object" if "additionalProperties" in schema:
            return {"one": largest(schema["additionalProperties"], f"{path}{{}}")}
        case "object":
            fields = {n: largest(c, f"{path}.{n}") for n, c in schema["properties"].items()}
            return {name: value for name, value in fields.items() if value is not _GONE}
    raise AssertionError(f"no sample of {schema}")


def _text(schema: dict[str, Any]) -> str:
    if schema.get("format") == "date-time":
        return "2030-01-01T00:00:00Z"
    pattern = in_python(schema.get("pattern", ""))
    return next(text for text in _TEXTS if re.search(pattern, text))
