"""What verdicts need, each taken out again: without it the model finds a fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

from bernstein.core import runs
from bernstein.core.jobs import JobView, gone
from bernstein.core.pods import Object
from bernstein.core.verification import cached, executed, verdicts


@contextmanager
def kubelet_times() -> Iterator[None]:
    """A check that the operator has waited for too long timed out, whatever the kubelet says."""
    verdict = executed._verdict

    def by_operator(check: Any, job: JobView, pod: Object, *, hurried: bool) -> Any:
        return executed._timed_out(check) if hurried else verdict(check, job, pod, hurried=hurried)

    with patch.object(executed, "_verdict", by_operator):
        yield


@contextmanager
def ended_checks() -> Iterator[None]:
    """A check has a verdict when it is given up, not when its run is over."""
    read = verdicts.so_far

    def at_once(
        checks: Any, jobs: Any, now: datetime, gates: Any, abandoned: Any, *, kept: Any, **_: Any
    ) -> Any:
        given_up = {each.check for each in abandoned or ()}
        seen = {
            check: gone(job.name, now) if check in given_up and not runs.is_over(job, now) else job
            for check, job in jobs.items()
        }
        return read(checks, seen, now, gates, abandoned, kept=kept)

    with patch.object(verdicts, "so_far", at_once):
        yield


@contextmanager
def disruptions() -> Iterator[None]:
    """The exit code of a check counts, whoever has ended its pod."""

    def not_cut_off(*_: Any, **__: Any) -> None: ...

    with patch.object(executed, "cut_off", not_cut_off):
        yield


@contextmanager
def optional_checks() -> Iterator[None]:
    """A check that cannot begin keeps the work back, required or not."""
    unable = verdicts.unable

    def strict(checks: Any, *args: Any) -> Any:
        return unable(tuple(replace(check, required=True) for check in checks), *args)

    with patch.object(verdicts, "unable", strict):
        yield


@contextmanager
def known_trees() -> Iterator[None]:
    """What a gate has said of a tree is known of every tree."""
    key_of = cached.key_of

    def of_any(check: Any, question: Any, judged: Any, digests: Any) -> str:
        return key_of(check, question, judged.model_copy(update={"tree": "any"}), digests)

    with patch.object(cached, "key_of", of_any):
        yield


CHECKS = (kubelet_times, ended_checks, disruptions, optional_checks, known_trees)
