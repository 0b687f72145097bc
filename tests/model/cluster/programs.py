"""What runs inside pods, and the last words that the kubelet finds: like `bernstein.pods`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bernstein.api import pod as protocol
from bernstein.api.meta import UsageCounts
from bernstein.api.pod import AGENT, CHECK, INSPECT, LAND, PROBE
from bernstein.api.programs.probe import ProbeResult
from bernstein.checks.spec import CheckSpec
from bernstein.core import labels
from bernstein.core.actions import RunBegin, RunFormat, RunLand, RunPrepare
from bernstein.kube.resource import Key, Object
from bernstein.resources import SESSIONS, TASKS
from tests.configuration import told
from tests.model.cluster.store import Store
from tests.model.dice import Dice
from tests.unit.core import objects
from tests.unit.core.simulation.remote import Remote

HEARTBEAT = 30.0
RISKS = {
    ".github/workflows/{}.yml": 0.12,
    "tests/{}/test_one.py": 0.08,
    "{}/ruff.toml": 0.05,
}
"""What agents change beside their files, each Task its own, and how often."""
FOUND_NOTHING, OUT_OF_MEMORY, GOES_ON = "Errored", "OutOfMemory", "Hangs"
"""What a witness is told of a check that said neither Passed, Failed nor Skipped: it lacked its
command, or its memory, or it will not end."""


@dataclass
class Run:
    """One pod at work, whoever hears of it."""

    pod: Object
    """As the node knows it."""
    role: str
    node: str
    since: float
    live: bool = True
    """Its main container does something."""
    told_to_end: bool = False
    base: str = ""
    """Tip that an agent's checkout found."""
    shared: dict[str, Any] = field(default_factory=dict)

    @property
    def uid(self) -> str:
        return str(self.pod["metadata"]["uid"])

    @property
    def key(self) -> Key:
        meta = self.pod["metadata"]
        return Key(meta["namespace"], meta["name"])

    @property
    def labels(self) -> Mapping[str, str]:
        own: Mapping[str, str] = self.pod["metadata"]["labels"]
        return own

    @property
    def job(self) -> str:
        return self.labels[labels.JOB_NAME]

    @property
    def owner(self) -> str:
        """Uid of the session, Task or Plan whose Job it is."""
        return self.labels[labels.OWNER_UID]

    def config(self, container: str) -> Any:
        spec = self.pod["spec"]
        for found in (*spec.get("initContainers", ()), *spec["containers"]):
            if found["name"] == container:
                return told(found)
        raise AssertionError(f"{self.job} has no container {container}")


class Witness(Protocol):
    """Is told what really happened, whatever anybody hears of it."""

    def pushed(self, run: Run, onto: str, sha: str) -> None: ...
    def judged(self, run: Run, sha: str, verdict: str) -> None: ...
    def made(self, sha: str, changed: protocol.Changed, protected: frozenset[str]) -> None: ...


@dataclass(frozen=True)
class End:
    """How a pod's containers ended: the main one and those that said something."""

    containers: tuple[Object, ...]
    phase: str = "Succeeded"


