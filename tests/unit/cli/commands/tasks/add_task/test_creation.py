"""Tasks that `bernstein add-task` makes in a cluster, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bernstein.resources import PROJECTS, ROLES, TASKS
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import known_as, unknown
from tests.unit.core import objects
from tests.unit.core.tasks.test_declared import SEED
from tests.unit.kube.apiserver import ApiServer

CALL = ("add-task", "Add SBOM endpoint", "--scope", "small")


@pytest.fixture(autouse=True)
def project(api: ApiServer) -> None:
    known_as(api, "ann")
    api.put(PROJECTS, "default", "team", **objects.project().dump())


async def test_a_script_gets_the_id_and_the_status_of_the_task(
    api: ApiServer, bernstein: Bernstein
) -> None:
    answer = await bernstein("--json", *CALL)

    (made,) = api.names(TASKS)
    assert (answer.code, answer.json["id"], answer.json["status"]) == (0, made, "open")
    assert api.get(TASKS, made, "team")["spec"] == {
        "title": "Add SBOM endpoint",
        "scope": "small",
        "author": "ann",
    }


async def test_a_role_is_one_that_the_namespace_has(api: ApiServer, bernstein: Bernstein) -> None:
    unknown_role = await bernstein(*CALL, "--role", "sre")
    api.put(ROLES, "sre", "team", spec={"prompt": "You keep it up."})

    known = await bernstein(*CALL, "--role", "sre")

    assert unknown_role.code == 2
    assert "role: invalid value 'sre', must be one of [analyst, " in unknown_role.err
    assert (known.code, known.err) == (0, "")
    (made,) = api.names(TASKS)
    assert api.get(TASKS, made, "team")["spec"]["role"] == "sre"


async def test_another_user_who_asks_for_the_same_gets_the_task_that_is_there(
    api: ApiServer, bernstein: Bernstein
) -> None:
    await bernstein(*CALL)
    (made,) = api.names(TASKS)
    known_as(api, "bob")

    again = await bernstein(*CALL)

    assert (again.code, again.err) == (0, "")
    assert "unchanged: it asks for the same" in again.out
    assert api.get(TASKS, made, "team")["spec"]["author"] == "ann"


async def test_where_nobody_tells_who_the_user_is_the_task_has_no_author_and_that_is_said_once(
    api: ApiServer, bernstein: Bernstein, tmp_path: Path
) -> None:
    unknown(api)
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(f"id: {name}\ntitle: {name}\n")

    answer = await bernstein("add-task", "-f", str(tmp_path))

    assert answer.code == 0
    assert answer.err.count("the API server does not tell who you are") == 1
    assert "spec.author stays empty, which a policy with approverIsNotAuthor" in answer.err
    assert "allow 'create' on 'selfsubjectreviews'" in answer.err
    assert ["author" in api.get(TASKS, name, "team")["spec"] for name in "ab"] == [False, False]


async def test_the_same_again_adds_none_and_shows_the_one_that_is_there(
    api: ApiServer, bernstein: Bernstein
) -> None:
    first = await bernstein(*CALL)
    (made,) = api.names(TASKS)
    running = await bernstein(*CALL)
    api.put(TASKS, made, "team", status={"state": "Closed"})
    ended = await bernstein(*CALL)
    scripted = await bernstein(*CALL, "--json")

    assert api.names(TASKS) == [made]
    assert first.out.startswith(f"Task '{made}' created in namespace 'team'\n")
    assert running.out == f"Task '{made}' unchanged: it asks for the same and is open\n"
    assert "unchanged: it asks for the same and has ended (closed)" in ended.out
    assert "give another --idempotency-key or --name" in ended.out
    assert (scripted.code, scripted.json["status"]) == (0, "closed")


async def test_two_at_once_make_one(api: ApiServer, bernstein: Bernstein) -> None:
    (name,) = [(await bernstein(*CALL, "--json")).json["id"]]
    made = api.get(TASKS, name, "team")
    api.remove(TASKS, name, "team")
    api.fault = lambda call: _made_by_another(api, call, name, made)

    answer = await bernstein(*CALL)

    assert answer.code == 0
    assert "unchanged" in answer.out


def _made_by_another(api: ApiServer, call: Any, name: str, made: Any) -> None:
    """Right before it is made here."""
    if call.verb == "POST" and name not in api.names(TASKS):
        api.put(TASKS, name, "team", spec=made["spec"])


async def test_under_another_key_the_same_is_done_once_more(
    api: ApiServer, bernstein: Bernstein
) -> None:
    for key in ("monday", "tuesday", "tuesday"):
        assert (await bernstein(*CALL, "--idempotency-key", key)).code == 0

    assert len(api.names(TASKS)) == 2


@pytest.mark.parametrize("by", ["name", "key"])
async def test_other_content_under_the_same_name_or_key_is_refused(
    api: ApiServer, bernstein: Bernstein, by: str
) -> None:
    same = ("--name", "sbom") if by == "name" else ("--idempotency-key", "sbom")
    await bernstein(*CALL, *same)

    answer = await bernstein(*CALL, *same, "--role", "qa", "--json")

    assert (answer.code, answer.json["error"]["reason"]) == (1, "TaskExists")
    assert "with other content (role)" in answer.json["error"]["message"]
    assert len(api.names(TASKS)) == 1


async def test_task_files_are_made_after_those_that_they_depend_on(
    api: ApiServer, bernstein: Bernstein, tmp_path: Path
) -> None:
    (tmp_path / "1.yaml").write_text(SEED)
    (tmp_path / "2.yaml").write_text("id: TSK-040\ntitle: First\n")

    answer = await bernstein("add-task", "-f", str(tmp_path), "--json")
    again = await bernstein("add-task", "-f", str(tmp_path), "--json")

    assert [each["id"] for each in answer.json] == ["tsk-040", "tsk-042"] == api.names(TASKS)
    assert answer.json[1]["depends_on"] == ["tsk-040"]
    made = api.get(TASKS, "tsk-042", "team")
    assert made["metadata"]["labels"] == {"bernstein.dev/seed-id": "TSK-042"}
    assert [each["id"] for each in again.json] == ["tsk-040", "tsk-042"] == api.names(TASKS)


async def test_what_it_depends_on_may_be_there_and_must_be_somewhere(
    api: ApiServer, bernstein: Bernstein
) -> None:
    await bernstein("add-task", "-f", "-", standard_input="id: TSK-040\ntitle: First\n")

    found = await bernstein("add-task", "Second", "--depends-on", "TSK-040", "--json")
    missing = await bernstein("add-task", "Third", "--depends-on", "TSK-041", "--json")

    assert found.json["depends_on"] == ["tsk-040"]
    assert (missing.code, missing.json["error"]["reason"]) == (1, "NotFound")
    assert "there is no Task 'tsk-041' in namespace 'team'" in missing.json["error"]["message"]
    assert missing.json["error"]["remedy"] == "did you mean tsk-040?"


async def test_what_the_project_does_not_offer_is_refused_before_anything_is_made(
    api: ApiServer, bernstein: Bernstein
) -> None:
    tasks = "title: Good\n---\ntitle: Bad\ncli: nobody\n"

    answer = await bernstein("add-task", "-f", "-", "--json", standard_input=tasks)

    assert (answer.code, answer.json["error"]["reason"]) == (2, "InvalidTask")
    assert answer.json["error"]["message"].startswith("'Bad': cli: invalid value 'nobody'")
    assert api.names(TASKS) == []


async def test_without_a_project_nothing_is_made(api: ApiServer, bernstein: Bernstein) -> None:
    api.remove(PROJECTS, "default", "team")

    answer = await bernstein(*CALL, "--json")

    assert (answer.code, answer.json["error"]["reason"]) == (1, "ProjectNotFound")


async def test_one_that_is_being_deleted_is_not_taken_for_the_same(
    api: ApiServer, bernstein: Bernstein
) -> None:
    name = (await bernstein(*CALL, "--json")).json["id"]
    going = {"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["x"]}
    api.put(TASKS, name, "team", metadata=going)

    answer = await bernstein(*CALL, "--json")

    assert (answer.code, answer.json["error"]["reason"]) == (1, "BeingDeleted")


MORE = {"image": "agent:1", "adapter": "demo"}


@pytest.mark.parametrize(
    ("chosen", "agent"),
    [
        ((), "  agent:   demo, model sonnet; another one is chosen with --cli: other"),
        (("--cli", "other"), "  agent:   other, model sonnet-5"),
        (
            ("--cli", "auto"),
            "  agent:   demo, model sonnet; another one is chosen with --cli: other",
        ),
    ],
)
async def test_which_agent_and_model_do_it_is_told_and_can_be_chosen(
    api: ApiServer, bernstein: Bernstein, chosen: tuple[str, ...], agent: str
) -> None:
    agents = [{"name": "demo"} | MORE, {"name": "other", "models": {"sonnet": "sonnet-5"}} | MORE]
    api.put(PROJECTS, "default", "team", **objects.project(agents=agents).dump())

    answer = await bernstein(*CALL, *chosen)

    assert answer.code == 0, answer.err
    assert agent in answer.out.splitlines()
    (made,) = api.names(TASKS)
    assert api.get(TASKS, made, "team")["spec"].get("cli") == (chosen[1] if chosen else None)


async def test_an_agent_that_the_project_lacks_is_refused_before_anything_is_made(
    api: ApiServer, bernstein: Bernstein
) -> None:
    answer = await bernstein("--json", *CALL, "--cli", "demmo")

    assert answer.code == 2
    assert "demo" in answer.json["error"]["message"]
    assert api.names(TASKS) == []


async def test_what_there_is_is_told_where_no_task_has_a_like_name(
    api: ApiServer, bernstein: Bernstein
) -> None:
    await bernstein(*CALL)

    tasks = await bernstein("--json", "add-task", "x", "--depends-on", "nosuch")
    both = await bernstein("--json", "approve", "nosuch")
    logs = await bernstein("--json", "logs", "nosuch")

    remedies = [each.json["error"]["remedy"] for each in (tasks, both, logs)]
    assert remedies[0].startswith("what there is: `bernstein list-tasks")
    for remedy in remedies[1:]:
        assert "`bernstein list-tasks" in remedy
        assert " and `bernstein status" in remedy
