"""Output of the scripted agent that succeeds, and that meets a limit."""

from __future__ import annotations

from tests.unit.agents.examples import AdapterExample, Output

EXAMPLE = AdapterExample(
    succeeds=Output(
        b'{"type": "start", "model": "m"}\n'
        b'{"type": "message", "text": "I begin"}\n'
        b'{"type": "usage", "input": 3, "output": 2}\n'
        b'{"type": "result", "text": "done"}\n',
        0,
    ),
    fails=Output(b'{"type": "result", "error": {"kind": "rate_limit", "message": "wait"}}\n', 1),
)
