"""The Job that puts a change to models: with their keys, and with no tree."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from bernstein.api.pod import JUDGE, CheckoutConfig
from bernstein.api.programs.judge import JudgeConfig, ModelAddress
from bernstein.api.projects.credentials import JudgingModel
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs import pod
from bernstein.controllers.jobs.check import answering
from bernstein.controllers.jobs.pod import Object, mount, scratch
from bernstein.controllers.settings import OperatorSettings
from bernstein.core.actions import RunJudge
from bernstein.core.money.calls import price_of_calls
from bernstein.core.verification.verdicts import START_SECONDS

_KEY, _CA = "model", "model-ca"
_KEY_FILE, _CA_FILE = "key", "ca.crt"


def judge_job(
    action: RunJudge, project: Workplace, namespace: str, owner: Object, settings: OperatorSettings
) -> Object:
    """The checkout fetches objects of git, with the read account; then a program of ours, with the
    models' keys and no other credential, reads them and asks."""
    repository, seconds = project.spec.repository, project.spec.gates.timeout_seconds
    to_put = (check for check in action.checks if check.name not in action.known)
    asked = tuple(check.asks for check in to_put if check.asks is not None)
    heard = {each.name for each in action.heard}
    named = {n for each in asked for n in each.models if each.quorum is None or n not in heard}
    models = [(n, m) for n, m in enumerate(project.spec.models) if m.name in named]
    addresses = (_address(number, model) for number, model in models)
    config = JudgeConfig(
        sha=action.sha,
        base=action.base,
        questions=asked,
        models=tuple(a if action.dollars is None else _priced(a, project) for a in addresses),
        title=action.title,
        description=action.description,
        seconds=seconds,
        dollars=action.dollars,
        heard=action.heard,
    )
    fetch = CheckoutConfig(
        remote=pod.remote(repository, "read"), ref=action.ref, sha=action.sha, also=(action.base,)
    )
    judge = pod.ours(
        JUDGE,
        config,
        settings,
        tmp="base",
        mounts=[m for number, model in models for m in _mounts(number, model)],
        memory="512Mi",
    )
    spec = pod.pod(
        project,
        init=[pod.checkout(fetch, project, settings, mounts=[])],
        containers=[judge],
        volumes=[
            scratch("base"),
            *pod.checkout_volumes(project, "read"),
            *(v for number, model in models for v in _volumes(number, model)),
        ],
        deadline=seconds + START_SECONDS,
        grace=10,
    )
    return answering(action, JUDGE, action.called, project, namespace, owner, spec)


def _address(number: int, model: JudgingModel) -> ModelAddress:
    return ModelAddress(
        name=model.name,
        provider=model.provider,
        key_file=f"{_folder(number)}/{_KEY_FILE}",
        base_url=model.base_url,
        ca_file=f"{_ca_folder(number)}/{_CA_FILE}" if model.ca is not None else None,
    )


def _priced(model: ModelAddress, project: Workplace) -> ModelAddress:
    """With the highest price of what it reads: which kind it will be, nobody knows before."""
    price = price_of_calls(model.name, project.spec.budget.prices)
    if price is None:
        return model
    reads = max(price.input, price.cache_read, price.cache_write, key=Decimal)
    return replace(model, input_price=reads, output_price=price.output)


def _folder(number: int) -> str:
    return f"{pod.SECRETS}/{_KEY}-{number}"


def _ca_folder(number: int) -> str:
    return f"/{_CA}-{number}"


def _mounts(number: int, model: JudgingModel) -> list[Object]:
    ca = [mount(f"{_CA}-{number}", _ca_folder(number))] if model.ca is not None else []
    return [mount(f"secret-{_KEY}-{number}", _folder(number)), *ca]


def _volumes(number: int, model: JudgingModel) -> list[Object]:
    volumes = [pod.secret_key(f"secret-{_KEY}-{number}", model.key.name, model.key.key, _KEY_FILE)]
    if model.ca is not None:
        volume = pod.config_map(f"{_CA}-{number}", model.ca.name)
        volume["configMap"]["items"] = [{"key": model.ca.key, "path": _CA_FILE}]
        volumes.append(volume)
    return volumes
