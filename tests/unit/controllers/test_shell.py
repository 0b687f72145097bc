"""What the operator's process gives to kopf, which is its shell."""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bernstein.controllers import __main__ as program
from bernstein.controllers.__main__ import (
    GARBAGE,
    keep,
    login_of,
    looking_for_garbage,
    uninstalled,
)
from bernstein.controllers.traces.collector import Taken
from bernstein.kube.config import ConnectionInfo, FileToken
from tests.unit.controllers.traces.receiver import Receiver, receiving


async def test_kopf_logs_in_as_we_do(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    connection = ConnectionInfo(
        server="https://api:6443",
        namespace="system",
        ca_file="/ca.crt",
        cert_file="/own.crt",
        key_file="/own.key",
        token=FileToken(tmp_path / "token"),
        proxy="http://proxy:3128",
    )

    login = await login_of(connection, renew=False)

    assert (login.server, login.ca_path, login.insecure) == ("https://api:6443", "/ca.crt", False)
    assert (login.certificate_path, login.private_key_path) == ("/own.crt", "/own.key")
    assert (login.token, login.proxy_url) == ("first", "http://proxy:3128")
    assert login.default_namespace == "system"


async def test_a_token_that_was_refused_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    connection = ConnectionInfo("https://api:6443", token=FileToken(tmp_path / "token"))
    assert (await login_of(connection, renew=False)).token == "first"
    (tmp_path / "token").write_text("second\n")

    assert (await login_of(connection, renew=False)).token == "first"
    assert (await login_of(connection, renew=True)).token == "second"


async def test_without_a_token_and_unverified_it_says_so() -> None:
    login = await login_of(ConnectionInfo("https://api:6443", verify=False), renew=False)

    assert (login.token, login.insecure) == (None, True)


@pytest.mark.parametrize("package", ["graphlib", "no_such_package"])
def test_a_package_is_missing_for_a_block_alone(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, package, raising=False)

    with uninstalled(package), pytest.raises(ImportError):
        importlib.import_module(package)

    assert package not in sys.modules
    if package == "graphlib":
        loaded = importlib.import_module(package)
        with uninstalled(package), pytest.raises(ImportError):
            importlib.import_module(package)
        assert sys.modules[package] is loaded


@pytest.fixture
def as_before() -> Iterator[None]:
    """How Python looks for garbage is the process' own."""
    was = gc.get_threshold()
    yield
    gc.set_threshold(*was)
    gc.unfreeze()


class Lists:
    """An informer whose first list brings as many objects."""

    def __init__(self, number: int) -> None:
        self.objects: list[dict[str, list[int]]] = []
        self._number = number

    async def synced(self) -> None:
        self.objects = [{"items": [number]} for number in range(self._number)]


@pytest.mark.usefixtures("as_before")
async def test_what_the_first_lists_brought_is_not_looked_through_for_garbage_any_more() -> None:
    informers = [Lists(2000), Lists(1000)]
    engine: Any = SimpleNamespace(caches=SimpleNamespace(informers=informers))
    gc.freeze()
    before = gc.get_freeze_count()

    await keep(engine)

    assert gc.get_freeze_count() >= before + 2 * 3000
    found = {id(obj) for obj in gc.get_objects()}
    assert not any(id(obj) in found for each in informers for obj in each.objects)


@pytest.mark.usefixtures("as_before")
async def test_while_the_operator_runs_garbage_is_looked_for_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def shell(*_: object) -> int:
        seen.extend([gc.get_threshold(), gc.get_freeze_count()])
        return 0

    seen: list[Any] = []
    before = gc.get_freeze_count()
    arguments = ["operator", "--image=bernstein:1", "--namespace=system", "--http-port=0"]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr(program, "_shell", shell)
    monkeypatch.setattr(ConnectionInfo, "load", lambda: ConnectionInfo("https://api:6443"))

    assert await program._run(program.arguments()) == 0

    assert seen[0] == GARBAGE
    assert seen[1] > before + 10_000, "what was imported"


@pytest.mark.usefixtures("as_before")
def test_what_has_outlived_a_full_look_for_garbage_is_left_out_of_the_next() -> None:
    def left_out(arrived: list[list[int]]) -> bool:
        looked_through = {id(obj) for obj in gc.get_objects()}
        return not any(id(each) in looked_through for each in arrived)

    with looking_for_garbage():
        early = [[number] for number in range(1000)]
        gc.collect(1)
        assert not left_out(early), "a look at what is young says little"
        gc.collect()
        assert left_out(early)
    late = [[number] for number in range(1000)]
    gc.collect()
    assert not left_out(late), "only while the operator runs"


def test_the_operator_does_not_start_with_a_table_of_prices_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prices.json").write_text('{"prices": [{"model": "m", "input": "1"}]}')
    told = ["bernstein-operator", "--image=i", f"--prices={tmp_path}/prices.json"]
    monkeypatch.setattr(sys, "argv", told)

    with pytest.raises(SystemExit) as raised:
        program.arguments()

    assert raised.value.code == 2
    assert "prices.json is no table of prices: prices[0].output: " in capsys.readouterr().err


def parsed(monkeypatch: pytest.MonkeyPatch, *words: str) -> argparse.Namespace:
    """What the command line says with these words."""
    monkeypatch.setattr(sys, "argv", ["operator", "--image=b:1", *words])
    return program.arguments()


def test_an_address_that_is_none_is_refused_with_what_it_has_to_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parsed(monkeypatch, "--trace-endpoint=collector:4318")

    assert "a collector's address is http://HOST:PORT or" in capsys.readouterr().err


def test_without_an_address_there_is_no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    assert program.collector_of(parsed(monkeypatch)) is None


async def test_a_collector_is_asked_at_its_address_with_its_headers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "X-Token").write_text("word")
    receiver = Receiver()
    async with receiving(receiver) as url:
        words = f"--trace-endpoint={url}", f"--trace-headers={tmp_path}"
        collector = program.collector_of(parsed(monkeypatch, *words))
        assert collector is not None
        assert await collector.send([]) == Taken()

    ((path, headers, _),) = receiver.requests
    assert (path, headers["X-Token"]) == ("/v1/traces", "word")


@pytest.mark.parametrize(
    "words",
    [("--trace-endpoint=collector:4318",), ("--trace-ca=/ca.crt",), ("--trace-headers=/h",)],
)
def test_a_collector_that_cannot_be_asked_ends_the_process_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit):
        parsed(monkeypatch, *words)
    assert "--trace-endpoint" in capsys.readouterr().err
