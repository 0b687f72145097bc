"""Program `judge`: puts the change of one commit to models, and reads their answers.

The change is read as git's objects; nothing of it is executed, and nothing is written to a tree.
Whatever keeps a question from its answer makes that check Errored, and no other one.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import httpx

from bernstein.api import encoding, pod
from bernstein.api.pod import EXCERPT_CHARACTERS, CheckVerdict, InspectResult
from bernstein.api.programs.judge import Asked, JudgeConfig, JudgeResult, ModelAddress, Spent
from bernstein.api.reasons import Reason
from bernstein.checks import prompts
from bernstein.checks.prompts import Prompt
from bernstein.checks.verdict import Verdict, errored
from bernstein.core import sanitise
from bernstein.core.judging import answers, asking, forms, quorum, written
from bernstein.core.judging.asking import MarkError, Subject
from bernstein.core.judging.fitting import FileChange
from bernstein.core.judging.model_reasons import MARK_IN_DATA
from bernstein.llm.allowance import Allowance, Ceiling, Purse, Rate
from bernstein.llm.client import Client, Limits, Surroundings
from bernstein.llm.endpoint import Endpoint
from bernstein.llm.errors import ModelError
from bernstein.llm.question import Question
from bernstein.pods import log
from bernstein.pods.errors import Terminated
from bernstein.pods.git import patch, trees
from bernstein.pods.git.client import Git
from bernstein.pods.programs.inspect import fit

CONFIG = JudgeConfig

_MARK_BYTES = 16
_AT_ONCE = 4
"""Questions that are asked at the same time: providers limit them."""
_TRIES = 4
"""How often one question may be sent."""
_INPUT_TOKENS = 1_200_000
"""Set aside for one question at most: a token for each byte of the largest request."""
_HEARD = 2000
"""Bytes of the result for what some of several models have answered."""
_LEAST_ROOM = 200
"""Bytes of the result for verdicts, whatever else is in it."""


def run(config: JudgeConfig, transport: httpx.AsyncBaseTransport | None = None) -> JudgeResult:
    """A verdict for every question, and what they have cost.

    A pod that is stopped meanwhile still tells what was used by then. Raises PodError where the
    change cannot be read. `transport` None: over the network.
    """
    judging = _Judging(config, _change(config), transport)
    try:
        asyncio.run(judging.ask())
    except Terminated:
        log.event("stopped", answered=len(judging.verdicts))
    return judging.result()


@dataclass(frozen=True, slots=True)
class _Change:
    files: tuple[FileChange, ...]
    hidden: tuple[str, ...]
    """Paths of files that cannot be shown."""


def _change(config: JudgeConfig) -> _Change:
    repository = Git(Path(config.git_dir))
    changed = trees.changed_paths(repository, config.base, config.sha)
    shown, left_out = patch.readable(repository, changed)
    files = tuple(
        FileChange(
            _name(path),
            patch.whole(repository, config.base, config.sha, [path]).decode(errors="replace"),
        )
        for path in shown
    )
    return _Change(files, tuple(_name(path) for path, _ in left_out))


def _name(path: bytes) -> str:
    """A path as text: bytes that are no UTF-8 are replaced, since nobody could send them."""
    return path.decode(errors="replace")


class _Judging:
    """All questions about one change."""

    def __init__(
        self, config: JudgeConfig, change: _Change, transport: httpx.AsyncBaseTransport | None
    ) -> None:
        self._config = config
        self._change = change
        self._transport = transport
        self._allowance = Allowance(_ceiling(config.questions), _purse(config))
        self._free = asyncio.Semaphore(_AT_ONCE)
        self.verdicts: dict[str, Verdict] = {}
        self._written = ""
        self._known = {v.name: Verdict(v.verdict, v.reason, v.excerpt) for v in config.heard}
        self._heard: tuple[quorum.Said, ...] = ()

    async def ask(self) -> None:
        async with AsyncExitStack() as stack:
            clients: dict[str, Client | ModelError] = {}
            for model in self._config.models:
                client = clients[model.name] = self._client(model)
                if isinstance(client, Client):
                    await stack.enter_async_context(client)
            await asyncio.gather(*(self._one(each, clients) for each in self._config.questions))

    def _client(self, model: ModelAddress) -> Client | ModelError:
        endpoint = Endpoint(model.provider, model.key_file, model.base_url, model.ca_file)
        limits = Limits(seconds=float(self._config.seconds), attempts=_TRIES)
        around = Surroundings(note=log.event)
        try:
            return Client(
                endpoint,
                self._allowance,
                limits=limits,
                transport=self._transport,
                surroundings=around,
            )
        except ModelError as error:
            return error

    async def _one(self, asked: Asked, clients: Mapping[str, Client | ModelError]) -> None:
        verdict = await self._of_all(asked, clients)
        # First of all: what was told is known, also where the pod is stopped right then.
        self.verdicts[asked.name] = verdict
        log.event("check", check=asked.name, verdict=verdict.verdict, reason=verdict.reason)

    async def _of_all(self, asked: Asked, clients: Mapping[str, Client | ModelError]) -> Verdict:
        """Of one question, which several models may be asked, each for itself."""
        if asked.quorum is None:
            return await self._of(asked, clients)
        left = [name for name in asked.models if name not in self._known]
        each = [replace(asked, model=name, also=()) for name in left]
        new = iter(await asyncio.gather(*(self._of(one, clients) for one in each)))
        said = [(n, self._known[n] if n in self._known else next(new)) for n in asked.models]
        found = quorum.combined(said, asked.quorum)
        if found.verdict == "Errored":
            self._heard = tuple(one for one in said if one[1].verdict != "Errored")
        return found

    async def _of(self, asked: Asked, clients: Mapping[str, Client | ModelError]) -> Verdict:
        async with self._free:
            return await self._verdict(asked, clients.get(asked.model))

    async def _verdict(self, asked: Asked, client: Client | ModelError | None) -> Verdict:
        """Of one question; never raises."""
        if client is None:
            return errored("InvalidConfig", f"it is not said how to reach the model {asked.model}")
        if isinstance(client, ModelError):
            return _unanswered(asked, client)
        try:
            question = self._question(asked, prompts.named(asked.prompt))
            most = _tokens(asked)
            told = Question(question.system, question.text, most, asking.TEMPERATURE)
            answer = await client.ask(asked.model, told)
        except MarkError:
            return errored(MARK_IN_DATA, "the change holds the mark of its own question")
        except ModelError as error:
            return _unanswered(asked, error)
        except Exception as error:  # noqa: BLE001 - one broken question must not hide the others
            # Its words may be those of the change, or of the provider.
            text = sanitise.quoting(type(error).__name__, str(error), EXCERPT_CHARACTERS)
            return errored("InternalError", text)
        found = forms.verdict(asked.form, answer.text, is_cut=question.is_cut, least=asked.least)
        if asked.form == forms.TEST and found.verdict == "Passed":
            self._written = written.packed(answers.written_test(answer.text))
        return found

    def _question(self, asked: Asked, prompt: Prompt) -> asking.Asked:
        subject = Subject(
            title=self._config.title,
            description=self._config.description,
            criteria=asked.criteria,
            changes=self._change.files,
            hidden=self._change.hidden,
        )
        return asking.ask(prompt, subject, _draw, asked.room or asking.ROOM)

    def result(self) -> JudgeResult:
        stopped = errored(Reason.TERMINATED, "the pod was stopped before the model had answered")
        found = ((q.name, self.verdicts.get(q.name, stopped)) for q in self._config.questions)
        spent = _spent(self._allowance)
        told = JudgeResult((), spent, self._written, self._config.dollars, _kept(self._heard))
        room = pod.TERMINATION_LIMIT - len(encoding.dump(told))
        verdicts = InspectResult(tuple(_told(name, verdict) for name, verdict in found))
        return replace(told, verdicts=fit(verdicts, max(room, _LEAST_ROOM)).verdicts)


def _kept(said: Sequence[quorum.Said]) -> tuple[CheckVerdict, ...]:
    """Answers for which nobody is to pay once more, as far as there is room: cut, and where names
    alone take too much of it, the last ones are asked again."""
    kept = tuple(_told(name, verdict) for name, verdict in said)
    while kept and len(encoding.dump(cut := fit(InspectResult(kept), _HEARD))) > _HEARD:
        kept = kept[:-1]
    return cut.verdicts if kept else ()


def _ceiling(questions: Sequence[Asked]) -> Ceiling:
    """What all of it may use at most, with every try."""
    asks = [_tokens(asked) for asked in questions for _ in asked.models]
    return Ceiling(_TRIES * len(asks), _INPUT_TOKENS * len(asks), _TRIES * sum(asks))


def _purse(config: JudgeConfig) -> Purse | None:
    if config.dollars is None:
        return None
    priced = (model for model in config.models if model.input_price and model.output_price)
    rates = {m.name: Rate(Decimal(m.input_price), Decimal(m.output_price)) for m in priced}
    return Purse(Decimal(config.dollars), rates)


def _tokens(asked: Asked) -> int:
    """Of one answer."""
    return asked.tokens or asking.MAX_TOKENS


def _unanswered(asked: Asked, error: ModelError) -> Verdict:
    ours = f"{asked.model}: {error.message}"
    return errored(error.reason, sanitise.quoting(ours, error.said, EXCERPT_CHARACTERS))


def _draw() -> str:
    return secrets.token_hex(_MARK_BYTES)


def _told(name: str, verdict: Verdict) -> CheckVerdict:
    excerpt = sanitise.text(verdict.excerpt, EXCERPT_CHARACTERS)
    return CheckVerdict(name, verdict.verdict, verdict.reason, excerpt)


def _spent(allowance: Allowance) -> tuple[Spent, ...]:
    used = sorted(allowance.used.items())
    return tuple(Spent(model, usage, allowance.exact) for model, usage in used)
