"""What pods of the Jobs that are made show to others, by which of their containers."""

from __future__ import annotations

import pytest

from bernstein.core import labels
from bernstein.core.verification.crowd import IMAGE, MOVERS, ROOM, START, shows
from tests.unit.controllers.jobs.built import FULL_SETTINGS, JOBS, PLAIN_SETTINGS, containers
from tests.unit.core import objects
from tests.unit.core.objects import running

OURS = (PLAIN_SETTINGS.image, FULL_SETTINGS.image)
LABELS = {name: job["metadata"]["labels"] for name, job in JOBS.items()}
JUDGE_OR_MOVE = [n for n, own in LABELS.items() if labels.CHECK in own or own[labels.JOB] in MOVERS]


@pytest.mark.parametrize("name", JUDGE_OR_MOVE)
def test_the_main_container_shows_all_and_one_with_the_projects_image_that_it_is_there(
    name: str,
) -> None:
    own = LABELS[name]
    assert own[labels.JOB] in {each["name"] for each in containers(name)}
    for container in containers(name):
        pod = {**objects.pod(running(container["name"])), "metadata": {"labels": own}}
        is_main = container["name"] == own[labels.JOB]
        has_theirs = container["image"] not in OURS

        found = shows(pod)

        assert found.keys() >= {ROOM}
        assert (IMAGE in found) == (is_main or has_theirs)
        assert (START in found) == is_main
