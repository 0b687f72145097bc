"""Which checks a tree must pass: the signals of the work, the rules, and its Project's gates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bernstein.api.pod import Check
from bernstein.api.programs.judge import Asked
from bernstein.api.project import ProjectSpec
from bernstein.api.projects.credentials import JudgingModel
from bernstein.api.projects.gates import Gates, GateSettings
from bernstein.api.projects.workplace import WorkplaceSpec
from bernstein.api.reasons import VerdictReason
from bernstein.api.signals import Signal
from bernstein.api.vocabulary import condition_of
from bernstein.checks import gates, prompts, signals
from bernstein.checks.asks import Asks
from bernstein.checks.gate import Command, Formats, Gate, Plugin, Writes, asking_plugin
from bernstein.checks.gates import lint, lint_suppression, type_check
from bernstein.checks.reading import UNKNOWN
from bernstein.checks.signal import SignalCommand
from bernstein.checks.spec import SIGNAL, SIGNAL_TIMEOUT, CheckSpec, Database, Subject


def required_checks(
    declared: Iterable[Signal],
    project: ProjectSpec,
    subject: Subject,
    ruled: Iterable[CheckSpec] = (),
    *,
    is_last: bool = False,
) -> tuple[CheckSpec, ...]:
    """Every check of this tree, in order: the janitor's signals, the rules, then the gates.

    `is_last`: no more attempts are made because a model asks for one.
    """
    janitor = tuple(_signal(i, s, project, is_last=is_last) for i, s in enumerate(declared))
    gates_ = _known.of(project, subject) if project.gates.enabled else ()
    return (*(_in_checkout(check, project) for check in (*janitor, *ruled)), *gates_)


def _in_checkout(check: CheckSpec, project: ProjectSpec) -> CheckSpec:
    """The check, with what is fetched for it and run before it. That may be the work's own code, so
    nothing is run where the work's code is not to run: before tools that only read it, classes, and
    what is configured by the pinned commit."""
    is_there = isinstance(project, WorkplaceSpec) and project.repository.lfs
    if check.command is not None and is_there:
        check = replace(check, lfs=True)
    setup = project.setup
    kept_apart = check.alone or check.plugin is not None or bool(check.pinned)
    if setup is None or check.command is None or kept_apart:
        return check
    return replace(check, setup=setup.command, setup_seconds=setup.timeout_seconds)


class _KnownGates:
    """The gates of the Projects that were asked about last: each look at each Task asks, and what
    they ask is digested once for all of them."""

    def __init__(self, most: int = 200) -> None:
        self._most = most
        self._known: dict[tuple[int, Subject], tuple[ProjectSpec, tuple[CheckSpec, ...]]] = {}
        """By the identity of a specification, which is kept so that no other one gets it."""

    def of(self, project: ProjectSpec, subject: Subject) -> tuple[CheckSpec, ...]:
        known = self._known.pop((id(project), subject), None)
        if known is None:
            gates_ = (_in_checkout(gate, project) for gate in _gates(project, subject))
            known = project, tuple(gates_)
        self._known[id(project), subject] = known  # last of all
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return known[1]


_known = _KnownGates()


def _signal(index: int, signal: Signal, project: ProjectSpec, *, is_last: bool) -> CheckSpec:
    name, kind = f"{SIGNAL}{index}", signals.of(signal.type)
    if isinstance(kind.runs, Asks):
        model = _model(project)
        return CheckSpec(
            name=name,
            kind="signal",
            title=kind.title(signal),
            required=True,
            asks=_asked(name, kind.runs, model, criteria=signal.criteria or ""),
            asked_of=_asked_of(model),
            is_last=is_last,
        )
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
        image=project.toolchain.image if command else None,
        launched=isinstance(kind.runs, SignalCommand) and kind.runs.launched,
        timeout=signal.timeout_seconds or SIGNAL_TIMEOUT,
        reads=None if command else reads,
    )


def _model(project: ProjectSpec, name: str | None = None) -> JudgingModel | None:
    """The model of that name, without a name the first. None: the Project does not have it."""
    return next((model for model in project.models if name in (None, model.name)), None)


def _asked(
    name: str,
    asks: Asks,
    model: JudgingModel | None,
    *,
    criteria: str = "",
    least: float | None = None,
) -> Asked:
    return Asked(
        name=name,
        prompt=prompts.current(asks.prompt),
        form=asks.form,
        criteria=criteria,
        model=model.name if model is not None else "",
        least=least,
        tokens=asks.tokens,
    )


def _asked_of(model: JudgingModel | None) -> tuple[str, ...]:
    return (model.provider, model.base_url or "") if model is not None else ()


def _gates(project: ProjectSpec, subject: Subject) -> Iterable[CheckSpec]:
    for settings in _pipeline(project.gates):
        if settings.enabled:
            yield _gate(settings, gates.of(settings.name), project, subject)


def _pipeline(settings: Gates) -> Iterable[GateSettings]:
    """What the Project lists, in its order; before that the defaults where it extends them, and
    the defaults alone where it lists nothing."""
    if settings.pipeline and settings.extends is None:
        return _guarded(settings.pipeline)
    defaults = {gate.name: GateSettings(name=gate.name) for gate in gates.GATES if gate.default_on}
    # A name that is there keeps its place, and gets the Project's settings.
    return (defaults | {each.name: each for each in settings.pipeline}).values()


_SILENCED = (lint.GATE.name, type_check.GATE.name)


def _guarded(pipeline: tuple[GateSettings, ...]) -> tuple[GateSettings, ...]:
    """With the gate that looks for comments by which a file silences a linter, before the first one
    and as strict as the strictest: without it their verdicts are the work's to choose. A list that
    names it says itself where it runs, and whether."""
    silenced = [each for each in pipeline if each.enabled and each.name in _SILENCED]
    if not silenced or any(each.name == lint_suppression.GATE.name for each in pipeline):
        return pipeline
    required = None if any(each.required is not False for each in silenced) else False
    guard = GateSettings(name=lint_suppression.GATE.name, required=required)
    place = pipeline.index(silenced[0])
    return (*pipeline[:place], guard, *pipeline[place:])


def _gate(settings: GateSettings, gate: Gate, project: ProjectSpec, subject: Subject) -> CheckSpec:
    if isinstance(gate.runs, Asks) and not settings.command:
        return _asking_gate(settings, gate, gate.runs, project, subject)
    if isinstance(gate.runs, Writes):
        return _writing_gate(settings, gate, gate.runs, project, subject)
    if isinstance(gate.runs, Formats):
        return _formatting_gate(settings, gate, subject)
    plugin = _plugin(settings, gate)
    # A class is asked in its pod for which changes it runs.
    usual = gate.condition if plugin is None else "always"
    condition = condition_of(settings.condition) if settings.condition else usual
    built_in = _built_in(settings, gate, project.gates)
    ours = None if settings.command else built_in
    command = settings.command or (built_in.command if built_in else None)
    command = asking_plugin(gate.name) if plugin is not None else command
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
        tolerance=_demand(settings.tolerance, ours.tolerance if ours else None),
        least=_demand(settings.minimum_score, ours.least if ours else None),
        tool=ours.tool if ours else None,
        database=_database(settings, ours),
        plugin=plugin,
        excused=bool(command) and project.gates.allow_base_failures,
        by_file=ours.by_file if ours else False,
        lasts=gate.lasts,
        alone=ours is not None and not gate.runs_code,
        reads=None if command else Check(name=gate.name, type=gate.name),
        condition=condition,
        paths=settings.paths,
        skipped=None if subject.meets(condition) else VerdictReason.CONDITION_NOT_MET,
    )


def _database(settings: GateSettings, command: Command | None) -> Database | None:
    """The Project's own, where the gate asks one."""
    own, variable = settings.database, command.database if command is not None else None
    if own is None or variable is None:
        return None
    return Database(variable, own.url, (own.ca.name, own.ca.key) if own.ca is not None else None)


