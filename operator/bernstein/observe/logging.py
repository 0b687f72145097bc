"""Structured logs on stderr, one JSON object a line, for structlog and the standard library."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bernstein.observe.redact import HIDDEN, is_secret, without_secrets

LEVELS = ("debug", "info", "warning", "error")
DEPTH = 4
"""Levels of nesting that are shown; of deeper values only the type is."""

_FIRST = ("time", "level", "logger", "message", "namespace", "name", "uid", "attempt")

_QUIET = {
    "aiohttp.access": logging.CRITICAL,  # our own servers write their own access log
    "uvicorn.access": logging.CRITICAL,
    "asyncio": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx": logging.WARNING,  # it writes whole addresses, whatever is in their queries
    "urllib3": logging.WARNING,
}


def configure(
    *,
    sanitise: Callable[[str], str],
    level: str = "info",
    stream: TextIO | None = None,
) -> None:
    """Sets up logging of this process; a second call replaces the first.

    Every text goes through `sanitise`, which bounds and cleans it. A terminal gets lines for
    people, anything else JSON.
    """
    target = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(), _reference],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            Cleaner(sanitise),
            *_rendering(readable=target.isatty()),
        ],
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    _route_libraries()
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """`logger("bernstein.server").info("session started", namespace=..., name=...)`."""
    bound_logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return bound_logger


def bound(**fields: object) -> AbstractContextManager[None]:
    """Adds these fields (namespace, name, uid, attempt, ...) to every line written in the block."""
    return structlog.contextvars.bound_contextvars(**fields)


def _rendering(readable: bool) -> list[Processor]:
    if readable:
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=True, exception_formatter=plain)]
    return [
        structlog.processors.EventRenamer("message"),
        _ordered,
        structlog.processors.JSONRenderer(ensure_ascii=True),
    ]


def _route_libraries() -> None:
    """Makes libraries that have handlers of their own write through ours instead."""
    for name in ("kopf", "uvicorn", "uvicorn.error", "uvicorn.access", "aiohttp"):
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
    for name, level in _QUIET.items():
        logging.getLogger(name).setLevel(level)


def _reference(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Turns the mapping in which kopf names a line's object into the fields that our lines have."""
    reference = event.pop("k8s_ref", None)
    event.pop("settings", None)
    event.pop("color_message", None)
    if isinstance(reference, Mapping):
        for key in ("kind", "namespace", "name", "uid"):
            if reference.get(key):
                event[key] = reference[key]
    return event


def _ordered(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    first = {key: event[key] for key in _FIRST if key in event}
    return first | dict(event)


class Cleaner:
    """Redacts secrets and sanitises every text, on all levels of nesting."""

    def __init__(self, sanitise: Callable[[str], str]) -> None:
        self._sanitise = sanitise

    def __call__(self, _: WrappedLogger, __: str, event: EventDict) -> EventDict:
        return self._mapping(event, DEPTH)

    def _mapping(self, fields: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        named = ((str(key), value) for key, value in fields.items())
        return {
            self._text(key): HIDDEN if is_secret(key) else self._clean(value, depth - 1)
            for key, value in named
        }

    def _clean(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, Mapping):
            return self._mapping(value, depth) if depth else type(value).__name__
        if isinstance(value, list | tuple | set | frozenset):
            return [self._clean(v, depth - 1) for v in value] if depth else type(value).__name__
        return self._text(str(value))

    def _text(self, value: str) -> str:
        return self._sanitise(without_secrets(value))
