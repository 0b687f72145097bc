"""The Jobs of completion signals and gates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from bernstein.api.pod import CHECK, COMPARE, INSPECT, CheckoutConfig, InspectConfig
from bernstein.api.programs.comparing import CompareConfig, Listing
from bernstein.api.programs.setup import SETUP, SETUP_ON_BASE
from bernstein.api.programs.shares import COMPARISON, COMPARISON_WITH_SETUP
from bernstein.api.project import Toolchain
from bernstein.api.projects.repository import Repository
from bernstein.api.projects.workplace import Workplace
from bernstein.checks.scans import reads_of
from bernstein.checks.spec import CheckSpec
from bernstein.controllers.jobs import pod, setup
from bernstein.controllers.jobs.pod import Object, mount, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core import labels, names
from bernstein.core.actions import RunCheck, RunFormat, RunInspect, RunJudge
from bernstein.core.judging import written
from bernstein.core.verification.cached import made_with
from bernstein.core.verification.verdicts import START_SECONDS
from bernstein.places import LAUNCHER, SESSION, TMP, WORKSPACE

_BEFORE = "/before"
_HOME = "/home/check"
_CA, _CA_FILE = "database-ca", "ca.crt"
_TOOLS = "/bernstein/tools"
_SETUPS = {"before": SETUP_ON_BASE, "head": SETUP}
"""By the tree."""


def check_job(
    action: RunCheck, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """The Job of one check that executes a command, on the exact tree and without a credential: the
    work's, or that of the commit before it."""
    check, repository = action.check, project.spec.repository
    fetch = _checkout(action, repository)
    if action.base is None:
        config = replace(fetch, worktree=WORKSPACE, worktree_git=True)
    else:
        config = replace(fetch, base_worktree=WORKSPACE, worktree_git=True)
    tools = action.plugin is not None or bool(check.test)
    config = replace(
        config, plugin=action.plugin, test=check.test or None, tools=_TOOLS if tools else None
    )
    launched = check.launched or check.setup is not None
    brought = [mount("session", SESSION)] if launched else []
    brought += [mount("tools", _TOOLS)] if tools else []
    checkout = pod.checkout(
        replace(config, launcher_to=LAUNCHER) if launched else config,
        project,
        settings,
        mounts=[mount("workspace", WORKSPACE), *brought],
    )
    assert check.command is not None
    toolchain = project.spec.toolchain
    told = {"TOOLS": _TOOLS} if action.plugin else {}
    told |= {"TEST": f"{_TOOLS}/{written.FILE}"} if check.test else {}
    command = _command(CHECK, check.command, check, toolchain, settings, "workspace", told)
    if tools:
        command["volumeMounts"].append(mount("tools", _TOOLS, read_only=True))
    limit = toolchain.resources.ephemeral_storage
    spec = pod.pod(
        project,
        only_ours=False,
        init=[checkout, *_setup(check, toolchain, settings)],
        containers=[command],
        volumes=[
            scratch("workspace", limit),
            scratch("base"),
            scratch("home", limit),
            scratch("tmp", limit),
            *([scratch("session")] if launched else []),
            *([scratch("tools", "64Mi")] if tools else []),
            *pod.checkout_volumes(project, "read"),
        ],
        deadline=check.timeout + check.setup_seconds + START_SECONDS,
        grace=5,
    )
    return answering(action, CHECK, _called(action), project, namespace, owner, spec)


def _setup(
    check: CheckSpec,
    toolchain: Toolchain,
    settings: OperatorSettings,
    name: str = SETUP,
    tree: str = "workspace",
) -> list[Object]:
    """What is run in the tree on that volume before the check; empty: nothing is."""
    if check.setup is None:
        return []
    assert check.image is not None
    return [
        setup.container(
            check.setup,
            check.setup_seconds,
            check.image,
            toolchain.resources,
            settings,
            home=_HOME,
            name=name,
            tree=tree,
            read_only=toolchain.read_only_root_filesystem,
        )
    ]


def _called(action: RunCheck) -> str:
    return names.on_base(action.check.name) if action.is_second else action.check.name


def _checkout(action: RunCheck, repository: Repository) -> CheckoutConfig:
    """Fetches the work, and what is pinned; nothing is written to a worktree yet."""
    return CheckoutConfig(
        remote=pod.remote(repository, "read"),
        ref=action.ref,
        sha=action.sha,
        pinned_sha=action.pinned_sha if action.check.pinned else None,
        pinned_names=action.check.pinned,
        base=action.base,
        paths=action.check.paths if action.changed_since else (),
        changed_since=action.changed_since,
        lfs=action.check.lfs,
    )