def _plugin(settings: GateSettings, gate: Gate) -> Plugin | None:
    """What a class is asked besides its verdict; None: it is none. A built-in gate never is."""
    if settings.plugin is None or gate.runs is not UNKNOWN:
        return None
    return Plugin(settings.required is None, settings.condition is None)


def _formatting_gate(settings: GateSettings, gate: Gate, subject: Subject) -> CheckSpec:
    """What is asked for its verdict; `formatter` says what runs."""
    condition = condition_of(settings.condition) if settings.condition else gate.condition
    return CheckSpec(
        name=gate.name,
        kind="gate",
        title=gate.name,
        required=False,
        formats=True,
        condition=condition,
        skipped=None if subject.meets(condition) else VerdictReason.CONDITION_NOT_MET,
    )


def _asking_gate(
    settings: GateSettings, gate: Gate, asks: Asks, project: ProjectSpec, subject: Subject
) -> CheckSpec:
    condition = condition_of(settings.condition) if settings.condition else gate.condition
    required = gate.required if settings.required is None else settings.required
    model = _model(project, settings.model)
    least = _demand(settings.minimum_score, asks.least)
    return CheckSpec(
        name=gate.name,
        kind="gate",
        title=gate.name,
        required=required and not asks.advises,
        timeout=project.gates.timeout_seconds,
        asks=_asked(gate.name, asks, model, least=least),
        asked_of=_asked_of(model),
        blocks=not asks.may_only_tell or settings.block_on_no is not False,
        condition=condition,
        skipped=None if subject.meets(condition) else VerdictReason.CONDITION_NOT_MET,
    )


