"""The product on a real node, installed by its chart: one cluster for the whole run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import live
from tests import stack as stacks
from tests.answer import Answer
from tests.background import wait_for
from tests.cluster import select
from tests.cluster.control_plane import audit
from tests.cluster.control_plane.audit import Write
from tests.demo import manifests
from tests.demo.manifests import Agents, GitServer
from tests.stack import Clock, Stack

Object = dict[str, Any]

PROGRAM = str(Path(sys.executable).with_name("bernstein"))
OPERATOR = f"system:serviceaccount:{stacks.SYSTEM}:bernstein-operator"


LONGEST = (
    "test_pull_requests.py",
    "test_every_pod.py",
    "test_errors.py",
    "test_gates.py",
    "test_every_gate.py",
    "test_refusals.py",
    "test_network.py",
    "test_cli.py",
    "test_judge.py",
    "test_demo.py",
    "test_payloads_that_landed.py",
    "test_greedy_checks.py",
    "test_endings.py",
    "test_feedback.py",
    "test_parallel_steps.py",
    "test_attest.py",
    "test_task_lifecycle_script.py",
    "test_merge.py",
)
"""Files whose tests take minutes together. A file is one worker's, and in order of their numbers
of tests one with a single long test would be begun last, with nothing beside it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Longest files first: with --no-loadscope-reorder they are begun in this order."""
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """Stays up if it was up before, for quick repeats; BERNSTEIN_E2E_CLUSTER names another one.

    BERNSTEIN_E2E_READY: `tests.stack up` has been run, as it must when several processes test.
    """
    name = os.environ.get("BERNSTEIN_E2E_CLUSTER")
    if os.environ.get("BERNSTEIN_E2E_READY"):
        yield stacks.running(name)
        return
    clock = Clock()
    found = select("auto", name).status().ready
    stack = stacks.bring_up(clock, name=name)
    stacks.install(stack, clock)
    print({what: round(seconds, 1) for what, seconds in clock.spent.items()})
    yield stack
    if not found:
        stack.cluster.down()


@pytest.fixture(scope="session")
def git(stack: Stack) -> Iterator[GitServer]:
    """One git server for all worlds; each has a repository of its own on it."""
    with git_server(stack) as server:
        yield server


@contextlib.contextmanager
def git_server(stack: Stack) -> Iterator[GitServer]:
    """A git server with its repositories, gone at the end."""
    namespace = f"git-{uuid.uuid4().hex[:6]}"
    server = GitServer.new(namespace)
    seeds = {f"r{number}": SEED for number in range(REPOSITORIES)}
    objects = [manifests.namespace(namespace), *manifests.git_server(server, seeds)]
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
    ready = ("rollout", "status", f"deployment/{server.name}", "--timeout=120s")
    stack.kubectl("-n", namespace, *ready)
    yield server
    stack.kubectl("delete", "namespace", namespace, "--wait=false")


REPOSITORIES = 64
SEED = {
    "README.md": "# app\n",
    "app.py": "def answer() -> int:\n    return 42\n",
    "test_app.py": (
        "from app import answer\n\n\ndef test_answer() -> None:\n    assert answer() == 42\n"
    ),
    ".gitignore": "*.log\n",
}


SLOWNESS = 2.0
"""So many times as long as on a usual machine a busy or slow one may take."""


@dataclass
class World:
    """A namespace with a Project, on a repository of its own."""

    stack: Stack
    server: GitServer
    namespace: str
    repository: str
    started: int = 0
    """Where the audit log stood when the world was made."""
    project: Object = field(default_factory=dict)

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        return self.stack.kubectl("-n", self.namespace, *arguments, stdin=stdin, check=check)

    def bernstein(self, *arguments: str) -> Answer:
        """What the command line says in this namespace."""
        done = subprocess.run(
            [PROGRAM, "--namespace", self.namespace, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=self.stack.environment,
            timeout=300,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def wait(self, what: str, condition: str) -> None:
        """As `kubectl wait` does; fails when it does not come."""
        seconds = int(120 * SLOWNESS)
        told = self.kubectl("wait", what, f"--for={condition}", f"--timeout={seconds}s")
        assert "condition met" in told

    def apply(self, *objects: Object) -> None:
        for obj in objects:
            obj.setdefault("metadata", {})["namespace"] = self.namespace
        self.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))

    def task(self, name: str, **spec: Any) -> str:
        """Apply a Task; its title is `name` unless `spec` says another."""
        self.apply(
            {
                "apiVersion": "bernstein.dev/v1alpha1",
                "kind": "Task",
                "metadata": {"name": name},
                "spec": {"title": name, "scope": "small", **spec},
            }
        )
        return name

    def plan(self, name: str, stages: list[Object], **spec: Any) -> str:
        self.apply(
            {
                "apiVersion": "bernstein.dev/v1alpha1",
                "kind": "Plan",
                "metadata": {"name": name},
                "spec": {"name": name, "stages": stages, **spec},
            }
        )
        return name

    def get(self, kind: str, name: str) -> Object:
        if resource := live.KINDS.get(kind):
            return live.of(self.stack.cluster.kubeconfig).get(resource, self.namespace, name)
        text = self.kubectl("get", kind, name, "-o", "json", "--ignore-not-found")
        found: Object = json.loads(text) if text else {}
        return found

    def all(self, kind: str) -> list[Object]:
        if resource := live.KINDS.get(kind):
            return live.of(self.stack.cluster.kubeconfig).all(resource, self.namespace)
        items: list[Object] = json.loads(self.kubectl("get", kind, "-o", "json"))["items"]
        return items

    def await_(
        self, kind: str, name: str, holds: Callable[[Object], bool], seconds: float = 120
    ) -> Object:
        """The object, once the condition holds on it; fails with its status when it never does.

        A condition about a field that nobody has written yet does not hold yet.
        """
        seconds *= SLOWNESS
        deadline = time.monotonic() + seconds
        while True:
            obj = self.get(kind, name)
            with contextlib.suppress(KeyError):
                if obj and holds(obj):
                    return obj
            if time.monotonic() > deadline:
                status = yaml.safe_dump(obj.get("status"))
                pods = self.kubectl("get", "pods", "-o", "wide")
                pytest.fail(f"{kind} {name}: not within {seconds} s:\n{status}\n{pods}")
            time.sleep(0.5)

    def closed(self, name: str, seconds: float = 120) -> Object:
        return self.await_("task", name, lambda t: state(t) == "Closed", seconds)

    def stalled(self, kind: str, name: str, reason: str, seconds: float = 120) -> Object:
        def holds(obj: Object) -> bool:
            found = condition(obj, "Stalled")
            return found.get("status") == "True" and found.get("reason") == reason

        return self.await_(kind, name, holds, seconds)

    def on_server(self, *git: str) -> str:
        """Output of a git command in the repository, on the git server itself."""
        folder = f"/srv/git/{self.repository}.git"
        command = ("git", "-c", "safe.directory=*", "--git-dir", folder, *git)
        return self.stack.kubectl(
            "-n", self.server.namespace, "exec", f"deploy/{self.server.name}", "--", *command
        )

    def tip(self, ref: str = "refs/heads/main") -> str:
        return self.on_server("rev-parse", ref).strip()

    def files(self, ref: str = "main") -> list[str]:
        return self.on_server("ls-tree", "-r", "--name-only", ref).splitlines()

    def writes(self, since: int | None = None) -> list[Write]:
        """Writes of the operator in this namespace, from the audit log.

        Every one whose effect can be seen is among them.
        """
        log = Path(self.stack.cluster.status().audit_log)
        after = self.started if since is None else since

        def under_way() -> set[str]:
            return {write.id for write in self._operators(audit.under_way(log, after))}

        begun = under_way()
        wait_for(lambda: not begun & under_way())
        return self._operators(audit.writes(log, after))

    def _operators(self, writes: Iterable[Write]) -> list[Write]:
        return [w for w in writes if w.user == OPERATOR and w.namespace == self.namespace]


def state(task: Object) -> str:
    return str(task.get("status", {}).get("state", ""))


def condition(obj: Object, kind: str) -> Object:
    conditions = obj.get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == kind), {})


def refused(here: World, name: str, reason: str, check: str, before: str) -> Object:
    """The Task, which failed for good: it says which check and what helps, and nothing landed."""
    task = here.stalled("task", name, reason)
    assert state(task) == "Failed"
    message = condition(task, "Stalled")["message"]
    assert check in message
    assert "Remedy:" in message
    assert here.tip() == before
    return task


def with_default_gates(spec: Object) -> None:
    """Those of a Project that says nothing of gates."""
    spec.pop("gates")


MakeWorld = Callable[..., World]

_taken = iter(range(REPOSITORIES))


@pytest.fixture
def world(stack: Stack, git: GitServer, request: pytest.FixtureRequest) -> Iterator[MakeWorld]:
    """Call it with the demo agent's tasks (see images/agent-demo) and changes to the Project, which
    has no gates of its own accord: each costs every Task a pod."""
    yield from worlds(stack, git, request.node.name)


@pytest.fixture(scope="module")
def shared_world(
    stack: Stack, git: GitServer, request: pytest.FixtureRequest
) -> Iterator[MakeWorld]:
    """Like `world`, for tests whose Tasks run side by side in one namespace."""
    yield from worlds(stack, git, Path(request.node.name).stem)


def worlds(stack: Stack, git: GitServer, name: str) -> Iterator[MakeWorld]:
    """What makes worlds of this name, which are gone at the end."""
    made: list[World] = []

    def make(
        tasks: list[Object] | None = None,
        change: Callable[[Object], None] | None = None,
        **agents: Any,
    ) -> World:
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
        namespace = f"{slug}-{uuid.uuid4().hex[:5]}"
        repository = f"r{next(_taken)}"
        log = stack.cluster.status().audit_log
        started = audit.position(Path(log)) if log else 0
        scenario = yaml.safe_dump({"tasks": tasks or []})
        offered = Agents(scenario=scenario, **agents)
        *others, project = manifests.project(git, namespace, offered)
        project["spec"] |= {"gates": {"enabled": False}}
        project["spec"]["repositories"][0]["url"] = git.url(repository)
        if change is not None:
            change(project["spec"])
        objects = [
            manifests.namespace(namespace),
            *manifests.accounts(git, namespace),
            *others,
            project,
        ]
        stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
        built = World(stack, git, namespace, repository, started, project)
        made.append(built)
        return built

    yield make
    for each in made:
        stack.kubectl("delete", "namespace", each.namespace, "--wait=false")


def push(here: World, path: str, content: str) -> str:
    """What a person does who may push to the branch; returns the commit."""
    folder = f"/tmp/person-{here.repository}"
    server = f"https://deliver:{here.server.passwords['deliver']}@127.0.0.1:8443"
    commands = f"""
        export GIT_SSL_NO_VERIFY=1 HOME=/tmp
        export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.invalid
        export GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.invalid
        [ -d {folder} ] || git clone --quiet {server}/git/{here.repository}.git {folder}
        cd {folder}
        mkdir -p "$(dirname '{path}')"
        cat >'{path}'
        git add --all
        git commit --quiet --message 'By hand'
        git push --quiet origin HEAD:main
        git rev-parse HEAD
    """
    pod = ("exec", "-i", f"deploy/{here.server.name}", "--", "sh", "-ec", commands)
    return here.stack.kubectl("-n", here.server.namespace, *pod, stdin=content).strip()


def does(title: str, *attempts: Mapping[str, Any]) -> Object:
    """A task of the demo agent's script; the last attempt is repeated."""
    return {"title": title, "attempts": [dict(a) for a in attempts]}


def writing(path: str, content: str, **more: Any) -> Object:
    """An attempt that writes one file and claims success."""
    return {
        "steps": [
            {"usage": {"input": 1000, "output": 100}},
            {"write": {"path": path, "content": content}},
        ],
        "text": "done",
        **more,
    }


LIE: Object = {"steps": [{"say": "All done, tests pass."}], "text": "done"}

EXISTS: Object = {"type": "path_exists", "path": "new.py"}
"""A signal that most scripts of the agent fulfil."""
