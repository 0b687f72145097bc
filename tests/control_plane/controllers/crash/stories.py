"""What people do and agents answer, up to the end: told with and without crashes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bernstein.api.encoding import dump
from bernstein.api.pod import Changed, CheckoutResult, Failure, PromptResult, Usage
from bernstein.api.programs.merge import PrepareResult
from bernstein.kube.resource import JOBS, SELF_SUBJECT_REVIEWS, Object, Resource
from tests.background import eventually
from tests.control_plane.controllers.kubelet import Pod, ends, exited, run, succeed, works
from tests.control_plane.controllers.remote import MAIN, sha
from tests.control_plane.controllers.world import PATIENCE, QUIET, World, stage, state_of
from tests.control_plane.objects import AGENT_SESSIONS, APPROVALS, PLANS, TASKS, valid

PRICES = {"prices": [{"model": "sonnet", "input": "10", "output": "0"}]}
USED = Usage(input=100_000)
"""A dollar's worth."""


async def one_task(world: World) -> None:
    """Of a Plan; those of `conflict` have none."""
    world.kubelet.on("agent", works(usage=USED))
    await world.project(budget=PRICES)
    await world.plan("shop", [stage("a", "one")])
    await _plan_is(world, "Succeeded")


async def two_stages_with_a_retry(world: World) -> None:
    """The second stage's first attempt does not pass the gate."""
    world.kubelet.on("agent", works(usage=USED))
    world.kubelet.on(
        "shop-b-two-s1-lint-[0-9]", ends("Failed", check=exited(1, "F401 unused import"))
    )
    await world.project(budget=PRICES)
    await world.plan("shop", [stage("a", "one"), stage("b", "two")])
    await _plan_is(world, "Succeeded")


async def cancelled(world: World) -> None:
    """While the first stage's agent works, and the second waits."""

    async def until_asked(pod: Pod) -> None:
        await pod.start()
        await world.until(AGENT_SESSIONS, pod.job, lambda s: s["spec"].get("stop"))
        await pod.end("Succeeded", await pod.deliver(stopped="Cancelled", usage=USED))

    world.kubelet.on("agent", until_asked)
    await world.project(budget=PRICES)
    await world.plan("shop", [stage("a", "one"), stage("b", "two")])
    await world.task_in("shop-a-one", "InProgress")
    await world.change(PLANS, "shop", cancel={"reason": "not needed any more"})
    await _plan_is(world, "Cancelled")


async def conflict(world: World) -> None:
    """Two agents work on the same commit; when the second lands, the tip is not there any more."""
    remote = world.kubelet.remote
    worked: set[str] = set()

    async def first(pod: Pod) -> None:
        await pod.start()
        said = await pod.deliver(usage=USED)
        worked.add(pod.job)
        await eventually(lambda: len(worked) == 2, seconds=PATIENCE)
        await pod.end("Succeeded", said)

    async def second(pod: Pod) -> None:
        await pod.start()
        said = await pod.deliver(usage=USED)
        worked.add(pod.job)
        await world.task_in("one", "Closed")
        # Somebody else pushes: no status tells where the tip is.
        remote.commit(MAIN, remote.refs[MAIN])
        await pod.end("Succeeded", said)

    world.kubelet.on("one-s1", first)
    world.kubelet.on("two-s1", second)
    await world.project(budget=PRICES)
    await world.task("one")
    await world.task("two")
    await world.task_in("two", "Closed")


async def decided(world: World) -> None:
    """People approve a Plan, send its work back once, and approve what comes then."""
    world.kubelet.on("agent", works(usage=USED))
    await world.project(budget=PRICES, approval={"plan": "Always", "result": "Always"})
    await world.plan("shop", [stage("a", "one")])
    # A Task that is made after the decision begins as Open.
    await world.task_in("shop-a-one", "Planned")
    await _decides(world, PLANS, "shop", "Approve")
    await _decides(world, TASKS, "shop-a-one", "Retry", attempt=1)
    await _decides(world, TASKS, "shop-a-one", "Approve", attempt=2)
    await _plan_is(world, "Succeeded")


async def proposed(world: World) -> None:
    """What a Plan delivers is merged by a person, on the forge."""
    await on_forge(world)
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", is_open)
    (pull,) = world.kubelet.remote.pulls
    world.kubelet.remote.merge(pull)
    await _plan_is(world, "Succeeded")
    assert world.kubelet.remote.pulls == [pull], "a second one is never opened"


async def proposed_one_by_one(world: World) -> None:
    """What each Task of a Plan delivers is; the second one begins after that of the first."""
    remote = world.kubelet.remote
    await on_forge(world, pullRequest={"per": "Task"})
    await world.plan("shop", [stage("a", "one"), stage("b", "two")])
    for number, task in enumerate(("shop-a-one", "shop-b-two"), start=1):
        await world.until(TASKS, task, is_open)
        assert len(remote.pulls) == number, "one for each, and none before it is its turn"
        remote.merge(remote.pulls[-1])
        await world.task_in(task, "Closed")
    await _plan_is(world, "Succeeded")


