"""Program `probe`: tries what one account is for, and leaves nothing behind.

It waits a while for the files of its account: the volume is there before the Secret is, and the
kubelet fills it when it has seen that.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bernstein.api.pod import Remote
from bernstein.api.programs import account
from bernstein.api.programs.probe import ProbeConfig, ProbeResult
from bernstein.api.reasons import Reason
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git import permission
from bernstein.pods.git.client import Git, GitError, full_ref
from bernstein.pods.git.remotes import WORK

CONFIG = ProbeConfig
FILES_SECONDS = 20.0
"""How long the kubelet gets to fill the volume of a Secret that it has seen."""


def run(config: ProbeConfig) -> ProbeResult:
    """Reads the branch; with an account that pushes, asks what the server lets it push.

    Raises PodError: SecretNotFound, ConfigMapNotFound, RepositoryUnreachable,
    RepositoryAuthFailed, HostKeyUntrusted, RefNotFound, CredentialRefused.
    """
    _find_files(config)
    git.init_bare(Path(config.git_dir))
    asked = (config.branch, f"{WORK}probe", *config.others)
    tip, _, *others = Git(Path(config.git_dir), config.remote).read_refs(*asked)
    if tip is None:
        branch = full_ref(config.branch)
        raise PodError(Reason.REF_NOT_FOUND, f"the repository has no {branch}")
    result = ProbeResult()
    work = replace(config.remote, url=config.remote.work_url or config.remote.url)
    if config.account != "read":
        for pushed_to in dict.fromkeys((work, config.remote if config.ref is None else work)):
            permission.may_push_somewhere(pushed_to)
    if config.ref is not None:
        # One that is not there is told by the probe of whoever it is for.
        there = zip(config.others, others, strict=True)
        branches = {config.branch: tip} | {name: sha for name, sha in there if sha is not None}
        result = _try_work(config, work, config.ref, branches)
    log.event("probe", account=config.account, tip=tip, too_strong=result.too_strong)
    return result


def _try_work(
    config: ProbeConfig, work: Remote, ref: str, branches: Mapping[str, str]
) -> ProbeResult:
    """`branches`: where each is."""
    tip = branches[config.branch]
    if permission.may_push(work, ref, tip) is False:
        text = f"the git server refuses a push to {ref}"
        raise PodError(Reason.CREDENTIAL_REFUSED, text)
    try:
        too_strong = any(
            permission.may_overwrite(config.remote, branch, sha) is True
            for branch, sha in branches.items()
        )
        if config.proposed is not None and not too_strong:
            too_strong = permission.may_push(config.remote, config.proposed, tip) is True
    except GitError as error:
        if work == config.remote or error.reason != Reason.CREDENTIAL_REFUSED:
            raise
        too_strong = False  # it may push nothing there, as is best
    return ProbeResult(too_strong=too_strong)


def _find_files(config: ProbeConfig) -> None:
    """Raises PodError where what the account needs is not in its Secret or ConfigMap."""
    remote = config.remote
    if remote.ca_file is not None and not Path(remote.ca_file).exists():
        text = f'configmap "{config.config_map}" is not there, or lacks the key'
        raise PodError(Reason.CONFIG_MAP_NOT_FOUND, text)
    assert remote.credential_dir is not None
    until = time.monotonic() + FILES_SECONDS
    for key in account.keys(remote.url):
        while not (Path(remote.credential_dir) / key).exists():
            if time.monotonic() > until:
                text = f'secret "{config.secret}" has no key {key}'
                raise PodError(Reason.SECRET_NOT_FOUND, text)
            time.sleep(0.2)
