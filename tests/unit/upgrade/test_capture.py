"""What is recorded today can be read, and decides alike: the next release depends on it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.upgrade import moments, stories
from tests.unit.upgrade.decisions import decide
from tests.unit.upgrade.recorder import Recorder
from tests.unit.upgrade.recordings import read, write


def test_a_story_is_recorded(tmp_path: Path) -> None:
    recorder = Recorder()
    with recorder.listening("story"):
        stories.a_task_without_a_plan_is_delivered()
    write(tmp_path / "story.jsonl.gz", recorder.stories["story"])
    moments.write(tmp_path / moments.NAME, recorder.moments)

    found = list(read(tmp_path / "story.jsonl.gz"))
    assert found == recorder.stories["story"]
    assert len(found) > 20
    for each in found:
        if each.decided:
            assert decide(each.given, each.now).as_json() == each.decided
    for moment in moments.read(tmp_path / moments.NAME):
        end = moments.end(moments.world_of(moment))
        assert json.loads(json.dumps(end)) == moment["end"]