async def in_two_repositories(world: World) -> None:
    """The second step waits for the repository of the first; people merge both."""
    remote = world.kubelet.remote
    remote.refs["refs/heads/pages"] = sha("first page")
    await on_forge(world, ("site", "pages"))
    build = stage("a", "one", "two")
    build["steps"][1] |= {"repo": "site", "dependsOnRepo": "app"}
    await world.plan("shop", [build], repos=[{"path": "app"}, {"path": "site"}])
    await world.until(PLANS, "shop", lambda _: len(remote.pulls) == 2)
    for pull in remote.pulls:
        remote.merge(pull)
    await _plan_is(world, "Succeeded")
    assert sorted(pull.base for pull in remote.pulls) == ["main", "pages"], "one in each"


async def answered(world: World) -> None:
    """People say something of what a Plan delivers: it is changed, and proposed as it was."""
    remote = world.kubelet.remote
    await on_forge(world, pullRequest={"feedback": ["Comments"], "lookSeconds": 5})
    await world.plan("shop", [stage("a", "one")])
    first = await world.until(PLANS, "shop", is_open)
    (pull,) = remote.pulls
    pull.said.append("Use a constant.")
    before = first["status"]["delivery"]["sha"]
    await world.until(
        PLANS, "shop", lambda p: is_open(p) and p["status"]["delivery"]["sha"] != before
    )
    remote.merge(pull)
    await _plan_is(world, "Succeeded")
    assert remote.pulls == [pull], "a second one is never opened"


async def withdrawn(world: World) -> None:
    """A Plan is cancelled of which people have a pull request to merge: that is closed."""
    await on_forge(world)
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", is_open)
    await world.change(PLANS, "shop", cancel={"reason": "not needed any more"})
    await _plan_is(world, "Cancelled")
    (pull,) = world.kubelet.remote.pulls
    assert pull.state == "Closed"


async def outdated(world: World) -> None:
    """People have moved the branch under a pull request: it is made anew, and merged then."""
    remote = world.kubelet.remote
    await on_forge(world, pullRequest={"lookSeconds": 5})
    await world.plan("shop", [stage("a", "one")])
    first = await world.until(PLANS, "shop", is_open)
    before = first["status"]["delivery"]["sha"]
    remote.commit(MAIN, remote.refs[MAIN])
    await world.until(
        PLANS, "shop", lambda p: is_open(p) and p["status"]["delivery"]["sha"] != before
    )
    (pull,) = remote.pulls
    remote.merge(pull)
    await _plan_is(world, "Succeeded")
    assert remote.pulls == [pull], "a second one is never opened"


async def pushed(world: World) -> None:
    """A person pushes to the pull request of a Plan: that is verified, and merged then."""
    remote = world.kubelet.remote
    await on_forge(world, pullRequest={"lookSeconds": 5, "onNewCommits": "Verify"})
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", is_open)
    (pull,) = remote.pulls
    theirs = remote.push(pull)
    await world.until(
        PLANS, "shop", lambda p: is_open(p) and p["status"]["delivery"]["sha"] == theirs
    )
    remote.merge(pull)
    await _plan_is(world, "Succeeded")
    assert remote.pulls == [pull], "a second one is never opened"


async def on_forge(world: World, *more: tuple[str, str], **merge: Object) -> None:
    """A Project whose agents do their work, and that people merge. `more`: names and branches of
    repositories besides."""
    world.kubelet.on("agent", works(usage=USED))
    (repository,) = valid("Project", world.namespace)["spec"]["repositories"]
    forge = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
    first = {**repository, "forge": forge}
    others = [{**first, "name": name, "branch": branch} for name, branch in more]
    repositories = [first, *others]
    merging = {"strategy": "pr", **merge}
    await world.project(budget=PRICES, repositories=repositories, merge=merging)


def is_open(obj: Object) -> bool:
    delivery = obj["status"].get("delivery") or {}
    return bool(delivery.get("state") == "PullRequestOpen")


async def _decides(
    world: World, kind: Resource, name: str, decision: str, attempt: int | None = None
) -> None:
    """Somebody decides about it, once exactly this is asked."""

    def asks(subject: Object) -> bool:
        asked = subject["status"]["approval"]
        return (asked.get("decision"), asked["asks"].get("attempt")) == (None, attempt)

    approval = (await world.until(kind, name, asks))["status"]["approval"]["name"]
    await world.until(APPROVALS, approval, lambda a: state_of(a) == "Pending")
    said = {"decision": decision, "decidedBy": await _user(world), "reason": f"{decision} it"}
    await world.change(APPROVALS, approval, **said)