class Programs:
    """Plays the main container of every pod of ours; the dice say how each goes."""

    def __init__(
        self, store: Store, remote: Remote, dice: Dice, fates: Mapping[str, Mapping[str, float]]
    ) -> None:
        self.remote = remote
        self.witness: Witness | None = None
        self._store = store
        self._dice = dice
        self._fates = fates
        self.forced: list[dict[str, Any]] = []
        """Fates that a story wants, each for one Job: {job: part of its name, fate, seconds, also:
        paths that an agent changes besides, same: it leaves what any other of its Task does}."""
        self.all_good = False
        self.repeats = 0.0
        """Of how many Tasks each attempt leaves the same, as a share."""

    def fate(self, run: Run) -> tuple[str, float]:
        """How it goes, and how long it takes."""
        for wish in self.forced:
            if wish["job"] in run.job and run.role == wish.get("role", run.role):
                self.forced.remove(wish)
                run.shared |= {"also": wish.get("also"), "same": wish.get("same")}
                return wish["fate"], wish.get("seconds", 5.0)
        known = run.role if run.role in (AGENT, CHECK, INSPECT, PROBE) else "merge"
        fate = self._dice.weighed(self._fates[known], "fate", run.job)
        long = {AGENT: (20.0, 240.0), CHECK: (1.0, 40.0)}.get(run.role, (0.5, 15.0))
        if run.role == AGENT and fate == "good" and self._dice.chance(0.08, "blocked", run.job):
            fate = "blocked"
        if self.all_good:
            fate = "good"
        return fate, self._dice.between(*long, "duration", run.job)

    async def play(self, run: Run) -> End:
        fate, seconds = self.fate(run)
        run.shared["fate"] = fate
        if fate == "hangs":
            seconds = 86400.0
        if run.role == AGENT:
            return await self._agent(run, fate, seconds)
        if run.role == CHECK:
            return await self._check(run, fate, seconds)
        if run.role == INSPECT:
            return await self._inspect(run, seconds)
        if run.role == PROBE:
            return await self._probe(run, fate, seconds)
        return await self._merge(run, fate, seconds)

    def killed(self, run: Run, code: int = 143) -> tuple[Object, ...]:
        """The last words of a pod that is told to end while it works."""
        if run.role != AGENT:
            return (objects.ended(run.role, code),)
        return (
            objects.ended("recorder", said=objects.recorded(usage=self._usage(run), sha="")),
            objects.ended(AGENT, code),
        )

    # --- agents -----------------------------------------------------------------------------------

    def _usage(self, run: Run) -> protocol.Usage:
        """Tokens so far, by time: no two agents use the same."""
        seconds = asyncio.get_running_loop().time() - run.since
        rate = self._dice.between(50, 500, "tokens", run.job)
        return protocol.Usage(input=int(rate * seconds) + 1, output=int(rate * seconds / 7) + 1)

    async def _agent(self, run: Run, fate: str, seconds: float) -> End:
        begun = run.config("checkout")
        if begun["ref"] not in self.remote.refs:
            unknown = objects.failed("checkout", "RefNotFound")
            return End((unknown, objects.waiting(AGENT)), "Failed")
        run.base = self.remote.refs[begun["ref"]]
        left, stopped = seconds, False
        while left > 0 and not stopped:
            await asyncio.sleep(min(HEARTBEAT, left))
            left -= HEARTBEAT
            stopped = self._beat(run)
        await asyncio.sleep(1.0)  # its last tokens are in no heartbeat
        return self._agent_ends(run, fate, stopped)

    def _beat(self, run: Run) -> bool:
        """A heartbeat through the server; whether its answer asks for an end."""
        key = Key(run.key.namespace, run.labels[labels.SESSION])
        session = self._store.find(SESSIONS, key)
        if run.shared.get("cut") or session is None or session["metadata"]["uid"] != run.owner:
            return False
        usage = UsageCounts(input=self._usage(run).input, output=self._usage(run).output)
        report = {
            "seq": int(self._store.seconds),
            "heartbeatTime": self._store.now().isoformat(),
            "usage": usage.dump(),
        }
        self._store.merge(SESSIONS, key, {"status": {"report": report}}, "status")
        return "stop" in session["spec"]

    def _agent_ends(self, run: Run, fate: str, stopped: bool) -> End:
        finals = {
            "bad": protocol.FinalRecord("AgentFailed", "it cannot be done"),
            "limited": protocol.FinalRecord("UsageLimited", "come back later", retry_after=120),
        }
        if fate == "blocked":
            others = self._others(run)
            finals[fate] = protocol.FinalRecord("Blocked", "the others", waits_for=others)
        paths = () if fate == "empty" else (self._path(run), *self._also(run))
        change = dict.fromkeys(paths, self._text(run))
        out = self.remote.push_work(run.config("pusher")["ref"], run.base, change)
        seen = objects.recorded(
            base=out.base,
            sha=out.sha,
            tree=out.tree,
            changed=self._told(out.base, out.sha, run.config("recorder")["protected"]),
            usage=self._usage(run),
            final=finals.get(fate, protocol.FinalRecord("Succeeded")),
            stopped="Cancelled" if stopped else None,
        )
        pusher = objects.ended("pusher", said=out)
        if fate == "refused":
            pusher = objects.failed("pusher", "CredentialRefused")
        agent = objects.ended(AGENT, 1 if fate == "bad" else 0)
        if fate == "oom":
            agent = objects.ended(AGENT, 137, reason="OOMKilled")
        said = objects.ended("recorder", said=seen)
        phase = "Failed" if agent["state"]["terminated"]["exitCode"] else "Succeeded"
        return End((objects.ended("checkout"), pusher, said, agent), phase)

    def _text(self, run: Run) -> str:
        name = run.labels[labels.TASK]
        same = run.shared.get("same") or self._dice.chance(self.repeats, "repeats", name)
        return f"work of {name}" if same else f"{run.job} {run.uid}"

    def _others(self, run: Run) -> tuple[str, ...]:
        """Names of Tasks, whosever they are; of half of those that wait, none."""
        if self._dice.chance(0.5, "names", run.job):
            return ()
        names = sorted(task["metadata"]["name"] for task in self._store.all(TASKS))
        return tuple(dict.fromkeys(self._dice.pick(names, "awaits", run.job, n) for n in range(2)))

    def _told(self, base: str, sha: str, protected: Iterable[str]) -> protocol.Changed:
        """What is said of a commit, by the paths that the Job was told to be protected."""
        assert self.witness is not None
        changed = self.remote.changed(base, sha, protected)
        self.witness.made(sha, changed, frozenset(protected))
        return changed

    def _also(self, run: Run) -> Iterable[str]:
        """What people may have to see, which the agent changes besides."""
        wanted: list[str] | None = run.shared.get("also")
        if wanted is not None:
            return wanted
        name = run.labels[labels.TASK]
        risky = (p for p, often in RISKS.items() if self._dice.chance(often, "risk", p, run.job))
        return [path.format(name) for path in risky]

    def _path(self, run: Run) -> str:
        name = run.labels[labels.TASK]
        task = self._store.find(TASKS, Key(run.key.namespace, name))
        files = task["spec"].get("files") if task is not None else None
        return str(files[0]) if files else f"{name}.py"

    # --- checks -----------------------------------------------------------------------------------

    async def _check(self, run: Run, fate: str, seconds: float) -> End:
        assert self.witness is not None
        begun = run.config("checkout")
        problem = self.remote.checkout(begun["ref"], begun["sha"])
        if problem is not None:
            first = objects.ended("checkout", 1, said=problem)
            return End((first, objects.waiting(CHECK)), "Failed")
        if fate == "hangs":
            self.witness.judged(run, begun["sha"], GOES_ON)
        await asyncio.sleep(seconds)
        if begun["base"] is not None and begun["worktree"] is not None:
            return self._comparison(run, begun["sha"], fate)
        code = {"bad": 1, "tool": 127}.get(fate, 0)
        reason = "OOMKilled" if fate == "oom" else None
        code = 137 if reason else code
        verdict = {0: "Passed", 127: FOUND_NOTHING, 137: OUT_OF_MEMORY}.get(code, "Failed")
        self.witness.judged(run, begun["sha"], verdict)
        end = objects.ended(CHECK, code, reason=reason, said="what it printed")
        return End((objects.ended("checkout"), end), "Failed" if code else "Succeeded")

    def _comparison(self, run: Run, sha: str, fate: str) -> End:
        """What lint finds in the work is new, or was there before; or there is no telling."""
        assert self.witness is not None
        verdict = {"bad": "Failed", "tool": "Skipped"}.get(fate, "Passed")
        self.witness.judged(run, sha, verdict)
        said = objects.ended(CHECK, said=protocol.CheckVerdict("lint", verdict))
        return End((objects.ended("checkout"), said))

    async def _inspect(self, run: Run, seconds: float) -> End:
        assert self.witness is not None
        begun, config = run.config("checkout"), run.config(INSPECT)
        problem = self.remote.checkout(begun["ref"], begun["sha"])
        if problem is not None:
            first = objects.ended("checkout", 1, said=problem)
            return End((first, objects.waiting(INSPECT)), "Failed")
        await asyncio.sleep(seconds)
        self.witness.judged(run, begun["sha"], "Passed")
        said = tuple(protocol.CheckVerdict(c["name"], "Passed") for c in config["checks"])
        end = objects.ended(INSPECT, said=protocol.InspectResult(said))
        return End((objects.ended("checkout"), end))

    async def _probe(self, run: Run, fate: str, seconds: float) -> End:
        await asyncio.sleep(seconds)
        if fate == "silent":
            return End((objects.ended(PROBE, 137),), "Failed")
        names = [container["name"] for container in run.pod["spec"]["containers"]]
        good = ProbeResult(too_strong=fate == "strong")
        ends = [objects.ended(name, said=good) for name in names]
        if fate == "bad":
            ends[1] = objects.failed(names[1], "CredentialRefused", "403")
        return End(tuple(ends), "Failed" if fate == "bad" else "Succeeded")

    # --- what moves refs --------------------------------------------------------------------------

    async def _merge(self, run: Run, fate: str, seconds: float) -> End:
        await asyncio.sleep(seconds / 2)
        if fate == "bad":
            return End((objects.failed(run.role, "BranchProtected", "hook declined"),), "Failed")
        result = self._moved(run)
        await asyncio.sleep(seconds / 2)
        if fate == "silent":  # it did its work, and nobody hears of it
            return End((objects.ended(run.role, 137),), "Failed")
        code = 1 if isinstance(result, protocol.Failure) else 0
        end = objects.ended(run.role, code, said=result)
        return End((end,), "Failed" if code else "Succeeded")

    def _moved(self, run: Run) -> Any:
        config, remote = run.config(run.role), self.remote
        match run.role:
            case "begin":
                wanted = {n: config[n] for n in ("target", "integration", "again")}
                return remote.begin(RunBegin(job=run.job, **wanted))
            case "format":
                return self._formatted(run, config)
            case "prepare":
                wanted = {n: config[n] for n in ("ref", "sha", "onto", "candidate", "merge")}
                message = config["commit"]["message"]
                asked = RunPrepare(job=run.job, message=message, **wanted)
                return self._seen(remote.prepare(asked, config["protected"]), config)
        assert run.role == LAND
        assert self.witness is not None
        wanted = {n: config[n] for n in ("ref", "sha", "tree", "onto", "expect")}
        before = remote.refs[config["onto"]]
        result = remote.land(RunLand(job=run.job, **wanted))
        if remote.refs[config["onto"]] != before:
            self.witness.pushed(run, config["onto"], config["sha"])
        return result

    def _seen(self, result: Any, config: Any) -> Any:
        """The result of who may have made a commit."""
        if not isinstance(result, protocol.Failure) and result.sha not in ("", result.base):
            assert self.witness is not None
            self.witness.made(result.sha, result.changed, frozenset(config["protected"]))
        return result

    def _formatted(self, run: Run, config: Any) -> Any:
        begun, message = run.config("checkout"), config["commit"]["message"]
        assert self.witness is not None
        nothing = CheckSpec("auto_format", "gate", "auto_format", required=False)
        wanted = {"ref": begun["ref"], "pinned_sha": begun["pinned_sha"], "message": message}
        more = {name: config[name] for name in ("sha", "base", "to")}
        asked = RunFormat(job=run.job, check=nothing, **wanted, **more)
        result = self._seen(self.remote.format(asked, config["protected"]), config)
        if not isinstance(result, protocol.Failure):
            self.witness.judged(run, result.sha, "Passed")
        return result
