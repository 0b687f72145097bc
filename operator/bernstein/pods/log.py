"""Log lines of the programs in pods: one JSON object per line on stderr, no secrets."""

from __future__ import annotations

import json
import sys
import time


def event(name: str, **values: str | float | bool | None) -> None:
    """Write what happened. The caller sanitises values that come from outside."""
    record = {"time": round(time.time(), 3), "event": name, **values}
    print(json.dumps(record, separators=(",", ":")), file=sys.stderr, flush=True)  # noqa: T201
