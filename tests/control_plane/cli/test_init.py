"""What `init` writes is what a real API server takes, once the values are in place."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.cli.commands.init.files import TO_DO
from bernstein.kube.client import Client
from bernstein.kube.resource import SECRETS
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.conftest import Tools
from tests.control_plane.objects import PLANS, PROJECTS

GATES = """\
quality_gates:
  tests: true
  test_command: make test
  intent_verification: {enabled: true, model: google/gemini-flash-1.5}
  cross_model: {enabled: true}
  pipeline:
    - {name: lint, required: true, condition: always}
    - {name: tests, required: true, condition: "changed_files.any('.py')"}
    - {name: intent_verification}
    - {name: no_foo, required: true, condition: any_changed}
"""


@pytest.mark.parametrize(
    "options",
    [
        ("--repository", "https://git.example.com/team-a/app.git"),
        ("--repository", "git@github.com:team-a/app.git", "--model", "gpt-5.5"),
        (
            *("--repository", "ssh://git@git.example.com/a/b.git", "--merge", "direct"),
            *("--agent", "generic", "--agent-command", "sh run-agent"),
            *("--model", "claude-sonnet-4-5"),
        ),
    ],
    ids=["https", "pull request", "ssh"],
)
async def test_what_it_writes_can_be_applied_once_it_is_filled_in(
    bernstein: Bernstein,
    tools: Tools,
    admin: Client,
    namespace: str,
    tmp_path: Path,
    options: tuple[str, ...],
) -> None:
    (tmp_path / "bernstein.yaml").write_text(GATES)

    done = await bernstein("init", str(tmp_path), *options)
    assert done.code == 0, done.err
    secrets = (tmp_path / "secrets.yaml").read_text()
    refused = tools.run("kubectl", "apply", "-f-", stdin=secrets)
    rows = [row for row in secrets.splitlines(keepends=True) if TO_DO not in row]
    tools.kubectl("apply", "-f-", stdin="".join(rows).replace('""', '"x"'))
    tools.kubectl("apply", "-f", str(tmp_path / "project.yaml"))
    run = await bernstein("run", str(tmp_path / "plan.yaml"), "--no-wait")

    assert refused.returncode != 0
    assert TO_DO in refused.stderr
    made = {each["metadata"]["name"] for each in (await admin.list(SECRETS, namespace)).items}
    assert {"git-read", "git-work", "git-deliver", "judge-key"} <= made
    project = await admin.get(PROJECTS, "default", namespace)
    assert [gate["name"] for gate in project["spec"]["gates"]["pipeline"]] == [
        *("lint", "tests", "intent_verification", "no_foo"),
    ]
    assert run.code == 0, run.err
    assert (await admin.get(PLANS, "first-steps", namespace))["spec"]["maxAgents"] == 1
