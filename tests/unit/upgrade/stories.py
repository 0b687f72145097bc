"""What may happen to Plans and Tasks, each as a story that a simulated world plays to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.core.conditions import is_true
from tests.unit.core import objects
from tests.unit.core.simulation.state import TARGET
from tests.unit.upgrade.cluster import NO_SCAN, Cluster, alone, plan, steps

STORIES: dict[str, Callable[[], None]] = {}


def story(tell: Callable[[], None]) -> Callable[[], None]:
    STORIES[tell.__name__] = tell
    return tell


def project(*gates: dict[str, Any], **spec: Any) -> Project:
    return objects.project(gates={"pipeline": [NO_SCAN, *gates]}, **spec)


def with_plan(*files: str, of: Project | None = None, **spec: Any) -> Cluster:
    """A Plan of one stage."""
    return Cluster(of or project(), plan(steps(*files), **spec))


def with_task(of: Project | None = None, **spec: Any) -> Cluster:
    return Cluster(of or project(), None, [alone(**spec)])


# --- moments --------------------------------------------------------------------------------------


def task_is(state: TaskState) -> Callable[[Cluster], bool]:
    return lambda world: any(task.status.state is state for task in world.tasks.values())


working = task_is(TaskState.IN_PROGRESS)
done = task_is(TaskState.DONE)


def checking(world: Cluster) -> bool:
    return any(job.role == "RunCheck" and job.runs for job in world.jobs.values())


def task_lands(world: Cluster) -> bool:
    steps = [t.status.delivery.step for t in world.tasks.values() if t.status.delivery]
    return "Landing" in steps


def stalled(world: Cluster) -> bool:
    statuses: list[Any] = [task.status for task in world.tasks.values()]
    statuses += [world.plan.status] if world.plan is not None else []
    return any(is_true(status.conditions, "Stalled") for status in statuses)


def plan_is(phase: str) -> Callable[[Cluster], bool]:
    return lambda world: world.plan is not None and world.plan.status.phase == phase


def plan_at(step: str) -> Callable[[Cluster], bool]:
    def reached(world: Cluster) -> bool:
        assert world.plan is not None
        delivered = world.plan.status.delivery
        return delivered is not None and delivered.step == step

    return reached


def plan_checks(world: Cluster) -> bool:
    """A check of the Plan runs."""
    mine = [j for j in world.jobs.values() if j.owner == "Plan"]
    return any(job.role == "RunCheck" and job.runs for job in mine)


# --- all goes well --------------------------------------------------------------------------------


@story
def a_plan_of_three_stages_is_delivered() -> None:
    stages = [steps("a.py", "b.py"), steps("c.py"), steps("d.py", priority=1)]
    Cluster(project(), plan(*stages)).run_on()


@story
def a_task_without_a_plan_is_delivered() -> None:
    with_task(project({"name": "tests", "enabled": True})).run_on()


@story
def a_plan_whose_steps_change_nothing_succeeds() -> None:
    Cluster(project(), plan(steps("a.py", changes="none"))).run_on_like(agent="unneeded")


@story
def checks_are_skipped() -> None:
    """Their condition is not met, or one before them has failed."""
    own = {"name": "own", "command": "check", "image": "own:1", "condition": "tests_changed"}
    last = {"name": "last", "command": "check", "image": "own:1"}
    with_task(project(own)).run_on()
    one_by_one = {"pipeline": [NO_SCAN, own, last], "execution": "Sequential"}
    with_task(objects.project(gates=one_by_one), maxRetries=0).rounds(12, lint="bad")
    with_task(objects.project(gates={"enabled": False})).run_on()


@story
def checks_in_turn_and_signals_are_run_and_read() -> None:
    signals = [
        {"type": "path_exists", "path": "a.py"},
        {"type": "test_passes", "command": "true"},
    ]
    own = {"name": "own", "command": "check", "image": "own:1", "required": False}
    gates = {"pipeline": [{"name": "merge_conflict", "enabled": True}, own]}
    one_by_one = objects.project(gates=gates | {"execution": "Sequential"})
    for of in (one_by_one, objects.project(gates=gates | {"maxParallel": 1})):
        with_task(of, completionSignals=signals).run_on_like(own="bad")


@story
def a_project_says_all_that_it_can() -> None:
    repository = {
        "name": "app",
        "url": "https://git.example:8443/app.git",
        "ca": {"name": "git-ca", "key": "root.pem"},
        "credentials": {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")},
    }
    resources = {"cpu": "2", "memory": "4Gi", "ephemeralStorage": "8Gi"}
    codex = {
        "name": "codex",
        "adapter": "codex",
        "image": "codex:1",
        "baseUrl": "http://llm.example/v1",
        "apiKey": {"name": "openai", "key": "token"},
        "configMap": "codex-config",
        "models": {"sonnet": "gpt-5"},
        "resources": resources,
    }
    own = {"name": "own", "adapter": "generic", "image": "own:1", "command": ["work", "{prompt}"]}
    pods = {"runtimeClassName": "gvisor", "imagePullSecrets": ["registry"]}
    for agent, tests in ((codex, "python_changed"), (own, "always")):
        of = objects.project(
            repositories=[repository],
            agents=[agent],
            toolchain={"image": "tools:1", "readOnlyRootFilesystem": False, "resources": resources},
            gates={
                "timeoutSeconds": 60,
                "pipeline": [
                    {"name": "tests", "enabled": True, "condition": tests},
                    {"name": "merge_conflict", "enabled": True},
                ],
            },
            pods=pods,
            limits={"stallSeconds": 60, "timeoutSeconds": {"small": 60}},
            network={"agents": [{"ports": [{"port": 443}]}]},
        )
        signals = [{"type": "glob_exists", "value": "*.py"}]
        more = {"scope": "small", "estimatedMinutes": 5, "completionSignals": signals}
        world = Cluster(of, plan(steps("a.py", **more), steps("b.py", role="manager")))
        world.until(working).remote.human_pushes(TARGET, "human.py", "first")
        world.run_on()


@story
def steps_get_the_model_and_the_time_that_they_need() -> None:
    asked: list[dict[str, Any]] = [
        {"role": "architect", "scope": "small"},
        {"role": "analyst", "estimatedMinutes": 120},
        {"complexity": "high", "scope": "large"},
        {"complexity": "low", "effort": "max"},
        {"model": "haiku"},
    ]
    routed = [{"model": "auto", "goal": "Do it"} | each for each in asked]
    step = [steps(f"{i}.py", **each)[0] for i, each in enumerate(routed)]
    Cluster(project(), plan(step, constraints=["Be brief"], contextFiles=["a.md"])).run_on()


# --- agents fail ----------------------------------------------------------------------------------

ENDS = {
    "says AgentFailed": "AgentFailed",
    "says NoFinalRecord": "NoFinalRecord",
    "says MaxTurns": "MaxTurns",
    "says Refused": "Refused",
    "says RateLimited": "RateLimited",
    "says UsageLimited": "UsageLimited",
    "says ModelAuthFailed": "ModelAuthFailed",
    "says ProviderUnavailable": "ProviderUnavailable",
    "crashes": "AgentFailed",
    "oom": "AgentOutOfMemory",
    "evicted": "AgentDiskFull",
    "late": "Timeout",
    "quiet": "Stalled",
    "not found": "AgentNotStarted",
    "too large": "SnapshotTooLarge",
    "empty": "EmptyDiff",
    "disrupted": "Disrupted",
    "checkout": "RepositoryUnreachable",
    "refused": "CredentialRefused",
    "deleted": "PodLost",
    "half": "InfrastructureError",
}
"""Why a session ends, by what happens to its pod."""


@story
def an_agent_ends_in_every_way_and_is_tried_again() -> None:
    for fate, reason in ENDS.items():
        world = with_task(maxRetries=1)

        def ended(world: Cluster, reason: str = reason) -> bool:
            return any(a.reason == reason for a in world.only_task().status.attempts)

        world.until(ended, agent=fate)
        world.run_on()


@story
def an_agent_fails_for_good() -> None:
    for fate in ("says AgentFailed", "disrupted", "says RateLimited", "late"):
        world = with_plan("a.py", "b.py")
        world.rounds(80, 61, agent=fate)
        with_task(maxRetries=0).rounds(30, 301, agent=fate)


@story
def a_step_that_is_to_change_nothing_changes_something() -> None:
    with_task(changes="none", maxRetries=0).rounds(8)


@story
def pods_do_not_start() -> None:
    for fate in ("stuck", "no secret", "unusable", "unschedulable"):
        world = with_plan("a.py")
        world.rounds(12, 301, others=fate)
        world.run_on()
        world = with_task()
        world.rounds(12, 301, others=fate)
        world.rounds(4)
        world.rounds(12, 301, others=fate)
        world.run_on()


@story
def pods_are_refused() -> None:
    for moment in (plan_is("Starting"), task_is(TaskState.CLAIMED), done, task_lands):
        world = with_plan("a.py").until(moment)
        world.settle()
        world.rejected = frozenset(n for n, job in world.jobs.items() if job.pod is None)
        world.rounds(4, 11)
        world.rejected = frozenset()
        world.run_on()


@story
def pods_wait_for_a_volume() -> None:
    for moment in (plan_is("Starting"), task_is(TaskState.CLAIMED), done, task_lands):
        world = with_plan("a.py").until(moment)
        world.settle()
        world.unmounted = frozenset(world.jobs)
        world.rounds(4, 11)
        world.unmounted = frozenset()
        world.run_on()


# --- sessions are lost, stopped, deleted ----------------------------------------------------------


@story
def a_session_is_lost_with_its_node() -> None:
    for retries in (0, 2):
        world = with_task(maxRetries=retries).until(working)
        world.heartbeat()
        world.pass_time(60)
        world.settle()
        world.nodes_die()
        world.settle()
        world.pass_time(90)
        world.settle()
        world.run_on()


@story
def a_session_goes_on_from_a_checkpoint() -> None:
    for plans in (True, False):
        world = (with_plan("a.py") if plans else with_task()).until(working)
        world.heartbeat(checkpoint=objects.HEAD, usage={"input": 1000, "output": 10})
        world.rounds(1, agent="disrupted")
        world.run_on()


@story
def a_session_that_is_silent_goes_on() -> None:
    world = with_task().until(working)
    world.heartbeat()
    world.pass_time(130)
    world.settle()
    world.heartbeat()
    world.settle()
    world.run_on()


@story
def jobs_vanish_at_any_time() -> None:
    for moment in (plan_is("Starting"), working, checking, task_lands, plan_at("Landing")):
        world = with_plan("a.py").until(moment)
        world.jobs_vanish()
        world.run_on()


@story
def jobs_are_deleted_at_any_time() -> None:
    for moment in (plan_is("Starting"), working, checking, task_lands, plan_at("Landing")):
        world = with_plan("a.py").until(moment)
        world.pods_move(others="deleted")
        world.run_on()


@story
def sessions_are_deleted_at_any_time() -> None:
    for moment in (task_is(TaskState.CLAIMED), working, done):
        world = with_plan("a.py").until(moment)
        for name in list(world.sessions):
            world.delete_session(name)
        world.run_on()


# --- checks ---------------------------------------------------------------------------------------

VERDICTS = ("bad", "prints", "out of memory", "late", "slow", "evicted", "disrupted", "empty")
CANNOT = ("disrupted", "empty", "moved", "unreachable", "deleted")


@story
def a_gate_fails_and_the_next_attempt_passes() -> None:
    for fate in VERDICTS:
        world = with_plan("a.py").until(checking)
        world.pods_move(lint=fate)
        world.run_on()


@story
def a_gate_fails_until_no_retry_is_left() -> None:
    for fate in ("bad", "out of memory", "late"):
        with_plan("a.py", "b.py").rounds(40, lint=fate)
    with_task(maxRetries=1).rounds(30, lint="prints")


@story
def a_signal_fails() -> None:
    signals = [
        {"type": "file_contains", "path": "a.py", "contains": "x"},
        {"type": "test_passes", "command": "make test"},
    ]
    for fates in ({"inspect": "bad"}, {"signal-1": "bad"}, {"inspect": "bad", "lint": "bad"}):
        world = with_task(completionSignals=signals, maxRetries=1)
        world.until(task_is(TaskState.FAILED), **fates)
        world.run_on()


@story
def what_reads_cannot_read() -> None:
    for fate in ("disrupted", "errored", "silent", "deleted"):
        world = with_task(objects.project(gates={}))
        world.rounds(14, 31, inspect=fate)
        world.rounds(6, 301, inspect=fate)
        world.run_on()


@story
def a_gate_cannot_run_and_is_tried_again_with_longer_waits() -> None:
    for fate in CANNOT:
        world = with_task()
        world.rounds(12, 31, lint=fate)
        world.rounds(8, 301, lint=fate)
        world.change_project()
        world.rounds(3, lint=fate)
        world.run_on()


@story
def a_gate_that_is_not_required_cannot_run() -> None:
    own = {"name": "own", "command": "check", "image": "own:1", "required": False}
    with_task(project(own)).run_on_like(own="empty")


GATE = {"name": "extra", "command": "true", "image": "extra:1"}
OTHER_LINT = {"name": "lint", "command": "ruff check --select ALL ."}
NO_LINT = {"name": "lint", "enabled": False}


@story
def the_project_changes_its_gates_at_any_time() -> None:
    moments = (checking, task_lands, plan_at("Landing"), plan_checks)
    for moment in moments:
        for gate in (GATE, OTHER_LINT, NO_LINT):
            world = with_plan("a.py").until(working)
            if moment is plan_checks:
                world.remote.human_pushes(TARGET, "human.py", "first")
            world.until(moment)
            world.change_project(project(gate))
            world.run_on()


@story
def the_project_changes_its_gates_after_pods_have_ended() -> None:
    for moment in (checking, task_lands, plan_at("Landing")):
        for gate in (GATE, OTHER_LINT):
            world = with_plan("a.py").until(moment)
            world.pods_move()
            world.pods_move()
            world.change_project(project(gate))
            world.run_on()
