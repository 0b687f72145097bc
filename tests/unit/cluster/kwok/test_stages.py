"""What played pods say is what our programs would say."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from bernstein.api import pod
from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.api.encoding import load
from bernstein.api.programs.cache import CacheResult
from bernstein.api.programs.cached import CACHE
from bernstein.api.programs.judge import JudgeResult
from bernstein.api.programs.merge import LandResult
from bernstein.api.programs.probe import ProbeResult
from bernstein.api.projects.cache import CachedContent
from bernstein.checks.changes import digest_of
from bernstein.core import labels
from bernstein.core.projects.probing import tries
from tests.cluster.kwok import stages
from tests.cluster.kwok.stages import LAST_WORDS, all_stages, as_yaml
from tests.unit.core import objects

FACTS: dict[str, object] = {
    "$base": "a" * 40,
    "$sha": "b" * 40,
    "$tree": "c" * 40,
    "$pack": f"pack-{'a' * 40}.pack",
    "$index": f"pack-{'a' * 40}.idx",
    "$file": "d" * 64,
    "$files": 1,
    "$outcome": "Succeeded",
    "$verdicts": [{"name": "lint", "verdict": "Passed"}],
    "$config.sha": "b" * 40,
    "true": True,
    "false": False,
}


def said(words: str) -> Any:
    """What an expression of nested `dict` calls makes of the facts, as sprig does."""
    tokens = iter(re.findall(r'\(|\)|"[^"]*"|[^\s()]+', words))

    def value(token: str) -> object:
        if token == "(":
            assert next(tokens) == "dict"
            return entries()
        return json.loads(token) if token[0] in '"0123456789' else FACTS[token]

    def entries() -> dict[str, object]:
        found = {}
        for token in tokens:
            if token == ")":
                break
            found[json.loads(token)] = value(next(tokens))
        return found

    assert next(tokens) == "dict"
    return entries()


@pytest.mark.parametrize(
    ("container", "kind"),
    [
        (pod.RECORDER, pod.RecorderResult),
        (pod.PUSHER, pod.PusherResult),
        (pod.INSPECT, pod.InspectResult),
        (pod.JUDGE, JudgeResult),
        (pod.LAND, LandResult),
        (CACHE, CacheResult),
        *((container, ProbeResult) for container in tries(objects.project().spec)),
    ],
)
def test_last_words_can_be_read_as_the_programs_result(container: str, kind: type) -> None:
    assert load(kind, json.dumps(said(LAST_WORDS[container]))) is not None


def test_a_cache_has_what_a_project_may_tell_checkouts() -> None:
    told = said(LAST_WORDS[CACHE])["content"]

    assert CachedContent.model_validate(told).commit == "a" * 40


def test_agents_change_no_protected_path() -> None:
    assert digest_of(PROTECTED_PATHS) == stages.COMPARED_WITH


def test_every_container_with_last_words_is_one_of_ours() -> None:
    assert set(LAST_WORDS) <= {*pod.PROGRAMS, *tries(objects.project().spec)}


def test_pods_are_known_by_our_labels() -> None:
    assert stages.ROLE_LABELS[0] == labels.JOB
    assert stages.TASK_LABELS[0] == labels.TASK
    text = as_yaml(all_stages())
    for label in (*stages.ROLE_LABELS, *stages.TASK_LABELS):
        assert json.dumps(label)[1:-1] in text
    called = (*pod.PROGRAM, pod.LAND, "configuration")
    assert f"eq (len $words) {len(called)}" in text
    assert f'eq (index $words {called.index("bernstein.pods")}) \\"bernstein.pods\\"' in text
    assert f"fromJson (index $words {called.index('configuration')})" in text
    assert f'hasPrefix \\"{stages.UNCHANGED}\\"' in text


def test_the_file_holds_one_stage_after_the_other() -> None:
    read = list(yaml.safe_load_all(as_yaml(all_stages())))

    assert read == all_stages()
    assert len({stage["metadata"]["name"] for stage in read}) == len(read)


def test_finalizers_are_nobodys_but_theirs_who_put_them_there() -> None:
    assert "finalizers" not in as_yaml(all_stages())
