"""Records what today's code decides: `python -m tests.unit.upgrade.capture FOLDER`.

To be run before a release whose successor must take over its objects. The recordings in FOLDER,
below `recorded`, are what the successor is held against.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.upgrade import moments, stories_of_delivery, stories_of_people  # noqa: F401 - they tell more
from tests.unit.upgrade.recorder import Recorder
from tests.unit.upgrade.recordings import FOLDER, SUFFIX, write
from tests.unit.upgrade.stories import STORIES

_TESTS = Path(__file__).parents[1] / "core"
"""Their situations are recorded, too: what no story comes to."""


class _Listening:
    """A plugin of pytest: each file of tests is a story."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        name = "_".join(item.path.relative_to(_TESTS).with_suffix("").parts)
        with self._recorder.listening(name, strict=False):
            yield


def main(folder: str) -> int:
    recorder = Recorder()
    for name, tell in STORIES.items():
        with recorder.listening(name):
            tell()
    ended = pytest.main(["-q", "-p", "no:cacheprovider", str(_TESTS)], [_Listening(recorder)])
    for name, recordings in recorder.stories.items():
        write(FOLDER / folder / f"{name}{SUFFIX}", recordings)
    moments.write(FOLDER / folder / moments.NAME, recorder.moments)
    print(f"{len(recorder.moments)} moments")
    count = sum(map(len, recorder.stories.values()))
    print(f"{len(recorder.stories)} stories, {count} decisions of {recorder.heard}")
    return ended


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