async def asked_for(world: World) -> None:
    """A pod does not start, an agent waits, the next one runs wild; then the work of a good one
    fails its check, and that of another one does not land at first."""
    declined = dump(Failure("BranchProtected", "hook declined"))
    agents = {"one-s1": Pod.bind, "one-s2": works(outcome="Blocked", message="the API")}
    agents |= {"one-s3": run}
    for job, script in agents.items():
        world.kubelet.on(job, script)
    world.kubelet.on("one-s4-signal-0-0", ends("Failed", check=exited(1, "1 failed")))
    world.kubelet.on("one-s5-land-1", ends("Failed", land=exited(1, declined)))
    await world.project(gates=QUIET)
    signal = {"type": "test_passes", "command": "pytest"}
    await world.task("one", maxRetries=0, completionSignals=[signal])
    await world.until(JOBS, "one-s1", lambda job: job["status"].get("active"))
    await _ask(world, "Unclaim")
    await world.task_in("one", "Blocked")
    await _ask(world, "Unblock")
    await world.until(TASKS, "one", _third_works)
    await _ask(world, "Kill")
    await world.task_in("one", "Failed")
    await _ask(world, "Verify")
    await _ask(world, "Retry")
    await world.stalled(TASKS, "one", "BranchProtected")
    await _ask(world, "Remerge")
    await world.task_in("one", "Closed")


def _third_works(task: Object) -> bool:
    return (state_of(task), task["status"]["session"]) == ("InProgress", "one-s3")


async def _ask(world: World, verb: str) -> None:
    """Somebody asks for it, and waits for the answer."""
    before = (await world.get(TASKS, "one"))["spec"].get("requests", [])
    new = {"id": verb.lower(), "verb": verb, "by": await _user(world), "reason": "once more"}
    await world.change(TASKS, "one", requests=[*before, new])
    await world.until(
        TASKS, "one", lambda task: any(a["id"] == new["id"] for a in task["status"]["requests"])
    )


async def _user(world: World) -> str:
    """Who acts, by the name that the API server knows."""
    review = {"apiVersion": SELF_SUBJECT_REVIEWS.api_version, "kind": SELF_SUBJECT_REVIEWS.kind}
    answer = await world.admin.create(SELF_SUBJECT_REVIEWS, review)
    return str(answer["status"]["userInfo"]["username"])


async def _plan_is(world: World, phase: str) -> None:
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == phase)


@dataclass(frozen=True)
class Story:
    tell: Callable[[World], Awaitable[None]]
    writes: int
    """The operator's, at the least; a few more where it looks more often."""


async def resolved(world: World) -> None:
    """People have moved the branch, and a Task resolves what does not merge with that."""
    remote = world.kubelet.remote

    async def agent(pod: Pod) -> None:
        await pod.start()
        said = await pod.deliver(usage=USED)
        if pod.job == "shop-a-one-s1":
            remote.commit(MAIN, remote.refs[MAIN])
        else:
            given = CheckoutResult(sha("tip"), sha("tree"), PromptResult("0" * 64, 1, (), True))
            said["checkout"] = exited(message=dump(given))
        await pod.end("Succeeded", said)

    async def prepare(pod: Pod) -> None:
        """Nothing merges until the second Task has landed."""
        if sum(ref.endswith("/integration") for ref, _ in remote.landed) > 1:
            await succeed(pod)
            return
        await pod.start()
        config = pod.config()
        marked = remote.commit(config["marks"], config["sha"])
        tip = remote.refs[config["onto"]]
        said = PrepareResult(tip, "", "", Changed(), ("a.py",), marked=marked)
        await pod.end("Succeeded", {"prepare": exited(message=dump(said))})

    world.kubelet.on("agent", agent)
    world.kubelet.on("shop-prepare-[0-9]", prepare)
    await world.project(budget=PRICES, merge={"strategy": "direct", "conflicts": "Resolve"})
    await world.plan("shop", [stage("a", "one")])
    await _plan_is(world, "Succeeded")


STORIES = {
    "one_task": Story(one_task, 25),
    "two_stages_with_a_retry": Story(two_stages_with_a_retry, 65),
    "cancelled": Story(cancelled, 28),
    "conflict": Story(conflict, 42),
    "decided": Story(decided, 40),
    "asked_for": Story(asked_for, 45),
    "proposed": Story(proposed, 30),
    "proposed_one_by_one": Story(proposed_one_by_one, 50),
    "in_two_repositories": Story(in_two_repositories, 60),
    "resolved": Story(resolved, 50),
    "answered": Story(answered, 55),
    "withdrawn": Story(withdrawn, 32),
    "outdated": Story(outdated, 45),
    "pushed": Story(pushed, 45),
}
