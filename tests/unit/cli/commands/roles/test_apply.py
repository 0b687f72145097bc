"""`bernstein roles apply`: a folder of three files becomes an AgentRole."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.resources import ROLES
from tests.unit.cli.conftest import Bernstein
from tests.unit.kube.apiserver import ApiServer

SYSTEM = "You keep services up.\n"
TASK = "# {{TASK_TITLE}}\n\n{{TASK_DESCRIPTION}}\n{{#IF FILES}}Files:\n{{FILES}}{{/IF}}\n"
CONFIG = "default_model: opus\ndefault_effort: medium\nmax_tasks_per_session: 3\n"


def folder(
    tmp_path: Path, system: str = SYSTEM, task: str = TASK, config: str = CONFIG, name: str = "sre"
) -> str:
    path = tmp_path / name
    path.mkdir(exist_ok=True)
    texts = {"system_prompt.md": system, "task_prompt.md": task, "config.yaml": config}
    for file, text in texts.items():
        (path / file).write_text(text)
    return str(path)


async def test_the_three_files_become_an_agent_role_of_the_folders_name(
    bernstein: Bernstein, api: ApiServer, tmp_path: Path
) -> None:
    answer = await bernstein("roles", "apply", folder(tmp_path))

    assert answer.code == 0
    assert "AgentRole 'sre' created in namespace 'team'" in answer.out
    assert api.get(ROLES, "sre", "team")["spec"] == {
        "prompt": SYSTEM.strip(),
        "taskPrompt": TASK.strip(),
        "model": "opus",
        "effort": "normal",
        "maxTasksPerSession": 3,
    }


async def test_more_than_one_task_in_a_session_is_taken_as_one_and_said(
    bernstein: Bernstein, tmp_path: Path
) -> None:
    answer = await bernstein("roles", "apply", folder(tmp_path))

    assert "maxTasksPerSession: 3 is taken as 1: a session is one attempt of one Task" in answer.err


async def test_applied_again_it_changes_what_the_files_say_and_nothing_else(
    bernstein: Bernstein, api: ApiServer, tmp_path: Path
) -> None:
    await bernstein("roles", "apply", folder(tmp_path))

    same = await bernstein("roles", "apply", folder(tmp_path), "--json")
    less = await bernstein("roles", "apply", folder(tmp_path, config="effort: max\n"), "--json")

    assert same.json == {"name": "sre", "result": "unchanged", "overrides": False}
    assert less.json["result"] == "changed"
    spec = api.get(ROLES, "sre", "team")["spec"]
    assert {key: value for key, value in spec.items() if value is not None} == {
        "prompt": SYSTEM.strip(),
        "taskPrompt": TASK.strip(),
        "effort": "max",
    }


async def test_a_name_may_be_given_and_that_of_a_built_in_role_overrides_it(
    bernstein: Bernstein, api: ApiServer, tmp_path: Path
) -> None:
    path = folder(tmp_path, name="Site Reliability")

    refused = await bernstein("roles", "apply", path)
    answer = await bernstein("roles", "apply", path, "--name", "devops")

    assert refused.code == 2
    assert "'Site Reliability' is no name of a role" in refused.err
    assert "it overrides the built-in role of this name" in answer.out
    assert api.get(ROLES, "devops", "team")["spec"]["model"] == "opus"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"system": "a\nb {{X}}"}, "system_prompt.md:2:3: unknown name 'X'"),
        ({"task": "{{TASK_TITLE}}"}, "task_prompt.md:1:1: does not say {{TASK_DESCRIPTION}}"),
        ({"system": " \n"}, "system_prompt.md:1: it is empty"),
        ({"system": "a" * 20_000}, "system_prompt.md:1: it has more than 16,384 characters"),
        ({"config": "model: a\nmodle: b"}, "config.yaml:2: unknown field 'modle', did you mean"),
        ({"config": "\neffort: huge"}, "config.yaml:2: effort: invalid value 'huge'"),
        ({"config": "model: [a]"}, "config.yaml:1: model: expected type string, got array"),
        ({"config": "max_tasks_per_session: 0"}, "config.yaml:1: max_tasks_per_session: must be"),
        ({"config": "model: a\ndefault_model: b"}, "config.yaml:2: default_model: 'model' stands"),
        ({"config": "a: b: c"}, "config.yaml: no YAML: "),
        ({"config": "- a"}, "config.yaml:1: must be a mapping"),
    ],
)
async def test_what_is_wrong_is_told_with_file_and_line_and_nothing_is_made(
    bernstein: Bernstein, api: ApiServer, tmp_path: Path, files: dict[str, str], words: str
) -> None:
    path = folder(tmp_path, **files)

    plain = await bernstein("roles", "apply", path)
    scripted = await bernstein("roles", "apply", path, "--json")

    assert (plain.code, scripted.code) == (2, 2)
    assert words in plain.err
    assert any(error.startswith(words) for error in scripted.json["errors"])
    assert api.names(ROLES) == []


async def test_one_of_the_files_will_do(
    bernstein: Bernstein, api: ApiServer, tmp_path: Path
) -> None:
    path = tmp_path / "qa"
    path.mkdir()
    (path / "config.yaml").write_text("model: haiku\n")

    assert (await bernstein("roles", "apply", str(path))).code == 0

    assert api.get(ROLES, "qa", "team")["spec"] == {"model": "haiku"}


@pytest.mark.parametrize("name", ["qa", "sre"])
async def test_a_folder_without_any_of_them_is_none(
    bernstein: Bernstein, tmp_path: Path, name: str
) -> None:
    (tmp_path / "qa").mkdir()

    answer = await bernstein("roles", "apply", str(tmp_path / name))

    assert answer.code == 2
    assert "folder" in answer.err or "holds none of system_prompt.md" in answer.err


async def test_another_role_than_a_built_in_one_needs_a_system_prompt(
    bernstein: Bernstein, api: ApiServer, tmp_path: Path
) -> None:
    path = tmp_path / "sre"
    path.mkdir()
    (path / "config.yaml").write_text("model: haiku\n")

    answer = await bernstein("roles", "apply", str(path))

    assert answer.code == 2
    assert "only a built-in role has a text of its own" in answer.err
    assert api.names(ROLES) == []
