"""What the largest Task that waits takes in the operator's memory, as dicts and as model.

The ratio to its JSON holds on any machine; the figures are printed (``pytest -s``) for the
reference, and for the page on setting up a team, which says how many fit.
"""

from __future__ import annotations

import gc
import tracemalloc

import orjson

from bernstein.api import task
from bernstein.kube.resource import Object
from tests.control_plane.objects import valid

SOME = 20
MOST_BYTES = 1_000_000
MOST_TIMES = 7
"""Four bytes a character instead of one, and the same as UTF-8 for the parser."""


def text(number: int, characters: int) -> str:
    """One character of four bytes, and all others are kept in four."""
    return f"\U0001f600{number} ".ljust(characters, "a")


def largest(number: int) -> bytes:
    signal = {"type": "test_passes"}
    spec: Object = {
        "title": "t",
        "description": text(number, 8192),
        "stageDescription": text(number, 8192),
        "constraints": [text(k, 1024) for k in range(50)],
        "completionSignals": [signal | {"command": text(k, 4096)} for k in range(20)],
    }
    made = valid("Task", "a", f"task-{number}", **spec)
    made["metadata"] |= {"uid": f"uid-{number}", "resourceVersion": str(number + 1)}
    return orjson.dumps(made | {"status": {"state": "Open"}})


def test_the_largest_task_takes_a_few_times_its_json() -> None:
    texts = [largest(number) for number in range(SOME)]
    task.parse(orjson.loads(texts[0]))
    gc.collect()
    tracemalloc.start()
    objects = [orjson.loads(each) for each in texts]
    models = [task.parse(obj) for obj in objects]
    gc.collect()
    each = tracemalloc.get_traced_memory()[0] / SOME
    tracemalloc.stop()
    print(f"\n{len(texts[0]):,} bytes of JSON, {each:,.0f} as dicts and model")
    assert len(models) == SOME
    assert each < MOST_BYTES
    assert each < MOST_TIMES * len(texts[0])
