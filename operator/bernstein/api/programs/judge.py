"""What the operator says to the program that puts a change to models, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein import places
from bernstein.api.pod import CheckVerdict, Usage


@dataclass(frozen=True, slots=True)
class Asked:
    """One check that a model answers."""

    name: str
    """Of the check."""
    prompt: str
    """What the model is told: name and version."""
    form: str
    """In which form it has to answer: a word of `bernstein.core.judging.forms`."""
    criteria: str = ""
    """What the change is to meet, in the words of whoever asks; may be empty."""
    model: str = ""
    """The provider's name of the model; "": the Project does not have it."""
    least: float | None = None
    """Which score the work needs to pass, where the model gives one; of 10."""
    also: tuple[str, ...] = ()
    """Further models that are asked the same, each for itself."""
    quorum: int | None = None
    """How many of all these models have to say yes; None: the one that is asked."""
    room: int | None = None
    """Characters of the change that are shown; None: as many as in any question."""
    tokens: int | None = None
    """That an answer may have; None: as many as any."""

    @property
    def models(self) -> tuple[str, ...]:
        """All that are asked."""
        return (self.model, *self.also)


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """A model, and how this container may reach it."""

    name: str
    provider: str
    key_file: str
    base_url: str | None = None
    """None: the provider's own."""
    ca_file: str | None = None
    input_price: str = ""
    """US dollars for a million tokens that it reads, of the dearest kind; "": nobody knows."""
    output_price: str = ""


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """Put what the commit `sha` changes against `base` to models; nothing of it is executed."""

    sha: str
    base: str
    questions: tuple[Asked, ...]
    models: tuple[ModelAddress, ...]
    title: str = ""
    description: str = ""
    """Of the step that the change was made for."""
    seconds: int = 120
    """Until the last answer is there."""
    git_dir: str = places.OWN_GIT
    dollars: str | None = None
    """US dollars that all of it may cost, with what has a price; None: nobody counts them."""
    heard: tuple[CheckVerdict, ...] = ()
    """What models have said before of the question that several are asked, by the model's name:
    they are not asked again."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The tokens of one model."""

    model: str
    usage: Usage
    exact: bool = True
    """False: of some request only the most is known that it can have used."""


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """One verdict for each question, in the order of the configuration."""

    verdicts: tuple[CheckVerdict, ...]
    spent: tuple[Spent, ...] = ()
    written: str = ""
    """The test that was asked for, packed; a Job that asks for one asks nothing else. "": there is
    none."""
    dollars: str | None = None
    """US dollars that it might cost, as it was told."""
    heard: tuple[CheckVerdict, ...] = ()
    """What models have said, by their names, of the question that several are asked, where not
    enough could."""
