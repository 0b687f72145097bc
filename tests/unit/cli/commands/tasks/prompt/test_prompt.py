"""`bernstein prompt`: the very prompt of an agent, put together anew, or what can be told of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.api.states import TaskState
from bernstein.core import labels, names
from bernstein.core.owners import owner_reference
from bernstein.core.prompts import knowledge, parts
from bernstein.core.prompts.assembly import ContextFile, Told
from bernstein.core.prompts.complete import complete
from bernstein.kube.resource import CONFIG_MAPS
from bernstein.resources import PLANS, PROJECTS, SESSIONS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.commands.tasks.prompt.scenes import BASE, CONTENT, MARK, PLAIN, SHA, told_of
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.local.repositories import REF, Repository
from tests.unit.core import objects
from tests.unit.core.feedback.test_earlier import played
from tests.unit.kube.apiserver import ApiServer

HARD = b"# Web\n\tafter a tab, blanks at the end  \n\n\nna\xc3\xafve \xf0\x9f\x98\x80\n"
URL = objects.project().spec.repository.url


def put(
    api: ApiServer,
    content: dict[str, str],
    told: dict[str, Any] | None,
    number: int = 1,
    **spec: Any,
) -> None:
    """The Project, its Task, and a session of that, the last one so far."""
    api.put(PROJECTS, "default", "team", **objects.project().dump())
    name = f"work-s{number}"
    task = objects.task(status=objects.status(project="default", session=name))
    api.put(TASKS, "work", "team", **task.dump())
    made = objects.session(number, prompt=told).dump()
    made["metadata"] |= {"labels": {labels.TASK: "work"}}
    made["spec"] |= spec
    api.put(SESSIONS, name, "team", **made)
    owner = owner_reference(SESSIONS.kind, name, made["metadata"]["uid"])
    api.put(
        CONFIG_MAPS, names.prompt(name), "team", data=content, metadata={"ownerReferences": [owner]}
    )


async def test_a_prompt_that_needs_no_commit_is_shown_to_the_byte_without_a_clone(
    api: ApiServer, bernstein: Bernstein, tmp_path: Path
) -> None:
    made = complete(PLAIN, [], "", None, lambda: MARK)
    put(api, PLAIN, told_of(made))

    answer = await bernstein("prompt", "task/work", "--repo", str(tmp_path))
    scripted = await bernstein("prompt", "work-s1", "--json", "--repo", str(tmp_path))

    assert (answer.code, answer.out) == (0, made.text), answer.err
    size = len(made.text.encode())
    digest = hashlib.sha256(answer.out.encode()).hexdigest()
    assert answer.err == (f"The agent's: {size} bytes, SHA-256 {digest}; nothing was left out.\n")
    assert (scripted.code, scripted.json) == (
        0,
        {
            "session": "work-s1",
            "attempt": 1,
            "text": made.text,
            "exact": True,
            "digest": digest,
            "bytes": size,
            "base": BASE,
            "cut": [],
            "resumed": None,
            "parts": {"head": 11, "rules": 10},
            "notes": [],
        },
    )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "clone.git")


async def test_files_come_out_of_the_clone_to_the_byte(
    api: ApiServer, bernstein: Bernstein, repository: Repository
) -> None:
    base = repository.commit("refs/heads/main", {"README.md": HARD})
    content = parts.data({parts.HEAD: "Task: Do it"}, ["README.md"])
    made = complete(content, [ContextFile("README.md", HARD.decode())], "", None, lambda: MARK)
    put(api, content, told_of(made, base=base))

    answer = await bernstein("prompt", "work", "--repo", str(repository.folder))

    assert (answer.code, answer.out) == (0, made.text), answer.err
    assert HARD.decode() in answer.out


async def test_what_the_project_told_is_shown_as_it_was_then(
    api: ApiServer, bernstein: Bernstein, repository: Repository, tmp_path: Path
) -> None:
    base = repository.commit("refs/heads/main", {"layers.md": b"web calls core\n"})
    rules = Told("rules", "Be kind.\n")
    layers = Told("layers", None, path="layers.md")
    content = parts.data({parts.HEAD: "Task: Do it"}, ()) | knowledge.data([rules, layers])
    read = [rules, replace(layers, text="web calls core\n")]
    made = complete(content, [], "", None, lambda: MARK, read)
    put(api, content, told_of(made, base=base))
    api.put(CONFIG_MAPS, "house", "team", data={"rules.md": "Be rude."})

    answer = await bernstein("prompt", "work", "--repo", str(repository.folder))
    lacking = await bernstein("prompt", "work", "--repo", str(tmp_path))

    assert (answer.code, answer.out) == (0, made.text), answer.err
    assert "\nBe kind.\n" in answer.out
    assert "\nweb calls core\n" in answer.out
    assert lacking.code == 1
    assert "\nBe kind.\n" in lacking.out
    assert f"- layers (layers.md): the pod adds it, as it is in commit {base}" in lacking.out


async def test_what_the_clone_lacks_is_named_with_the_commands_that_bring_it(
    api: ApiServer, bernstein: Bernstein, repository: Repository, tmp_path: Path
) -> None:
    content = parts.data({parts.HEAD: "Task: Do it"}, ["README.md"])
    made = complete(content, [], "", None, lambda: MARK)
    rejected = {"ref": REF, "sha": SHA}
    put(api, content, told_of(made), baseRef="refs/heads/main", rejected=rejected)

    lacking = await bernstein("prompt", "work", "--repo", str(repository.folder))
    nowhere = await bernstein("prompt", "work", "--json", "--repo", str(tmp_path))

    assert lacking.code == 1
    assert f"- README.md: the pod adds it, as it is in commit {BASE}\n" in lacking.out
    assert f"The clone at {repository.folder} lacks {BASE}, {SHA}.\n" in lacking.err
    for ref in ("refs/heads/main", REF):
        assert f"`git fetch {URL} {ref}` brings it.\n" in lacking.err
    assert (nowhere.code, nowhere.json["exact"]) == (1, False)
    assert nowhere.json["text"] == lacking.out
    assert f"No clone is at {tmp_path}: not a git repository" in nowhere.json["notes"][1]
    assert nowhere.json["notes"][2] == "Name a clone with --repo."


async def test_what_is_not_the_same_says_so(api: ApiServer, bernstein: Bernstein) -> None:
    made = complete(PLAIN, [], "", None, lambda: MARK)
    put(api, PLAIN, told_of(made, digest="0" * 64))

    answer = await bernstein("prompt", "work")

    assert (answer.code, answer.out) == (1, made.text)
    assert answer.err.startswith("This is not what the agent got: ")


async def test_of_a_pod_that_told_no_mark_it_is_not_claimed_to_be_the_same(
    api: ApiServer, bernstein: Bernstein
) -> None:
    made = complete(PLAIN, [], "", None, lambda: MARK)
    put(api, PLAIN, told_of(made, mark=None))

    answer = await bernstein("prompt", "work")

    assert (answer.code, answer.out) == (1, made.text.replace(MARK, "0" * 24))
    assert "Its pod is of an older release, which told no mark.\n" in answer.err


async def test_before_the_agent_has_its_prompt_nothing_is_wrong(
    api: ApiServer, bernstein: Bernstein
) -> None:
    put(api, CONTENT, None)

    answer = await bernstein("prompt", "work")

    assert answer.code == 0
    assert "- README.md: the pod adds it, as in its first commit\n" in answer.out
    assert answer.err.startswith("Not to the byte what the agent reads; ")


async def test_a_session_is_found_by_its_number(api: ApiServer, bernstein: Bernstein) -> None:
    first = parts.data({parts.HEAD: "Task: First"}, ())
    for number, content in ((1, first), (2, PLAIN)):
        made = complete(content, [], "", None, lambda: MARK)
        put(api, content, told_of(made), number)

    answer = await bernstein("prompt", "work", "--session", "1")
    last = await bernstein("prompt", "work", "--json")
    unknown = await bernstein("prompt", "work", "--session", "3", "--json")

    assert answer.code == 0
    assert "\nTask: First\n" in answer.out
    assert last.json["session"] == "work-s2"
    error = unknown.json["error"]
    assert (unknown.code, error["reason"]) == (1, "NoSession")
    assert error["remedy"] == "there are: 1, 2"


async def test_a_task_without_a_session_shows_what_its_first_one_would_be_told(
    api: ApiServer, bernstein: Bernstein
) -> None:
    project = objects.project(
        repositories=[
            {
                **objects.project().spec.repository.dump(),
                "checkout": {"folders": ["services/billing"]},
            }
        ],
        knowledge=[
            {"name": "rules", "configMap": {"name": "house", "key": "rules.md"}},
            {"name": "layers", "path": "docs/layers.md"},
        ],
    )
    api.put(PROJECTS, "default", "team", **project.whole.dump())
    api.put(PLANS, "web", "team", **objects.plan().dump())
    task = objects.task(contextFiles=["README.md"], constraints=["No new dependency."])
    api.put(TASKS, "work", "team", **task.dump())

    answer = await bernstein("prompt", "work")
    scripted = await bernstein("prompt", "work", "--json")
    unread = await bernstein("prompt", "work", "--session", "1", "--json")

    assert answer.code == 0, answer.err
    assert "Task: Do work\nAttempt: 1\n" in answer.out
    assert "- No new dependency.\n" in answer.out
    assert "`services/billing`" in answer.out
    assert "- README.md: the pod adds it, as in its first commit\n" in answer.out
    taken = "it is 'rules.md' of ConfigMap 'house', as that is when the session begins"
    assert f"- rules: {taken}\n" in answer.out
    assert "- layers (docs/layers.md): the pod adds it, as in its first commit\n" in answer.out
    assert answer.err.startswith("No session has begun: this is what the first one would be told")
    assert scripted.json["text"] == answer.out
    assert (scripted.json["session"], scripted.json["attempt"]) == (None, 1)
    assert (unread.code, unread.json["error"]["reason"]) == (1, "NoSession")


async def test_the_first_one_of_a_run_that_mends_will_be_told_what_was_found(
    api: ApiServer, bernstein: Bernstein
) -> None:
    world = played(("web-build-i1", "done"), ("web-test-i1", "failed"))
    api.put(PROJECTS, "default", "team", **objects.project().dump())
    api.put(PLANS, "web", "team", **world.plan.dump())
    for name, task in world.tasks.items():
        api.put(TASKS, name, "team", **task.dump())

    answer = await bernstein("prompt", "web-fix-i1")

    assert answer.code == 0, answer.err
    whose = "Task 'web-test-i1' (node 'test', run 1; its work has not landed)"
    assert f"{whose}:\nSignalFailed: test_passes: 2" in answer.out


async def test_a_task_that_its_step_splits_has_no_first_one(
    api: ApiServer, bernstein: Bernstein
) -> None:
    api.put(TASKS, "work", "team", **objects.task(subtasks=[{"title": "One"}]).dump())

    answer = await bernstein("prompt", "work", "--json")

    assert (answer.code, answer.json["error"]["reason"]) == (1, "NoSession")
    assert "list-tasks" in answer.json["error"]["remedy"]


async def test_a_task_that_gets_no_session_any_more_says_so(
    api: ApiServer, bernstein: Bernstein
) -> None:
    cancelled = objects.task(status=objects.status(TaskState.CANCELLED))
    api.put(TASKS, "work", "team", **cancelled.dump())

    answer = await bernstein("prompt", "work", "--json")

    assert (answer.code, answer.json["error"]["reason"]) == (1, "NoSession")


async def test_what_the_prompt_was_is_told_with_the_sessions_logs(
    api: ApiServer, bernstein: Bernstein
) -> None:
    made = complete(PLAIN, [], "", None, lambda: MARK)
    told = told_of(made, cut=("file a.py: 99,999 bytes",))
    put(api, PLAIN, told)

    answer = await bernstein("logs", "work-s1")
    scripted = await bernstein("logs", "work-s1", "--json")

    short = f"prompt: {told['bytes']} bytes, SHA-256 {told['digest'][:12]}"
    assert f"{short}; left out: file a.py: 99,999 bytes\n" in answer.out
    assert scripted.json["sessions"][0]["prompt"] == {
        "digest": told["digest"],
        "bytes": told["bytes"],
        "parts": told["parts"],
        "cut": ["file a.py: 99,999 bytes"],
        "knowledge_missing": [],
    }


def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "prompt", "..")


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "prompt", "x")
