"""Agents and repositories that attack: what they do, and the Project in which they do it.

Most Tasks here ask for a file that no agent writes: they end after one attempt, with what the agent
left on the session's ref, and nothing lands.
"""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bernstein.core import names
from tests.background import wait_for
from tests.demo.manifests import GitServer
from tests.e2e.conftest import MakeWorld, Object, World, condition, does, state
from tests.programs.hostile.payloads import TRAP
from tests.stack import SYSTEM

PAYLOADS = Path(__file__).with_name("payloads")
NEVER = {"type": "path_exists", "path": "never"}
ENOUGH = 300
CHECKPOINT = 5
"""Seconds from one look at the tree to the next: a third of the Project's stallSeconds."""
MORE_THAN_TWO = 2.5 * CHECKPOINT

NAMES = "na\x1b[31mme\u202eok\u202c.txt"
WORDS = (
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.invalid\x07here\x1b]8;;\x07 \u202elive\u202c @octocat"
)

LOUD = "head -c 1000000 /dev/zero | tr '\\0' x; exit 1"
SERVE = (
    "import socket, time; s = socket.create_server(('127.0.0.1', 4712)); time.sleep(20); print(s)"
)
BROAD = 'for of in one two; do seq -f "$of %07.0f of what is made up here" 750000 >$of.txt; done'
"""50 MB of text, in files of which none is too large."""
VISIT = """\
for n in $(seq 20); do
  python3 -c "import socket; socket.create_connection(('127.0.0.1', 4712))" 2>/dev/null && exit 1
  sleep 1
done"""


@dataclass(frozen=True)
class Attacks:
    """The world, with every Task applied."""

    here: World
    needles: dict[str, str]
    """Every value of every Secret that is near, by namespace, name and key."""

    def over(self, name: str, reason: str) -> Object:
        """The Task, whose only attempt ended for this reason."""
        task = self.here.await_("task", name, lambda t: state(t) == "Failed", ENOUGH)
        stalled = condition(task, "Stalled")
        assert stalled["reason"] == reason, stalled
        return task

    def rejected(self, name: str) -> Object:
        """The Task, whose work was taken, and refused by its signals."""
        return self.over(name, "SignalFailed")

    def left(self, task: Object, path: str) -> str:
        """A file of the commit that its session pushed."""
        return self.here.on_server("show", f"{ref_of(task)}:{path}")

    def pod(self, session: str) -> str:
        return str(self.here.get("agentsession", session)["status"]["pod"]["name"])


def ref_of(task: Object) -> str:
    meta = task["metadata"]
    return names.work_ref(names.refs_of(meta["uid"]), meta["name"], 1)


def begin(make: MakeWorld, git: GitServer) -> Attacks:
    """Make the world and apply every Task."""
    keys = {name: secrets.token_urlsafe(24) for name in ("own", "other")}

    def change(spec: Object) -> None:
        # More CPU than the example, or the search takes minutes; checkpoints in quick succession.
        demo = spec["agents"][0]
        demo["resources"] = spec["toolchain"]["resources"] = {"cpu": "1", "memory": "512Mi"}
        spec["agents"].append({**demo, "name": "other", "apiKey": {"name": "other", "key": "key"}})
        demo["apiKey"] = {"name": "own", "key": "key"}
        spec["limits"] = {"maxAgents": 12, "stallSeconds": 3 * CHECKPOINT}

    # The script must hold the values to look for, and they exist only with the namespace.
    needles = {f"model/{name}": value for name, value in keys.items()}
    needles |= {f"git/{name}": value for name, value in git.passwords.items()}
    here = make([], change)
    needles |= secret_values(here, SYSTEM)
    known = {
        "since": time.time() - 60,
        "needles": {name: value.encode().hex() for name, value in needles.items()}
        | {"planted": secrets.token_urlsafe(24).encode().hex()},
        "urls": addresses(here, git),
    }
    for name, value in keys.items():
        here.apply(secret(name, value))
    here.apply(script(json.dumps(known)))
    for name in ("search", "repositories", "swapper", "records", "links"):
        here.task(name, completionSignals=[NEVER], maxRetries=0)
    here.task("as-if-absent", maxRetries=0, cli="other")  # its hold would hold the others, too
    here.task("large", maxRetries=0)
    here.task("broad", maxRetries=0)
    here.task("loud", maxRetries=0)
    here.task("checks", completionSignals=[*CHECKS.values()], maxRetries=0)
    return Attacks(here, needles)


CHECKS: dict[str, Object] = {
    "searches": {"type": "test_passes", "command": "python3 search.py known.json"},
    "traps": {"type": "test_passes", "command": TRAP, "timeoutSeconds": 1},
    "prints": {"type": "test_passes", "command": LOUD},
    "serves": {"type": "test_passes", "command": f'python3 -c "{SERVE}"'},
    "visits": {"type": "test_passes", "command": VISIT},
    "lists": {"type": "test_passes", "command": "ls *.txt; exit 1"},
    "uses git": {"type": "test_passes", "command": "git status && git diff --stat HEAD"},
    "reads a link": {"type": "file_contains", "path": "link", "contains": "root:"},
    "passes a link": {"type": "path_exists", "path": "root/etc/passwd"},
    "sees a link": {"type": "path_exists", "path": "link"},
    "visits its own": {"type": "test_passes", "command": f'python3 -c "{SERVE}" & {VISIT}'},
}