def _writing_gate(
    settings: GateSettings, gate: Gate, writes: Writes, project: ProjectSpec, subject: Subject
) -> CheckSpec:
    """What a model is asked, and what runs its answer: two Jobs, one verdict."""
    asking_gate = _asking_gate(settings, gate, writes.asks, project, subject)
    return replace(
        asking_gate,
        command=settings.command or writes.command,
        image=settings.image or project.toolchain.image,
        timeout=settings.timeout_seconds or project.gates.timeout_seconds,
        test="",
    )


def _built_in(settings: GateSettings, gate: Gate, project: Gates) -> Command | None:
    """The command of the gate itself, for the severity that the Project asks for, and the tests
    that it runs."""
    command = gate.runs if isinstance(gate.runs, Command) else None
    if command is None:
        return None
    if command.of_severity is not None and settings.severity is not None:
        return command.of_severity(settings.severity)
    tests = next((each.command for each in project.pipeline if each.name == "tests"), None)
    if command.with_tests is not None and tests is not None:
        return command.with_tests(tests)
    return command


def formatter(project: ProjectSpec) -> CheckSpec | None:
    """What formats the work before it is judged; None: the Project does not ask for that."""
    for settings in _pipeline(project.gates) if project.gates.enabled else ():
        runs = gates.of(settings.name).runs
        if settings.enabled and isinstance(runs, Formats):
            return CheckSpec(
                name=settings.name,
                kind="gate",
                title=settings.name,
                required=False,
                command=settings.command or runs.command,
                image=settings.image or project.toolchain.image,
                timeout=settings.timeout_seconds or project.gates.timeout_seconds,
                pinned=runs.pinned,
                paths=settings.paths,
            )
    return None


def _demand(of_project: float | None, of_gate: float | None) -> float | None:
    """What the gate asks for, where it asks for such a thing."""
    return of_gate if of_gate is None or of_project is None else of_project


def unanswerable(project: ProjectSpec) -> str | None:
    """The name of a gate that work has to pass, and that asks a model which the Project does not
    have; None: there is none."""
    if not project.gates.enabled:
        return None
    everything = Subject(
        any_changed=True, python_changed=True, tests_changed=True, deps_changed=True
    )
    asking_gates = (c for c in _known.of(project, everything) if c.asks is not None)
    return next((c.name for c in asking_gates if c.required and c.asks and not c.asks.model), None)


def executing(checks: Iterable[CheckSpec]) -> list[CheckSpec]:
    """Checks that need a Job of their own."""
    return [c for c in checks if c.executes and c.skipped is None]


def reading(checks: Iterable[CheckSpec]) -> list[CheckSpec]:
    """Checks that execute nothing."""
    return [c for c in checks if c.reads is not None and c.skipped is None]


def asking(checks: Iterable[CheckSpec]) -> list[CheckSpec]:
    """Checks that a model answers, or writes a test for that is not there yet; without a model
    nobody can be asked."""
    there = (c for c in checks if c.skipped is None and not c.test)
    return [c for c in there if c.asks is not None and c.asks.model]
