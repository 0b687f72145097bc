"""Who reviews what a model has written: models that somebody else has made, or nobody.

Whose a model is stands in its name, else in the API that it is asked by, or the CLI that writes
with it. Where that is not known nobody can say that it is another one's: then there is no review,
which is said before any agent is paid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bernstein.api.project import ProjectSpec
from bernstein.api.projects.credentials import JudgingModel
from bernstein.core.sanitise import line

ANTHROPIC, GOOGLE, OPENAI, ALIBABA = "Anthropic", "Google", "OpenAI", "Alibaba"
_WORDS: Final[Mapping[str, str]] = {
    "claude": ANTHROPIC,
    "anthropic/": ANTHROPIC,
    "gemini": GOOGLE,
    "google/": GOOGLE,
    "gpt": OPENAI,
    "codex": OPENAI,
    "openai/": OPENAI,
    "qwen": ALIBABA,
    "deepseek": "DeepSeek",
    "grok": "xAI",
    "llama": "Meta",
    "mistral": "Mistral",
}
"""In names of models and of adapters: whose they are."""
_APIS: Final[Mapping[str, str]] = {
    "anthropic": ANTHROPIC,
    "openai": OPENAI,
    "openai-chat": OPENAI,
    "gemini": GOOGLE,
}
"""Whose models are asked by a provider's own address."""
PREFERRED: Final[Mapping[str, tuple[str, ...]]] = {
    ANTHROPIC: (GOOGLE,),
    GOOGLE: (ANTHROPIC,),
    OPENAI: (GOOGLE, ANTHROPIC),
    ALIBABA: (ANTHROPIC,),
}
"""Whose models review the work of whose, where the Project names no reviewers."""
_NAME = 100


@dataclass(frozen=True)
class Writer:
    """What has written a change, or is to write it."""

    model: str
    """The provider's name of the model; "": nobody knows."""
    adapter: str
    """How its CLI is called."""

    @property
    def makers(self) -> frozenset[str]:
        """Whose it may be, by the name of the model, which is the step's to write, and by the CLI;
        empty: nobody knows."""
        return _named(self.model) | _named(self.adapter)


@dataclass(frozen=True)
class Review:
    """Who reviews a change, or why nobody does."""

    reviewers: tuple[JudgingModel, ...] = ()
    problem: str = ""
    """In plain words; "": they review it."""


def review(project: ProjectSpec, writer: Writer) -> Review:
    """Who reviews what `writer` writes: those that the Project names, else the one that suits."""
    settings = project.gates.cross_model
    by = writer.makers
    if not by:
        called = line(writer.model, _NAME) or "without a name"
        text = f"it is not known whose model '{called}' is (adapter {writer.adapter})"
        return Review(problem=f"{text}, which writes: nobody is known to be another one")
    if not settings.reviewers:
        return _chosen(project, by)
    known = {model.name: model for model in project.models}
    reviewers = []
    for name in settings.reviewers:
        problem = _unfit(name, known.get(name), by)
        if problem:
            return Review(problem=problem)
        reviewers.append(known[name])
    if settings.quorum > len(reviewers):
        return Review(problem=f"{settings.quorum} of {len(reviewers)} reviewers cannot approve")
    return Review(tuple(reviewers))


def makers_of(model: JudgingModel) -> frozenset[str]:
    """Whose it is; empty: nobody knows."""
    own = _APIS.get(model.provider) if model.base_url is None else None
    return _named(model.name) or frozenset([own] if own else [])


def _named(name: str) -> frozenset[str]:
    """Whose name it is: one that is made of two models is of two."""
    lower = name.lower()
    found = frozenset(maker for word, maker in _WORDS.items() if word in lower)
    before, slash, _ = lower.partition("/")
    return found or frozenset([before] if slash and before else [])


def _unfit(name: str, model: JudgingModel | None, by: frozenset[str]) -> str:
    """Why it does not review; "": it does."""
    called = f"the reviewer '{line(name, _NAME)}'"
    if model is None:
        return f"{called} is none of the Project's models"
    makers = makers_of(model)
    if not makers:
        return f"it is not known whose model {called} is"
    if makers & by:
        return f"{called} is of {_and(makers & by)}, as the model that writes"
    return ""


def _chosen(project: ProjectSpec, by: frozenset[str]) -> Review:
    """The first model of whoever is preferred for that writer, else of whoever is another."""
    fit = [model for model in project.models if not _unfit(model.name, model, by)]
    wanted = [maker for each in sorted(by) for maker in PREFERRED.get(each, ())]
    for maker in wanted:
        for model in fit:
            if maker in makers_of(model):
                return Review((model,))
    if fit:
        return Review(tuple(fit[:1]))
    text = f"no model of the Project is known to be of another than {_and(by)}, whose model writes"
    return Review(problem=text)


def _and(makers: frozenset[str]) -> str:
    return " and ".join(sorted(makers))