def script(known: str) -> Object:
    """What the agents of the Project do, by title."""
    found = "python3 /tmp/search.py /tmp/known.json >found.json || true"
    calls = f"python3 /tmp/repositories.py {MORE_THAN_TWO} >calls.json"
    swaps = f"python3 /tmp/swapper.py {8 * CHECKPOINT} >swaps.json"
    tasks = [
        does("search", attempt(payload("search"), write("/tmp/known.json", known), run(found))),
        does("repositories", attempt(payload("repositories"), run(calls))),
        does("swapper", attempt(payload("swapper"), run(swaps))),
        does(
            "records", attempt(USED, KEPT, payload("forger"), run("python3 /tmp/forger.py records"))
        ),
        does("links", attempt(payload("forger"), run("python3 /tmp/forger.py links"), **SILENT)),
        does("as-if-absent", attempt({"sleep": 8}, exit=127)),
        does("large", attempt(run("truncate --size 60M large.bin"))),
        does("broad", attempt(run(BROAD))),
        does("loud", attempt({"say": WORDS}, error={"kind": "error", "message": WORDS})),
        does(
            "checks",
            attempt(
                payload("search", "search.py"),
                write("known.json", known),
                write(NAMES, "name\n"),
                run("ln -s /etc/passwd link; ln -s / root"),
            ),
        ),
    ]
    data = {"scenario.yaml": json.dumps({"tasks": tasks})}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "demo-scenario"},
        "data": data,
    }


USED = {"usage": {"input": 1000, "output": 100}}
KEPT = {"write": {"path": "kept.txt", "content": "kept\n"}}
SAYS = {"say": "still at work"}
SILENT: Object = {"result": False, "exit": 3}


def attempt(*steps: Object, **more: object) -> Object:
    return {"steps": list(steps), **more}


def write(path: str, content: str) -> Object:
    return {"write": {"path": path, "content": content}}


def run(command: str) -> Object:
    return {"run": command}


def payload(name: str, path: str = "") -> Object:
    return write(path or f"/tmp/{name}.py", (PAYLOADS / f"{name}.py").read_text())


def secret(name: str, value: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "stringData": {"key": value},
    }


def secret_values(here: World, *namespaces: str) -> dict[str, str]:
    """What could leak: of each value the longest line, which no encoding of the file breaks."""
    values: dict[str, str] = {}
    for namespace in namespaces:
        text = here.stack.kubectl("-n", namespace, "get", "secrets", "-o", "json")
        for item in json.loads(text)["items"]:
            if item["type"].startswith("helm.sh/"):
                continue
            for key, encoded in item.get("data", {}).items():
                lines = base64.b64decode(encoded).decode(errors="replace").split("\n")
                if not key.endswith(".crt"):
                    values[f"{namespace}/{item['metadata']['name']}/{key}"] = max(lines, key=len)
    return values


def addresses(here: World, git: GitServer) -> dict[str, tuple[str, str]]:
    node = json.loads(here.stack.kubectl("get", "nodes", "-o", "json"))["items"][0]
    host = next(a["address"] for a in node["status"]["addresses"] if a["type"] == "InternalIP")
    api = "https://kubernetes.default.svc/api/v1"
    server = f"https://bernstein-server.{SYSTEM}.svc:8052"
    session = f"{server}/v1/sessions/{here.namespace}/search-s1"
    return {
        "secrets": ("GET", f"{api}/namespaces/{here.namespace}/secrets"),
        "pods": ("GET", f"{api}/namespaces/{here.namespace}/pods"),
        "kubelet": ("GET", f"https://{host}:10250/pods"),
        "git": ("GET", f"{git.url(here.repository)}/info/refs?service=git-upload-pack"),
        "push": ("GET", f"{git.url(here.repository)}/info/refs?service=git-receive-pack"),
        "heartbeat": ("POST", f"{session}/heartbeat"),
        "result": ("POST", f"{session}/result"),
    }


def make_editor(here: World) -> str:
    """A person who has the cluster's own role `edit` in the namespace."""
    here.kubectl("create", "rolebinding", "editor", "--clusterrole=edit", "--user=editor")
    may = ("auth", "can-i", "create", "jobs")
    wait_for(lambda: as_editor(here, "editor", *may).startswith("done: yes"))
    return "editor"


def as_editor(here: World, editor: str, *arguments: str, stdin: str | None = None) -> str:
    """What the API server answers, refusal included."""
    return answered(here, f"--as={editor}", *arguments, stdin=stdin)


def answered(here: World, *arguments: str, stdin: str | None = None) -> str:
    """What the API server says to a kubectl in the namespace, refusal included."""
    done = subprocess.run(
        ("kubectl", "-n", here.namespace, *arguments),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env=here.stack.environment,
        timeout=180,
    )
    return done.stderr if done.returncode else f"done: {done.stdout}"
