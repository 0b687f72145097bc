"""Which checks a tree must pass: the signals of the work, and the gates of its Project."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.pod import Check
from bernstein.api.project import Gates, GateSettings, ProjectSpec
from bernstein.api.reasons import VerdictReason
from bernstein.api.signals import Signal
from bernstein.checks import gates, signals
from bernstein.checks.gate import Command, Gate
from bernstein.checks.signal import SignalCommand
from bernstein.checks.spec import SIGNAL, SIGNAL_TIMEOUT, CheckSpec, Subject


def required_checks(
    declared: Iterable[Signal], project: ProjectSpec, subject: Subject
) -> tuple[CheckSpec, ...]:
    """Every check of this tree, in order: the janitor's signals, then the gates."""
    image = project.toolchain.image
    janitor = tuple(_signal(i, signal, image) for i, signal in enumerate(declared))
    if not project.gates.enabled:
        return janitor
    return janitor + tuple(_gates(project, subject))


def _signal(index: int, signal: Signal, image: str) -> CheckSpec:
    name, kind = f"{SIGNAL}{index}", signals.of(signal.type)
    command = kind.runs.command(signal) if isinstance(kind.runs, SignalCommand) else None
    reads = Check(
        name=name,
        type=signal.type,
        path=signal.path or "",
        value=signal.value or "",
        contains=signal.contains or "",
        regex=bool(signal.regex),
    )
    return CheckSpec(
        name=name,
        kind="signal",
        title=kind.title(signal),
        required=True,
        command=command,
        image=image if command else None,
        timeout=signal.timeout_seconds or SIGNAL_TIMEOUT,
        reads=None if command else reads,
    )


def _gates(project: ProjectSpec, subject: Subject) -> Iterable[CheckSpec]:
    for settings in _pipeline(project.gates):
        if settings.enabled:
            yield _gate(settings, gates.of(settings.name), project, subject)


def _pipeline(settings: Gates) -> Iterable[GateSettings]:
    """What the Project lists, in its order; before that the defaults where it extends them, and
    the defaults alone where it lists nothing."""
    if settings.pipeline and settings.extends is None:
        return settings.pipeline
    defaults = {gate.name: GateSettings(name=gate.name) for gate in gates.GATES if gate.default_on}
    # A name that is there keeps its place, and gets the Project's settings.
    return (defaults | {each.name: each for each in settings.pipeline}).values()


def _gate(settings: GateSettings, gate: Gate, project: ProjectSpec, subject: Subject) -> CheckSpec:
    condition = settings.condition or gate.condition
    built_in = _built_in(settings, gate)
    ours = None if settings.command else built_in
    command = settings.command or (built_in.command if built_in else None)
    return CheckSpec(
        name=gate.name,
        kind="gate",
        title=gate.name,
        required=gate.required if settings.required is None else settings.required,
        command=command,
        image=(settings.image or project.toolchain.image) if command else None,
        timeout=settings.timeout_seconds or project.gates.timeout_seconds,
        pinned=built_in.pinned if built_in else (),
        findings=ours.findings if ours else None,
        output=ours.output if ours else "ruff",
        against_base=ours.against_base if ours else False,
        tolerance=_tolerance(settings, ours),
        excused=bool(command) and project.gates.allow_base_failures,
        by_file=ours.by_file if ours else False,
        reads=None if command else Check(name=gate.name, type=gate.name),
        condition=condition,
        skipped=None if subject.meets(condition) else VerdictReason.CONDITION_NOT_MET,
    )


def _built_in(settings: GateSettings, gate: Gate) -> Command | None:
    """The command of the gate itself, for the severity that the Project asks for."""
    command = gate.runs if isinstance(gate.runs, Command) else None
    if command is None or command.of_severity is None or settings.severity is None:
        return command
    return command.of_severity(settings.severity)


def _tolerance(settings: GateSettings, ours: Command | None) -> float | None:
    if ours is None or ours.tolerance is None:
        return None
    return ours.tolerance if settings.tolerance is None else settings.tolerance


def executing(checks: Iterable[CheckSpec]) -> list[CheckSpec]:
    """Checks that need a Job of their own."""
    return [c for c in checks if c.command is not None and c.skipped is None]


def reading(checks: Iterable[CheckSpec]) -> list[CheckSpec]:
    """Checks that execute nothing."""
    return [c for c in checks if c.reads is not None and c.skipped is None]
