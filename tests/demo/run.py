"""`python3 -m tests.demo.run`: the whole story, end to end, in front of your eyes."""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from tests import stack as stacks
from tests.cluster.errors import ClusterError
from tests.demo import manifests
from tests.demo.manifests import GitServer
from tests.stack import Clock, Stack

NAMESPACE = "bernstein-demo"
PLAN = "rate-limit-api"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--provider", default="auto", choices=("auto", "kind", "local"))
    parser.add_argument("--name", help="of the cluster")
    options = parser.parse_args()
    clock = Clock()
    try:
        stack = stacks.bring_up(clock, provider=options.provider, name=options.name)
        stacks.install(stack, clock)
        code = story(stack, clock)
    except (ClusterError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    where_the_time_went(clock)
    print(f"\nThe cluster is still up:  export KUBECONFIG={stack.cluster.kubeconfig}")
    print("Take it down with:        make down")
    return code


def story(stack: Stack, clock: Clock) -> int:
    """The example from its set-up to what was merged; the exit code of `bernstein run`."""
    server = prepare(stack, clock)
    code = _run_plan(stack, clock)
    show(stack, server)
    return code


def prepare(stack: Stack, clock: Clock) -> GitServer:
    """A namespace of its own with git server and Project; what an earlier demo left is removed."""
    with clock.measure("preparing the example"):
        stack.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=120s")
        server, objects = manifests.demo(NAMESPACE)
        stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
        ready = ("rollout", "status", "deployment/git-server", "--timeout=120s")
        stack.kubectl("-n", NAMESPACE, *ready)
    return server


def _run_plan(stack: Stack, clock: Clock) -> int:
    """`kubectl apply` makes it run; `bernstein run` of the same plan only watches."""
    _say(f"kubectl apply -f docs/examples/{PLAN}/plan-cr.yaml")
    stack.kubectl("apply", "-f", str(manifests.EXAMPLE / "plan-cr.yaml"))
    _say(f"bernstein -n {NAMESPACE} run docs/examples/{PLAN}/plan.yaml")
    command = [str(Path(sys.executable).parent / "bernstein")]
    command += ["run", str(manifests.EXAMPLE / "plan.yaml"), "--namespace", NAMESPACE]
    with clock.measure("running the plan"):
        return subprocess.run(command, env=stack.environment, check=False).returncode


def show(stack: Stack, server: GitServer) -> None:
    """Print what became of the Tasks in the server's namespace, and what was merged."""
    listed = stack.kubectl("-n", server.namespace, "get", "tasks", "-o", "json")
    tasks = json.loads(listed)["items"]
    tasks.sort(key=lambda t: t["status"].get("endedAt", ""))
    _say("Tasks, and what was found by those who did not believe the agent")
    table = Table("Task", "State", "Attempts", "Verdicts", Column("Cost", justify="right"))
    for task in tasks:
        table.add_row(*_row(task), end_section=True)
    total = sum(float(task["status"].get("spendUsd", 0)) for task in tasks)
    table.add_row("", "", "", "tokens at the price table", f"${total:.4f}")
    Console(width=max(100, shutil.get_terminal_size().columns)).print(table)
    with tempfile.TemporaryDirectory() as folder:
        _say("Merged history, cloned from the git server")
        print(_history(stack, server, Path(folder)))


def _row(task: dict[str, Any]) -> tuple[Text, Text, Text, Text, Text]:
    """Title, state, how each attempt ended, what the last verification found, cost."""
    status = task["status"]
    attempts = [f"{a['attempt']}: {a['reason']}" for a in status.get("attempts", [])]
    verdicts = [
        f"{check['title']}: {check['verdict']}"
        for check in status.get("verification", {}).get("checks", [])
        if check["verdict"] != "Skipped"
    ]
    cost = f"${float(status.get('spendUsd', 0)):.4f}"
    cells = (task["spec"]["title"], status["state"], "\n".join(attempts), "\n".join(verdicts), cost)
    title, state, ends, found, price = (Text(cell) for cell in cells)
    return title, state, ends, found, price


def _history(stack: Stack, server: GitServer, folder: Path) -> str:
    """The target branch's log, cloned through the server's own name and certificate."""
    (folder / "ca.crt").write_text(server.certificate.ca)
    token = base64.b64encode(f"read:{server.passwords['read']}".encode()).decode()
    with forwarded(stack, server.namespace, server.name, manifests.GIT_PORT) as port:
        host = f"{server.name}.{server.namespace}.svc"
        settings = {
            "http.curloptResolve": f"{host}:{port}:127.0.0.1",
            "http.extraHeader": f"Authorization: Basic {token}",
        }
        url = server.url().replace(f":{manifests.GIT_PORT}/", f":{port}/")
        clone = ["git", "clone", "--quiet", url, str(folder / "clone")]
        trust = {"GIT_SSL_CAINFO": str(folder / "ca.crt")}
        environment = {**stack.environment, **trust, **_git_settings(settings)}
        subprocess.run(clone, check=True, env=environment)
    log = ["git", "-C", str(folder / "clone"), "log", "--stat", "--format=%n%h %s"]
    return subprocess.run(log, check=True, capture_output=True, text=True).stdout


def _git_settings(settings: dict[str, str]) -> dict[str, str]:
    """Settings for one git command, by its environment: arguments are everybody's to read."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


@contextmanager
def forwarded(stack: Stack, namespace: str, service: str, port: int) -> Iterator[int]:
    """A local port that leads to the service while the context lasts."""
    command = ["kubectl", "-n", namespace, "port-forward", f"service/{service}", f":{port}"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=stack.environment
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r":(\d+) ->", said)
            if found is None:
                raise RuntimeError(f"kubectl port-forward: {said or 'ended at once'}")
            yield int(found.group(1))
        finally:
            process.terminate()


def where_the_time_went(clock: Clock) -> None:
    _say("Where the time went")
    for what, seconds in clock.spent.items():
        print(f"  {seconds:6.1f} s  {what}")


def _say(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