def compare_job(
    action: RunCheck, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """The Job that tells which of a check's findings the commit before the work does not have, or
    what is worse than there.

    The tool lists what it finds in either tree, one after the other; then a program of ours
    compares the lists. Where it is known what is in the base, the tool is not run there.
    """
    check, repository = action.check, project.spec.repository
    trees = [mount("workspace", WORKSPACE), mount("before", _BEFORE)]
    tools = [mount("tools", _TOOLS)] if check.tool is not None else []
    session = [mount("session", SESSION)] if check.setup is not None else []
    config = replace(
        _checkout(action, repository),
        worktree=WORKSPACE,
        base_worktree=_BEFORE,
        launcher_to=LAUNCHER if session else None,
        tool=check.tool,
        tools=_TOOLS if tools else None,
    )
    toolchain = project.spec.toolchain
    limit = toolchain.resources.ephemeral_storage
    before = {"before": "before"} if action.known is None else {}
    listed = {**before, "head": "workspace"}
    spec = pod.pod(
        project,
        only_ours=False,
        init=[
            pod.checkout(config, project, settings, mounts=[*trees, *tools, *session]),
            *_listers(check, toolchain, settings, listed),
        ],
        containers=[_comparer(action, trees, listed, settings)],
        volumes=[
            scratch("workspace", limit),
            scratch("before", limit),
            scratch("base"),
            *(scratch(f"list-{of}", "256Mi") for of in listed),
            scratch("home", limit),
            scratch("tmp", limit),
            scratch(COMPARE, "64Mi"),
            *([scratch("session")] if session else []),
            *([scratch("tools", "64Mi")] if tools else []),
            *_database_volumes(check),
            *pod.checkout_volumes(project, "read"),
        ],
        deadline=2 * (check.timeout + check.setup_seconds) + START_SECONDS,
        grace=5,
    )
    return answering(action, CHECK, _called(action), project, namespace, owner, spec)


def _listers(
    check: CheckSpec, toolchain: Toolchain, settings: OperatorSettings, listed: Mapping[str, str]
) -> Iterator[Object]:
    """What runs in each tree, one after the other; `listed`: the trees' volumes."""
    for of, tree in listed.items():
        yield from _setup(check, toolchain, settings, _SETUPS[of], tree)
        yield _lister(check, toolchain, settings, of, tree)


def _comparer(
    action: RunCheck,
    trees: Iterable[Object],
    listed: Iterable[str],
    settings: OperatorSettings,
) -> Object:
    mounts = [
        *({**each, "readOnly": True} for each in trees),
        *(mount(f"list-{of}", f"/list-{of}", read_only=True) for of in listed),
    ]
    own = pod.ours(
        COMPARE, _comparison(action), settings, tmp=COMPARE, mounts=mounts, memory="512Mi"
    )
    return own | {"name": CHECK}


def _comparison(action: RunCheck) -> CompareConfig:
    check, known = action.check, action.known
    return CompareConfig(
        name=check.name,
        root=WORKSPACE,
        head=_listing("head", WORKSPACE),
        base=_listing("before", _BEFORE) if known is None else Listing(_BEFORE, "", ""),
        output=check.output,
        decides=check.against_base,
        tolerance=check.tolerance,
        least=check.least,
        known=known.measured if known is not None else None,
        share=COMPARISON_WITH_SETUP if check.setup is not None else COMPARISON,
    )


def _listing(of: str, tree: str) -> Listing:
    folder = f"/list-{of}"
    return Listing(tree=tree, findings=f"{folder}/findings", code=f"{folder}/code")


def _lister(
    check: CheckSpec, toolchain: Toolchain, settings: OperatorSettings, of: str, tree: str
) -> Object:
    """The container that lists what is found in one tree. It succeeds, whatever the linter does:
    what a list with an error is worth, the program says that reads it."""
    folder = f"/list-{of}"
    lists = check.command if check.against_base else check.findings
    command = f"({lists}) > {folder}/findings; echo $? > {folder}/code"
    env = {**(_of_tool(check, of) if check.tool is not None else {}), **_of_database(check)}
    container = _command(f"list-{of}", command, check, toolchain, settings, tree, env)
    container["volumeMounts"].append(mount(f"list-{of}", folder))
    if check.tool is not None:
        container["volumeMounts"].append(mount("tools", _TOOLS, read_only=True))
    if check.database is not None and check.database.ca is not None:
        container["volumeMounts"].append(mount(_CA, f"/{_CA}"))
    return container


def _of_database(check: CheckSpec) -> dict[str, str]:
    """Where the database is, and whom its tool trusts to tell: in place of what the image says."""
    if check.database is None:
        return {}
    ca = database_ca(f"/{_CA}/{_CA_FILE}") if check.database.ca is not None else {}
    return {check.database.variable: check.database.url, **ca}


def database_ca(file: str) -> dict[str, str]:
    """Variables by which Python's own library and `requests` trust this authority alone."""
    return {"SSL_CERT_FILE": file, "REQUESTS_CA_BUNDLE": file}


def _database_volumes(check: CheckSpec) -> list[Object]:
    if check.database is None or check.database.ca is None:
        return []
    name, key = check.database.ca
    volume = pod.config_map(_CA, name)
    volume["configMap"]["items"] = [{"key": key, "path": _CA_FILE}]
    return [volume]


def _of_tool(check: CheckSpec, of: str) -> Mapping[str, str]:
    """What our program is told by variables."""
    tree = "work" if of == "head" else "base"
    return {"TOOLS": _TOOLS, "TREE": tree, "CHECK_SECONDS": str(check.timeout)}


def _command(
    name: str,
    command: str,
    check: CheckSpec,
    toolchain: Toolchain,
    settings: OperatorSettings,
    tree: str,
    more: Mapping[str, str] = {},
) -> Object:
    """The container that runs a command of the check in the tree on this volume."""
    assert check.image is not None
    return pod.container(
        name,
        check.image,
        ["sh", "-c", command],
        mounts=[
            mount(tree, WORKSPACE),
            mount("home", _HOME),
            mount("tmp", TMP),
            *([mount("session", SESSION, read_only=True)] if check.launched else []),
        ],
        resources=pod.their_resources(toolchain.resources),
        env={
            **pod.GIT_TRUSTS_WORKSPACE,
            "HOME": _HOME,
            "TMPDIR": TMP,
            "CI": "true",
            **more,
        },
        pull=settings.image_pull_policy,
        read_only=toolchain.read_only_root_filesystem,
        workdir=WORKSPACE,
    )


def inspect_job(
    action: RunInspect,
    project: Workplace,
    namespace: str,
    owner: Object,
    settings: OperatorSettings,
) -> Object:
    """A Job of checks that only read; they get objects of git, no tree and no credential."""
    repository = project.spec.repository
    reads = tuple(check.reads for check in action.checks if check.reads is not None)
    merges = any(reads_of(check.type).merges for check in reads)
    pinned = action.pinned_sha if any(reads_of(check.type).pinned for check in reads) else None
    fetch = CheckoutConfig(
        remote=pod.remote(repository, "read"),
        ref=action.ref,
        sha=action.sha,
        history=merges,
        also=(
            action.base,
            *((action.onto,) if merges else ()),
            *((pinned,) if pinned is not None else ()),
        ),
    )
    config = InspectConfig(
        sha=action.sha,
        base=action.base,
        checks=reads,
        onto_ref=action.onto if merges else None,
        scan_seconds=project.spec.gates.timeout_seconds,
        pinned=pinned,
    )
    spec = pod.pod(
        project,
        init=[pod.checkout(fetch, project, settings, mounts=[])],
        containers=[pod.ours(INSPECT, config, settings, tmp="base", mounts=[], memory="512Mi")],
        volumes=[scratch("base"), *pod.checkout_volumes(project, "read")],
        deadline=project.spec.gates.timeout_seconds + START_SECONDS,
        grace=5,
    )
    return answering(action, INSPECT, INSPECT, project, namespace, owner, spec)


def answering(
    action: RunCheck | RunFormat | RunInspect | RunJudge,
    main: str,
    check: str,
    project: Workplace,
    namespace: str,
    owner: Object,
    spec: Object,
) -> Object:
    """The Job whose main container is `main`, with the check's name and digest as labels."""
    return pod.job(
        project,
        name=action.job,
        namespace=namespace,
        owner=owner,
        more_labels={
            labels.JOB: main,
            labels.CHECK: check,
            labels.ASKED: action.asked,
            **_made_with(action, project),
            **pod.owner_label(owner),
        },
        pod=spec,
        stays=0 if isinstance(action, RunFormat) else action.stays,
    )


def _made_with(
    action: RunCheck | RunFormat | RunInspect | RunJudge, project: Workplace
) -> dict[str, str]:
    """The labels that say under what its verdicts are reached, where they may be kept."""
    match action:
        case RunCheck(check=check):
            digest = made_with((check,), project.spec)
        case RunInspect(checks=checks):
            digest = made_with(checks, project.spec)
        case _:
            digest = None
    made = {labels.MADE_WITH: digest} if digest is not None else {}
    if isinstance(action, RunCheck) and action.known is not None:
        made[labels.KNOWN_BASE] = action.known.images
    return made
