"""Prompts whose parts stand in a ConfigMap."""

from __future__ import annotations

import hashlib
from typing import Any

from bernstein.core.prompts import parts
from bernstein.core.prompts.assembly import Assembled

SHA, BASE, MARK = "a" * 40, "b" * 40, "c" * 24
CONTENT = parts.data(
    {parts.HEAD: "Task: Do it\nAttempt: 2", parts.FINDINGS: "F401", parts.RULES: "Work here."},
    ["README.md", "a\x1b[2J.py"],
)
PLAIN = parts.data({parts.HEAD: "Task: Do it", parts.RULES: "Work here."}, ())


def told_of(made: Assembled, **more: Any) -> dict[str, Any]:
    """What a pod tells of the prompt."""
    data = made.text.encode()
    return {
        "digest": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "base": BASE,
        "mark": made.word,
        "parts": made.sizes,
        "cut": made.cut,
    } | more
