"""What a Project says of its pods is in the pod that it is about: other words, another pod."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import AGENT
from bernstein.api.project import Project
from bernstein.api.projects import workplace
from bernstein.api.projects.workplace import Workplace
from tests.unit.controllers.jobs import built

OTHER: tuple[tuple[str, str, Any], ...] = (
    ("repositories.0.url", AGENT, "https://other.example/app.git"),
    ("repositories.0.branch", "probe", "other-branch"),
    ("repositories.0.credentials.read.secretName", AGENT, "other-read"),
    ("repositories.0.credentials.work.secretName", AGENT, "other-work"),
    ("repositories.0.credentials.deliver.secretName", "land", "other-deliver"),
    ("repositories.0.ca.name", AGENT, "other-ca"),
    ("repositories.0.ca.key", AGENT, "other.pem"),
    ("repositories.0.forge.type", "propose", "gitea"),
    ("repositories.0.forge.api", "propose", "https://other.example/api/v4"),
    ("repositories.0.forge.token.name", "propose", "other-forge"),
    ("repositories.0.forge.token.key", "propose", "other-token"),
    ("agents.0.image", AGENT, "other-agent:2"),
    ("agents.0.baseUrl", AGENT, "http://other.example/v1"),
    ("agents.0.apiKey.name", AGENT, "other-openai"),
    ("agents.0.apiKey.key", AGENT, "other-token"),
    ("agents.0.configMap", AGENT, "other-config"),
    ("agents.0.resources.cpu", AGENT, "7777m"),
    ("agents.0.resources.memory", AGENT, "7777Mi"),
    ("agents.0.resources.ephemeralStorage", AGENT, "7777Mi"),
    ("toolchain.resources.cpu", "check", "7777m"),
    ("toolchain.resources.memory", "check", "7777Mi"),
    ("toolchain.resources.ephemeralStorage", "check", "7777Mi"),
    ("setup.command", AGENT, "make ready"),
    ("setup.timeoutSeconds", AGENT, 777),
    ("models.0.provider", "judge", "openai"),
    ("models.0.baseUrl", "judge", "https://other.example/v1"),
    ("models.0.key.name", "judge", "other-judge"),
    ("models.0.key.key", "judge", "other-key"),
    ("models.0.ca.name", "judge", "other-ca"),
    ("models.0.ca.key", "judge", "other.pem"),
    ("attestation.key.name", "land", "other-signs"),
    ("attestation.key.key", "land", "other.pem"),
    ("attestation.publicKey", "land", "other.public.pem"),
    ("merge.signing.key.name", "land-branch", "other-ssh"),
    ("merge.signing.key.key", "land-branch", "other-id"),
    ("merge.signing.publicKey", "land-branch", "other.pub"),
    ("merge.pullRequest.labels.0", "propose", "other-label"),
    ("merge.pullRequest.lookSeconds", "watch", 777),
    ("limits.stallSeconds", AGENT, 777),
    ("pods.runtimeClassName", AGENT, "other-class"),
    ("pods.imagePullSecrets.0", AGENT, "other-registry"),
)
"""A field, a Job that it is about, and another value, which nothing else of that Job has."""


def with_other(field: str, value: Any) -> Workplace:
    """The Project that uses every field, with this value in one of them."""
    whole = built.FULL.whole.dump()
    place: Any = whole["spec"]
    *above, last = [int(part) if part.isdigit() else part for part in field.split(".")]
    for part in above:
        place = place[part]
    place[last] = value
    return workplace.at(Project.model_validate(whole), "app")


def pod(job: str, project: Workplace) -> str:
    """All of it, as text."""
    if job == AGENT:
        return str(built.agent_job(project, built.FULL_SETTINGS)["spec"])
    wanted, owner = built.WANTED[job]
    return str(built.follow_up(wanted, owner, project, built.FULL_SETTINGS)["spec"])


@pytest.mark.parametrize(("field", "job", "value"), OTHER, ids=[field for field, *_ in OTHER])
def test_another_word_of_the_project_is_in_the_pod_that_it_is_about(
    field: str, job: str, value: Any
) -> None:
    assert str(value) not in pod(job, built.FULL)
    assert str(value) in pod(job, with_other(field, value))


def test_a_pull_request_is_a_draft_where_the_project_wants_that() -> None:
    assert '"draft":true' in pod("propose", built.FULL)
    assert '"draft":true' not in pod("propose", with_other("merge.pullRequest.draft", value=False))
