"""Which checks judge a tree, and what their pods' ends mean."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal, TypeVar

from bernstein.api.pod import Check, InspectResult, load
from bernstein.api.project import Gate, GateCondition, Gates, ProjectSpec
from bernstein.api.signals import Signal
from bernstein.api.task import CheckResult
from bernstein.core import pods
from bernstein.core.pods import Diagnosis, JobView, Object
from bernstein.core.sanitise import ELLIPSIS
from bernstein.core.sanitise import text as sanitise

SIGNAL_TIMEOUT = 120
EXCERPT = 1500
_PRINTED = 1400
"""Of an excerpt, for what a command printed; the rest is for what is said of it."""
_SLACK = 1
"""The kubelet tells times in whole seconds."""
DIGEST = 32
INSPECT = "inspect"
"""The one Job of all checks that only read."""

SIGNAL = "signal-"
"""The beginning of a signal's name; what follows is its place among the Task's signals."""

LINTER_FILES = (
    "ruff.toml",
    ".ruff.toml",
    "pyproject.toml",
    "setup.cfg",
    ".flake8",
    ".eslintrc.json",
    ".eslintignore",
    ".gitignore",
    ".ignore",
)
"""A linter is configured by the pinned commit, not by the agent's; what it ignores is, too."""


@dataclass(frozen=True)
class CheckSpec:
    """One signal or gate, decided: run it, or skip it for a reason."""

    name: str
    kind: Literal["signal", "gate"]
    title: str
    required: bool
    command: str | None = None
    """Set: executes in a Job of its own; None: reads, in the inspect Job."""
    image: str | None = None
    """Of a check that executes."""
    timeout: int = SIGNAL_TIMEOUT
    pinned: tuple[str, ...] = ()
    reads: Check | None = None
    condition: GateCondition = "always"
    skipped: str | None = None

    @property
    def digest(self) -> str:
        """Names what is asked; a verdict on anything else is no answer to it."""
        asked = [self.name, self.required, self.command, self.image, self.pinned, self.condition]
        reads = None if self.reads is None else asdict(self.reads)
        text = json.dumps([*asked, reads], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


@dataclass(frozen=True)
class Subject:
    """Facts about the change that gate conditions look at."""

    any_changed: bool
    python_changed: bool
    tests_changed: bool
    deps_changed: bool

    def meets(self, condition: GateCondition) -> bool:
        return condition == "always" or bool(getattr(self, condition))


@dataclass(frozen=True)
class _BuiltIn:
    enabled: bool
    condition: GateCondition
    command: str | None = None
    pinned: tuple[str, ...] = ()


_LINT = "ruff check --no-cache --no-respect-gitignore ."
"""Of the whole tree: an ignore file of the agent's would hide its own files from the linter."""

_GATES: Mapping[str, _BuiltIn] = {
    "lint": _BuiltIn(True, "always", _LINT, LINTER_FILES),
    "tests": _BuiltIn(False, "python_changed", "python3 -m pytest -q -p no:cacheprovider"),
    "pii_scan": _BuiltIn(True, "any_changed"),
    "merge_conflict": _BuiltIn(False, "any_changed"),
}


def plan_checks(
    signals: Iterable[Signal], project: ProjectSpec, subject: Subject
) -> tuple[CheckSpec, ...]:
    """Every check of this tree, in order: the janitor's signals, then the gates."""
    image = project.toolchain.image
    janitor = tuple(_signal(i, signal, image) for i, signal in enumerate(signals))
    if not project.gates.enabled:
        return janitor
    return janitor + tuple(_gates(project, subject))


def _signal(index: int, signal: Signal, image: str) -> CheckSpec:
    name = f"{SIGNAL}{index}"
    if signal.type == "test_passes":
        return CheckSpec(
            name=name,
            kind="signal",
            title=f"test_passes: {signal.command}"[:300],
            required=True,
            command=signal.command,
            image=image,
            timeout=signal.timeout_seconds or SIGNAL_TIMEOUT,
        )
    detail = signal.path or signal.value or ""
    if signal.contains is not None:
        detail += f" contains {signal.contains!r}"
    reads = Check(
        name=name,
        type=signal.type,
        path=signal.path or "",
        value=signal.value or "",
        contains=signal.contains or "",
        regex=bool(signal.regex),
    )
    title = f"{signal.type}: {detail}"[:300]
    return CheckSpec(name=name, kind="signal", title=title, required=True, reads=reads)


def _gates(project: ProjectSpec, subject: Subject) -> Iterable[CheckSpec]:
    configured = {gate.name: gate for gate in project.gates.pipeline}
    names = [*_GATES, *(name for name in configured if name not in _GATES)]
    for name in names:
        default = _GATES.get(name, _BuiltIn(True, "any_changed"))
        gate = configured.get(name) or Gate(name=name, enabled=default.enabled)
        if gate.enabled:
            yield _gate(gate, default, project, subject)


def _gate(gate: Gate, default: _BuiltIn, project: ProjectSpec, subject: Subject) -> CheckSpec:
    condition = gate.condition or default.condition
    command = gate.command or default.command
    return CheckSpec(
        name=gate.name,
        kind="gate",
        title=gate.name,
        required=gate.required is not False,
        command=command,
        image=(gate.image or project.toolchain.image) if command else None,
        timeout=gate.timeout_seconds or project.gates.timeout_seconds,
        pinned=default.pinned,
        reads=None if command else Check(name=gate.name, type=gate.name),
        condition=condition,
        skipped=None if subject.meets(condition) else "ConditionNotMet",
    )


def executing(checks: Iterable[CheckSpec]) -> list[CheckSpec]:
    """Checks that need a Job of their own."""
    return [c for c in checks if c.command is not None and c.skipped is None]


def reading(checks: Iterable[CheckSpec]) -> list[CheckSpec]:
    """Checks that share the inspect Job."""
    return [c for c in checks if c.reads is not None and c.skipped is None]


Wanted = TypeVar("Wanted")


def to_start(
    checks: Iterable[CheckSpec],
    wanted: Mapping[str, Wanted],
    jobs: Mapping[str, JobView],
    now: datetime,
    gates: Gates,
) -> tuple[Wanted, ...]:
    """Those of the Jobs `wanted`, by check and in order, that may be started now.

    None waits for a Job that had its time.
    """
    missing = [check for check in wanted if check not in jobs]
    late = {c.name for c in checks if c.name in jobs and _is_overdue(c, jobs[c.name], now)}
    running = sum(not job.ended for check, job in jobs.items() if check not in late)
    if gates.execution == "Sequential":
        janitors = [check for check in missing if _is_janitors(check)]
        missing = janitors or missing[: 0 if running else 1]
    return tuple(wanted[check] for check in missing[: max(0, gates.max_parallel - running)])


def _is_janitors(check: str) -> bool:
    """Of a completion signal, or the Job that also reads for the signals."""
    return check == INSPECT or check.startswith(SIGNAL)


def verdicts(
    checks: Iterable[CheckSpec], jobs: Mapping[str, JobView], now: datetime, gates: Gates
) -> tuple[CheckResult, ...] | None:
    """All verdicts, once every Job has ended or had its time; None before.

    `jobs` is by check name. Jobs that had their time may still run.
    """
    in_turn = gates.execution == "Sequential"
    results: list[CheckResult] = []
    inspected = _inspected(jobs.get(INSPECT))
    for check in checks:
        if check.skipped is not None:
            results.append(_result(check, "Skipped", check.skipped))
        elif check.command is not None:
            job = jobs.get(check.name)
            if job is None and in_turn and not passed(results):
                results.append(_result(check, "Skipped", "NotReached"))
            elif job is not None and _is_overdue(check, job, now):
                results.append(_timed_out(check))
            elif job is None or not job.ended:
                return None
            else:
                results.append(_executed(check, job))
        elif inspected is None:
            return None
        else:
            results.append(inspected(check))
    return tuple(results)


def _result(check: CheckSpec, verdict: str, reason: str = "", excerpt: str = "") -> CheckResult:
    return CheckResult.model_validate(
        {
            "name": check.name,
            "kind": check.kind,
            "title": check.title,
            "required": check.required,
            "asked": check.digest,
            "verdict": verdict,
            "reason": reason,
            "excerpt": sanitise(excerpt, EXCERPT),
        }
    )


Judge = Callable[[CheckSpec], CheckResult]


def _inspected(job: JobView | None) -> Judge | None:
    """What the inspect Job says of each check, once it has ended."""
    if job is None or not job.ended:
        return None
    problem = _inspect_problem(job)
    if problem is not None:
        return lambda check: _result(check, "Errored", problem.reason, problem.message)
    ended = pods.terminated(job.pod or {}, INSPECT) or {}
    try:
        said = {v.name: v for v in load(InspectResult, ended.get("message") or "").verdicts}
    except ValueError as error:
        text = str(error)
        return lambda check: _result(check, "Errored", "NoVerdict", text)

    def judge(check: CheckSpec) -> CheckResult:
        own = said.get(check.name)
        if own is None:
            return _result(check, "Errored", "NoVerdict", "the inspect Job said nothing of it")
        return _result(check, own.verdict, own.reason, own.excerpt)

    return judge


def _inspect_problem(job: JobView) -> Diagnosis | None:
    if job.pod is None:
        return Diagnosis("PodLost", "the pod is gone")
    problem = pods.failure_of(job.pod, "checkout") or pods.failure_of(job.pod, INSPECT)
    if problem is None and pods.reason(job.pod):
        return Diagnosis(pods.reason(job.pod), "the inspect pod did not finish")
    return problem


def _executed(check: CheckSpec, job: JobView) -> CheckResult:
    """The verdict, and how long the command ran."""
    result = _verdict(check, job)
    took = _seconds(pods.terminated(job.pod or {}, "check") or {})
    return result if took is None else result.model_copy(update={"seconds": round(took)})


def _is_overdue(check: CheckSpec, job: JobView, now: datetime) -> bool:
    """Its time counts from its own start, not from that of its pod."""
    since = pods.running_since(job.pod or {}, "check")
    return since is not None and (now - since).total_seconds() > check.timeout + _SLACK


def _timed_out(check: CheckSpec, excerpt: str = "") -> CheckResult:
    return _result(check, "TimedOut", "Timeout", f"not done after {check.timeout} s\n{excerpt}")


def _printed(ended: Object) -> str:
    """What the command printed last; its summary stands at the end."""
    shown = sanitise(str(ended.get("message") or ""), 4096)
    if len(shown) <= _PRINTED:
        return shown
    cut = shown[-_PRINTED:]
    return f"{ELLIPSIS}\n{cut.partition(chr(10))[2] or cut}"


def _seconds(ended: Object) -> float | None:
    """How long the container ran."""
    begun, end = ended.get("startedAt"), ended.get("finishedAt")
    if not begun or not end:
        return None
    return max(0, (pods.parse_time(end) - pods.parse_time(begun)).total_seconds())


def _verdict(check: CheckSpec, job: JobView) -> CheckResult:
    """What a pod that ran a command means.

    Exit codes come last: a command that traps TERM ends 0.
    """
    pod = job.pod
    if pod is None:
        return _result(check, "Errored", "PodLost", "the pod is gone")
    ended = pods.terminated(pod, "check") or {}
    excerpt = _printed(ended)
    cut_off = _cut_off(check, pod, ended)
    if cut_off is not None:
        return cut_off
    problem = pods.failure_of(pod, "checkout")
    if problem is not None:
        return _result(check, "Errored", problem.reason, problem.message)
    if not ended:
        return _result(check, "Errored", job.failed or "NoVerdict", "the check did not run")
    if ended.get("reason") == "OOMKilled":
        return _result(check, "Failed", "OutOfMemory", "the check ran out of memory")
    took, code = _seconds(ended), ended.get("exitCode")
    if took is not None and took > check.timeout + _SLACK:
        return _timed_out(check, excerpt)
    if ended.get("reason") in ("StartError", "ContainerCannotRun") or code in (127, 128):
        return _result(check, "Errored", "ToolMissing", excerpt or "the command was not found")
    if code == 0:
        return _result(check, "Passed")
    return _result(check, "Failed", "ExitCode", f"exit code {code}\n{excerpt}")


def stuck(jobs: Mapping[str, JobView], now: datetime) -> tuple[str, Diagnosis] | None:
    """The check whose pod does not start without help, and why."""
    for check, job in jobs.items():
        problem = pods.diagnose_waiting(job, now) if not job.ended else None
        if problem is not None:
            return check, problem
    return None


def _cut_off(check: CheckSpec, pod: Object, ended: Object) -> CheckResult | None:
    """The verdict where something from outside ended the pod."""
    if pods.reason(pod) == "DeadlineExceeded" and pods.is_running(pod, "check"):
        took = _seconds(ended)
        if took is not None and took < check.timeout - _SLACK:
            text = f"its pod took so long to start that only {took:.0f} s were left for it"
            return _result(check, "Errored", "StartedLate", text)
        return _timed_out(check, _printed(ended))
    if pods.is_disrupted(pod) or pods.is_deleting(pod):
        return _result(check, "Errored", "Disrupted", "the pod was disrupted")
    if pods.reason(pod) == "Evicted":
        return _result(check, "Failed", "ResourceLimit", str(pod["status"].get("message", "")))
    return None


def passed(results: Iterable[CheckResult]) -> bool:
    """Every required check Passed, was Bypassed, or was Skipped for a reason that excuses it."""
    return all(_excused(r) for r in results if r.required)


def _excused(result: CheckResult) -> bool:
    if result.verdict == "Skipped":
        return result.reason in ("ConditionNotMet", "NoBaseline")
    return result.verdict in ("Passed", "Bypassed")


def rejected(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Required checks that judged, and judged no."""
    return [r for r in results if r.required and r.verdict in ("Failed", "TimedOut")]


def ran_out_of_memory(results: Iterable[CheckResult]) -> bool:
    return any(result.reason == "OutOfMemory" for result in results)


def errored(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Required checks that could not judge."""
    return [r for r in results if r.required and r.verdict == "Errored"]


def digest(base: str, sha: str, tree: str, results: Iterable[CheckResult]) -> str:
    """Names exactly what was judged and how, for may_merge and for approvals."""
    judged = [[r.name, r.kind, r.required, r.verdict, r.reason] for r in results]
    text = json.dumps([base, sha, tree, sorted(judged)], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def feedback(results: Iterable[CheckResult], limit: int = 6000) -> str:
    """What the next attempt is told about the verdicts that rejected this one."""
    parts = []
    for result in rejected(results):
        what = "Completion signal" if result.kind == "signal" else "Quality gate"
        parts.append(f"{what} '{result.title}' {result.verdict}:\n{result.excerpt}".rstrip())
    return "\n\n".join(parts)[:limit]
