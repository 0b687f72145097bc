"""Checks that put a change to a model: how they are declared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asks:
    """The check executes nothing, and shares the judge Job with all others that ask a model."""

    prompt: str
    """What the model is told: a name of `bernstein.checks.prompts`, in its current version."""
    form: str
    """In which form it has to answer: a word of `bernstein.core.judging.forms`."""
    least: float | None = None
    """Which score of 10 the work needs to pass; None: it gets no score."""
    may_only_tell: bool = False
    """Whether a Project may say that what it answers keeps nothing back."""
    advises: bool = False
    """What it answers keeps nothing back, whatever the Project says."""
    tokens: int | None = None
    """That an answer may have; None: as many as any."""
