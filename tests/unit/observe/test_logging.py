import io
import json
import logging
from collections.abc import Iterator
from typing import Any, NoReturn

import kopf
import pytest
import structlog

from bernstein.core.sanitise import text
from bernstein.observe.logging import bound, configure, logger

WEB_TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOlsieCJdfQ.c2lnbmF0dXJl"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Log:
    def __init__(self) -> None:
        self.stream = io.StringIO()

    def start(self, **options: Any) -> None:
        configure(sanitise=lambda value: text(value, 2000), stream=self.stream, **options)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    @property
    def last(self) -> dict[str, Any]:
        return self.lines[-1]


def fail(message: str) -> NoReturn:
    raise RuntimeError(message)


@pytest.fixture
def log() -> Iterator[Log]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield Log()
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_a_line_is_one_json_object_with_time_level_and_logger_first(log: Log) -> None:
    log.start()
    logger("bernstein.controllers").info("session started", uid="u1", attempt=2)
    assert list(log.last)[:4] == ["time", "level", "logger", "message"]
    assert log.last["message"] == "session started"
    assert log.last["level"] == "info"
    assert log.last["logger"] == "bernstein.controllers"
    assert (log.last["uid"], log.last["attempt"]) == ("u1", 2)


def test_bound_fields_are_on_every_line_inside_and_on_none_after(log: Log) -> None:
    log.start()
    with bound(namespace="team", name="plan-a"):
        logger("x").info("inside")
        logging.getLogger("aiohttp.client").warning("also inside")
    logger("x").info("outside")
    inside, also, outside = log.lines
    assert inside["namespace"] == also["namespace"] == "team"
    assert "namespace" not in outside


def test_the_standard_library_writes_the_same_lines(log: Log) -> None:
    log.start()
    logging.getLogger("uvicorn.error").info("listening on %s", "1.2.3.4")
    assert log.last["message"] == "listening on 1.2.3.4"
    assert log.last["logger"] == "uvicorn.error"


def test_the_object_of_a_line_of_kopf_is_shown(log: Log) -> None:
    log.start()
    reference = {"kind": "Plan", "namespace": "team", "name": "a", "uid": "u"}
    extra = {"k8s_ref": reference, "settings": kopf.OperatorSettings()}
    logging.getLogger("kopf.objects").warning("odd", extra=extra)
    assert {key: log.last[key] for key in reference} == reference
    assert "settings" not in log.last


def test_the_level_is_a_threshold_for_all(log: Log) -> None:
    log.start(level="warning")
    logger("x").info("no")
    logging.getLogger("y").info("no")
    logger("x").warning("yes")
    assert [line["message"] for line in log.lines] == ["yes"]


def test_access_logs_of_libraries_are_off(log: Log) -> None:
    log.start(level="debug")
    logging.getLogger("uvicorn.access").error("GET /?token=x")
    logging.getLogger("aiohttp.access").error("GET /?token=x")
    assert log.lines == []


def test_configuring_twice_writes_once(log: Log) -> None:
    log.start()
    log.start()
    logger("x").info("once")
    assert len(log.lines) == 1


@pytest.mark.parametrize(
    "key", ["token", "Authorization", "api_key", "work_password", "client.secret", "set-cookie"]
)
def test_values_under_names_of_secrets_are_hidden(log: Log, key: str) -> None:
    log.start()
    logger("x").info("hello", **{key: "hunter2"})
    logger("x").info("nested", request={"headers": [{key: "hunter2"}]})
    assert "hunter2" not in log.stream.getvalue()


def test_counts_of_tokens_are_no_secrets(log: Log) -> None:
    log.start()
    logger("x").info("usage", input_tokens=5, tokens={"input": 5})
    assert (log.last["input_tokens"], log.last["tokens"]) == (5, {"input": 5})


@pytest.mark.parametrize(
    "secret",
    [
        f"Authorization: Bearer {WEB_TOKEN}",
        f"refused {WEB_TOKEN} by",
        "bearer hunter2hunter2",
        "Basic aHVudGVyMmh1bnRlcjI=",
        "cannot fetch https://bot:hunter2@git.example/x.git",
    ],
)
def test_what_looks_like_a_secret_is_hidden_wherever_it_stands(log: Log, secret: str) -> None:
    log.start()
    logger("x").info(secret)
    logger("x").info("field", problem=secret, error=ValueError(secret))
    logging.getLogger("y").info("%s", secret)
    try:
        fail(secret)
    except RuntimeError:
        logger("x").exception("failed")
    written = log.stream.getvalue()
    assert len(log.lines) == 4
    for part in (WEB_TOKEN, "hunter2", "aHVudGVy"):
        assert part not in written


def test_terminal_sequences_and_bidirectional_text_are_taken_out(log: Log) -> None:
    log.start()
    evil = "\x1b[31mred\u202egnp\x07"
    logger("x").info(evil, value=evil, nested=[{evil: evil}])
    assert log.last["message"] == "redgnp"
    assert log.last["nested"] == [{"redgnp": "redgnp"}]


def test_a_line_cannot_be_forged_with_a_line_break(log: Log) -> None:
    log.start()
    logger("x").info("a\n{}", value="b\n{}")
    assert len(log.lines) == 1


def test_an_exception_is_shown_with_its_traceback(log: Log) -> None:
    log.start()
    try:
        fail("boom")
    except RuntimeError:
        logger("x").exception("failed")
        logging.getLogger("y").exception("failed")
    for line in log.lines:
        assert "RuntimeError: boom" in line["exception"]
        assert "Traceback" in line["exception"]


def test_deep_and_strange_values_do_not_break_a_line(log: Log) -> None:
    log.start()
    loop: list[Any] = []
    loop.append(loop)
    logger("x").info("odd", loop=loop, raw=b"\xff", number=float("inf"), keys={1: {2}})
    assert log.last["keys"] == {"1": [2]}


def test_a_terminal_gets_readable_lines(log: Log) -> None:
    log.stream = Terminal()
    log.start()
    logger("x").info("session started", name="a", token="hunter2")
    try:
        fail("boom")
    except RuntimeError:
        logger("x").exception("failed")
    written = log.stream.getvalue()
    assert "session started" in written
    assert "RuntimeError: boom" in written
    assert "hunter2" not in written
