"""Command line: progress on standard error, results on standard output."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import sys

from tests.cluster import kind
from tests.cluster.binaries.build import ensure_binaries, tools_folder
from tests.cluster.binaries.programs import BY_NAME, KWOK
from tests.cluster.errors import ClusterError
from tests.cluster.interface import Cluster, Status
from tests.cluster.machine import mounts, paths
from tests.cluster.machine.packages import CONTROL_PLANE, ensure_packages
from tests.cluster.processes.record import known_clusters
from tests.cluster.progress import say
from tests.cluster.provider import PROVIDERS, WITHOUT_CONTAINERS, select


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 1 on a ClusterError, which is printed with its remedy."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def _up(options: argparse.Namespace) -> None:
    cluster = _cluster(options)
    if options.recreate:
        cluster.down()
    cluster.up()
    print(cluster.kubeconfig)


def _down(options: argparse.Namespace) -> None:
    if not options.all:
        _cluster(options).down()
        return
    for provider, name in known_clusters(paths.clusters_root()):
        select(provider, name).down()


def _status(options: argparse.Namespace) -> None:
    status = _cluster(options).status()
    if options.json:
        print(json.dumps(dataclasses.asdict(status), indent=1))
    else:
        _print_status(status)


def _print_status(status: Status) -> None:
    print(f"{status.name} ({status.provider}): {'ready' if status.ready else 'not ready'}")
    for label in ("server", "kubeconfig", "audit_log", "folder"):
        if value := getattr(status, label):
            print(f"  {label.replace('_', ' ')}: {value}")
    for component in status.components:
        state = f"process {component.pid}" if component.running else "DEAD"
        print(f"  {component.name}: {state}")


def _kubeconfig(options: argparse.Namespace) -> None:
    cluster = _cluster(options)
    if not cluster.kubeconfig.exists():
        raise ClusterError("NotRunning", f"cluster {cluster.name} is not up", "start it with: up")
    print(cluster.kubeconfig)


def _load(options: argparse.Namespace) -> None:
    _cluster(options).load_images(options.source)


def _kill(options: argparse.Namespace) -> None:
    _cluster(options).kill(options.component)


def _start(options: argparse.Namespace) -> None:
    _cluster(options).start(options.component)


def _kill_container(options: argparse.Namespace) -> None:
    _cluster(options).kill_container(options.pod, options.container, options.namespace)


def _build(options: argparse.Namespace) -> None:
    provider = options.provider
    if provider == "kind" or (provider == "auto" and kind.usable()):
        print(tools_folder())
        return
    ensure_packages(CONTROL_PLANE if provider in WITHOUT_CONTAINERS else None)
    print(ensure_binaries().folder)
    if provider == "kwok":
        print(KWOK.ensure())


def _program(options: argparse.Namespace) -> None:
    print(BY_NAME[options.program].ensure())


def _tools(_: argparse.Namespace) -> None:
    print(tools_folder())


def _clean_cache(_: argparse.Namespace) -> None:
    for provider, name in known_clusters(paths.clusters_root()):
        select(provider, name).down()
    cache = paths.cache_root()
    if used := mounts.mounted([cache]):
        raise ClusterError(
            "CacheInUse",
            f"something is mounted in {cache}: {', '.join(used)}",
            "stop the Docker engine that keeps its images there",
        )
    if cache.exists():
        shutil.rmtree(cache)
    say(f"removed {cache}")
    say("Go's own caches stay, because other work shares them: go clean -cache -modcache")


def _cluster(options: argparse.Namespace) -> Cluster:
    """The cluster meant: for all commands but `up`, `auto` is the one that is there."""
    provider, name = options.provider, options.name
    if provider == "auto" and options.command != "up":
        there = known_clusters(paths.clusters_root())
        named = [entry for entry in there if name in (None, entry[1])]
        nodes = [entry for entry in named if entry[0] not in WITHOUT_CONTAINERS]
        if found := nodes or named:
            return select(*found[0])
        return select("local", name)
    return select(provider, name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.cluster", description="Real Kubernetes clusters for tests."
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, function: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=function)
        return added

    def cluster(name: str, function: object, text: str) -> argparse.ArgumentParser:
        added = command(name, function, text)
        added.add_argument("--provider", choices=PROVIDERS, default="auto")
        added.add_argument("--name", help="default: the provider's name")
        return added

    up = cluster("up", _up, "start a cluster and print the path of its kubeconfig")
    up.add_argument("--recreate", action="store_true", help="also if it is up and ready")
    down = cluster("down", _down, "stop a cluster and remove all but caches and logs")
    down.add_argument("--all", action="store_true", help="every cluster that is there")
    status = cluster("status", _status, "say what runs")
    status.add_argument("--json", action="store_true")
    cluster("kubeconfig", _kubeconfig, "print the path of the kubeconfig")
    load = cluster("load", _load, "load images into the node, if they are new")
    load.add_argument("source", nargs="+", help="docker-save archive, or a Docker image's name")
    kill = cluster("kill", _kill, "kill a component with SIGKILL")
    kill.add_argument("component")
    start = cluster("start", _start, "start a killed component and wait for it")
    start.add_argument("component")
    container = cluster("kill-container", _kill_container, "kill a container's first process")
    container.add_argument("pod")
    container.add_argument("container")
    container.add_argument("-n", "--namespace", default="default")
    build = command("build", _build, "install and build what a provider needs")
    build.add_argument("--provider", choices=PROVIDERS, default="auto")
    program = command("program", _program, "build a program that has a module of its own")
    program.add_argument("program", choices=BY_NAME)
    command("tools", _tools, "print the folder with kubectl and helm")
    command("clean-cache", _clean_cache, "take clusters down and remove all caches")
    return parser


if __name__ == "__main__":
    sys.exit(main())
